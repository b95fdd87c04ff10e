//! What an embedder walks a graph of values with, and builds a copy of it: the interface that a structured clone needs.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{agent, text};
use waitword_quickjs::{JsAgent, SharedBlock, Value};

fn value(js: &JsAgent, expression: &str) -> Value {
    js.realm().eval("graph.js", &format!("({expression})")).unwrap()
}

#[test]
fn an_object_is_copied_property_by_property() {
    let js = agent();
    let realm = js.realm();
    let object = value(&js, "{ b: 1, get a() { return 'text'; }, [Symbol()]: 2, 7: 3 }");
    let keys = realm.own_keys(&object).unwrap();
    assert_eq!((keys.len(), keys.is_empty()), (3, false));
    let copy = realm.object().unwrap();
    for at in 0..keys.len() {
        let value = realm.get_own_at(&object, &keys, at).unwrap().unwrap();
        realm.put(&copy, &keys.key(at), value).unwrap();
    }
    js.set_global("copy", copy).unwrap();
    assert_eq!(text(&js, "JSON.stringify(copy)"), r#"{"7":3,"b":1,"a":"text"}"#);
    assert!(realm.own_keys(&value(&js, "[]")).unwrap().is_empty());
}

#[test]
fn the_bytes_of_buffers_go_in_and_out_as_copies() {
    let js = agent();
    let realm = js.realm();
    let buffer = value(&js, "globalThis.buffer = new Uint8Array([1, 2, 3, 4]).buffer");
    let mut bytes = vec![0];
    realm.copy_array_buffer(&buffer, 3, &mut bytes).unwrap();
    assert_eq!(bytes, [0, 1, 2, 3]);
    realm.fill_array_buffer(&buffer, &[9, 8]).unwrap();
    assert_eq!(text(&js, "new Uint8Array(buffer).join()"), "9,8,3,4");
    assert!(realm.copy_array_buffer(&buffer, 5, &mut bytes).is_err());
    assert!(realm.fill_array_buffer(&buffer, &[0; 5]).is_err());
    realm.detach_array_buffer(&buffer).unwrap();
    assert!(realm.buffer_byte_length(&buffer).is_err());
    assert!(realm.copy_array_buffer(&buffer, 0, &mut bytes).is_err());
    assert_eq!(bytes, [0, 1, 2, 3]);
}

/// Other threads write to shared bytes: no slice may lie on them.
#[test]
fn shared_bytes_are_not_copied_as_if_they_were_an_agents_own() {
    let js = agent();
    js.set_global("sab", SharedBlock::new(8).unwrap()).unwrap();
    let shared = value(&js, "sab");
    for other in [shared, value(&js, "new Uint8Array(8)"), value(&js, "{}")] {
        assert!(js.realm().copy_array_buffer(&other, 1, &mut Vec::new()).is_err());
        assert!(js.realm().fill_array_buffer(&other, &[1]).is_err());
    }
    assert_eq!(text(&js, "String(new Uint8Array(sab)[0])"), "0");
}

/// A key is a number that means another name in another engine, or none at all.
#[test]
fn keys_stay_with_their_engine() {
    let (one, other) = (agent(), agent());
    let (here, there) = (value(&one, "{ a: 1 }"), value(&other, "{ a: 1 }"));
    let keys = one.realm().own_keys(&here).unwrap();
    let refused = |work: &dyn Fn()| catch_unwind(AssertUnwindSafe(work)).is_err();
    let key = keys.key(0);
    assert!(refused(&|| drop(other.realm().get_own(&there, &key))));
    assert!(refused(&|| drop(other.realm().get_own_at(&there, &keys, 0))));
    assert!(refused(&|| drop(other.realm().put(&there, &key, other.realm().null()))));
    assert!(refused(&|| drop(other.realm().name_of(&key))));
}

#[test]
fn a_native_function_makes_a_realm_that_has_waitasync() {
    let js = agent();
    js.set_function("sibling", 0, |realm, _| Ok(realm.sibling()?.global())).unwrap();
    assert_eq!(
        text(
            &js,
            "var other = sibling(); String([typeof other.Atomics.waitAsync, other.Atomics === Atomics])"
        ),
        "function,false"
    );
}

#[test]
fn a_native_function_sees_where_it_is_called_and_that_its_agent_is_terminated() {
    let js = agent();
    let handle = js.handle();
    js.set_function("terminate", 0, move |realm, _| {
        let (before, line) = (realm.is_terminated(), realm.current_line().unwrap_or_default());
        handle.terminate();
        assert_eq!((before, realm.is_terminated(), line.as_str()), (false, true, "end.js:2:1"));
        Ok(realm.undefined())
    })
    .unwrap();
    let error = js.eval("end.js", "\nterminate(); for (;;);").unwrap_err();
    assert!(error.is_uncatchable && error.message.contains("interrupted"), "{error:?}");
}
