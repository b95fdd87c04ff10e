//! What the functions are as objects, in the first realm and in any other.

mod common;

use common::{agent, text};
use waitword_quickjs::{JsAgent, JsValue, Realm};

/// Runs a script whose completion value is a string in a given realm.
#[track_caller]
fn text_in(realm: &Realm, source: &str) -> String {
    let value = realm.eval("test.js", source).map_err(|exception| realm.describe(&exception)).unwrap();
    realm.to_string(&value).unwrap_or_else(|_| panic!("{source}"))
}

fn in_two_realms(check: impl Fn(&Realm)) {
    let js = agent();
    check(js.realm());
    check(&js.new_realm().unwrap());
}

#[test]
fn functions_have_the_names_lengths_and_attributes_of_the_standard() {
    in_two_realms(|realm| {
        for (name, length) in [("wait", 4), ("waitAsync", 4), ("notify", 3)] {
            let shape = format!(
                "var show = (o, k) => {{ let d = Object.getOwnPropertyDescriptor(o, k);
                     return [typeof d.value === 'function' ? 'f' : d.value, +d.writable, +d.enumerable, +d.configurable].join(); }};
                 [show(Atomics, '{name}'), show(Atomics.{name}, 'name'), show(Atomics.{name}, 'length'),
                  Reflect.ownKeys(Atomics.{name}).join(), Object.getPrototypeOf(Atomics.{name}) === Function.prototype,
                  Object.isExtensible(Atomics.{name})].join(';')"
            );
            let expected = format!("f,1,0,1;{name},0,0,1;{length},0,0,1;length,name;true;true");
            assert_eq!(text_in(realm, &shape), expected, "{name}");
            let constructed = format!(
                "try {{ new Atomics.{name}(); 'made' }} catch (e) {{ e.constructor === TypeError && 'TypeError' }}"
            );
            assert_eq!(text_in(realm, &constructed), "TypeError", "{name}");
            let super_class = format!(
                "try {{ Reflect.construct(Object, [], Atomics.{name}); 'made' }} catch (e) {{ e.name }}"
            );
            assert_eq!(text_in(realm, &super_class), "TypeError", "{name}");
        }
    });
}

#[test]
fn functions_can_be_deleted_and_replaced() {
    in_two_realms(|realm| {
        let source = "'use strict'; delete Atomics.wait; Atomics.notify = 1;
                      [typeof Atomics.wait, Atomics.notify, typeof Atomics.waitAsync].join()";
        assert_eq!(text_in(realm, source), "undefined,1,function");
    });
}

#[test]
fn this_does_not_matter() {
    in_two_realms(|realm| {
        let source =
            "var v = new Int32Array(new SharedArrayBuffer(4)), { wait, waitAsync, notify } = Atomics;
                      [wait(v, 0, 1), waitAsync.call(null, v, 0, 1).value, notify.call(1, v, 0)].join()";
        assert_eq!(text_in(realm, source), "not-equal,not-equal,0");
    });
}

#[test]
fn results_of_wait_async_are_ordinary_objects_of_the_functions_realm() {
    let js = agent();
    let other = js.new_realm().unwrap();
    js.realm().set(&js.realm().global(), "other", &other.global()).unwrap();
    let source = "var v = new Int32Array(new SharedArrayBuffer(4));
        var show = (r, g) => [Object.getPrototypeOf(r) === g.Object.prototype, Reflect.ownKeys(r).join(),
            ...Object.values(Object.getOwnPropertyDescriptors(r)).map(d => [+d.writable, +d.enumerable, +d.configurable].join('')),
            Object.isExtensible(r), r.value instanceof g.Promise || r.value].join();";
    js.eval("t.js", source).unwrap();
    let shape = |name: &str, value: &str| format!("{name},async,value,111,111,true,{value}");
    assert_eq!(text(&js, "show(Atomics.waitAsync(v, 0, 0), globalThis)"), shape("true", "true"));
    assert_eq!(text(&js, "show(Atomics.waitAsync(v, 0, 1), globalThis)"), shape("true", "not-equal"));
    assert_eq!(text(&js, "show(Atomics.waitAsync(v, 0, 0, 0), globalThis)"), shape("true", "timed-out"));
    assert_eq!(text(&js, "show(other.Atomics.waitAsync(v, 0, 0), other)"), shape("true", "true"));
    assert_eq!(text(&js, "show(other.Atomics.waitAsync(v, 0, 1), other)"), shape("true", "not-equal"));
}

#[test]
fn errors_belong_to_the_functions_realm() {
    let js = agent();
    let other = js.new_realm().unwrap();
    js.realm().set(&js.realm().global(), "other", &other.global()).unwrap();
    let source = "var kind = (f) => { try { f() } catch (e) { return e instanceof other.TypeError ? 'theirs' : 'ours'; } };
        [kind(() => other.Atomics.wait()), kind(() => Atomics.wait()), kind(() => other.Atomics.notify()),
         kind(() => other.Atomics.waitAsync()), kind(() => other.SharedArrayBuffer.prototype.grow.call({}))].join()";
    assert_eq!(text(&js, source), "theirs,ours,theirs,theirs,theirs");
}

#[test]
fn shared_array_buffer_looks_like_the_standards() {
    in_two_realms(|realm| {
        let source = "var show = (o, k) => { let d = Object.getOwnPropertyDescriptor(o, k);
                return String(k) + ':' + Object.keys(d).map(n => typeof d[n] === 'boolean' ? +d[n] : typeof d[n]).join('') +
                       (d.get ? d.get.name + d.get.length : typeof d.value === 'function' ? d.value.name + d.value.length : ''); };
            [show(globalThis, 'SharedArrayBuffer'), ...Reflect.ownKeys(SharedArrayBuffer).map(k => show(SharedArrayBuffer, k)),
             ...Reflect.ownKeys(SharedArrayBuffer.prototype).map(k => show(SharedArrayBuffer.prototype, k)).sort()].join(' ')";
        // Each property: value or get and set, then writable, enumerable, configurable.
        let expected = "SharedArrayBuffer:function101SharedArrayBuffer1 length:number001 name:string001 \
            prototype:object000 Symbol(Symbol.species):functionundefined01get [Symbol.species]0 \
            Symbol(Symbol.toStringTag):string001 byteLength:functionundefined01get byteLength0 \
            constructor:function101SharedArrayBuffer1 grow:function101grow1 growable:functionundefined01get growable0 \
            maxByteLength:functionundefined01get maxByteLength0 slice:function101slice2";
        assert_eq!(text_in(realm, source), expected);
        let source = "try { SharedArrayBuffer(8) } catch (e) { e.name }";
        assert_eq!(text_in(realm, source), "TypeError", "needs new");
    });
}

#[test]
fn shared_array_buffer_can_be_extended() {
    let js = agent();
    let other = js.new_realm().unwrap();
    js.realm().set(&js.realm().global(), "other", &other.global()).unwrap();
    let source = "class X extends SharedArrayBuffer {}
        var fixed = new X(8), growable = new X(8, { maxByteLength: 16 });
        growable.grow(12);
        var noProto = function () {}.bind(); var f = new other.Function(); f.prototype = null;
        [fixed instanceof X, growable instanceof X, growable.byteLength, growable.slice(4) instanceof X,
         Reflect.construct(SharedArrayBuffer, [8, { maxByteLength: 8 }], f) instanceof other.SharedArrayBuffer].join()";
    assert_eq!(text(&js, source), "true,true,12,true,true");
}

#[test]
fn every_realm_waits_in_the_same_queue() {
    let js: JsAgent = agent();
    let other = js.new_realm().unwrap();
    js.realm().set(&js.realm().global(), "other", &other.global()).unwrap();
    let source = "var v = new Int32Array(new SharedArrayBuffer(4)), seen = [];
        other.Atomics.waitAsync(v, 0, 0).value.then(o => seen.push('other ' + o));
        Atomics.waitAsync(new other.Int32Array(v.buffer), 0, 0).value.then(o => seen.push('main ' + o));
        String(Atomics.notify(v, 0))";
    assert_eq!(text(&js, source), "2");
    js.run().unwrap();
    assert!(matches!(js.eval("t.js", "seen.join()").unwrap(), JsValue::String(s) if s == "other ok,main ok"));
}
