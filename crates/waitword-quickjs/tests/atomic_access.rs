//! `Atomics.load`, `store` and the read-modify-write functions on memory that the engine alone gets wrong.

mod common;

use common::{agent, agent_on, text, thrown_name};
use waitword_quickjs::SharedBlock;

/// The functions that write, as calls on an array `a` with an index and a value.
const WRITES: [&str; 8] = [
    "Atomics.add(a, i, v)",
    "Atomics.and(a, i, v)",
    "Atomics.compareExchange(a, i, v, v)",
    "Atomics.exchange(a, i, v)",
    "Atomics.or(a, i, v)",
    "Atomics.store(a, i, v)",
    "Atomics.sub(a, i, v)",
    "Atomics.xor(a, i, v)",
];

/// An index and a value that tell when they are coerced.
const PROBES: &str = "var log = []; var i = { valueOf() { log.push('i'); return 0; } };
    var v = { valueOf() { log.push('v'); return 1; } };";

#[test]
fn immutable_memory_is_not_written_to() {
    let js = agent();
    for make in ["new ArrayBuffer(8).transferToImmutable()", "new ArrayBuffer(8).sliceToImmutable(0, 8)"] {
        js.eval("t.js", &format!("{PROBES} var a = new Int32Array({make});")).unwrap();
        for write in WRITES {
            assert_eq!(thrown_name(&js, write), "TypeError", "{write}");
        }
        assert_eq!(text(&js, "log.join() + Atomics.load(a, 0) + Atomics.notify(a, 0)"), "00");
    }
}

#[test]
fn an_array_out_of_bounds_is_a_type_error_before_the_index_is_coerced() {
    let js = agent();
    let shrunk = "var b = new ArrayBuffer(8, { maxByteLength: 8 }), a = new Int32Array(b, 4); b.resize(0);";
    js.eval("t.js", &format!("{PROBES} {shrunk}")).unwrap();
    for access in WRITES.into_iter().chain(["Atomics.load(a, i)"]) {
        assert_eq!(thrown_name(&js, access), "TypeError", "{access}");
    }
    assert_eq!(text(&js, "log.join()"), "");
}

#[test]
fn memory_that_another_agent_has_grown_is_reached_in_the_same_job() {
    let block = SharedBlock::growable(8, 16).unwrap();
    let js = agent_on(&block);
    js.set_function("grow", 0, {
        let block = block.clone();
        move |realm, _| {
            block.grow(16).unwrap();
            Ok(realm.undefined())
        }
    })
    .unwrap();
    assert_eq!(thrown_name(&js, "Atomics.load(i32, 3)"), "RangeError");
    // A loop that waits for the value of another agent does nothing else.
    assert_eq!(text(&js, "grow(); String(Atomics.load(i32, 3))"), "0");
}

#[test]
fn an_array_that_a_coercion_takes_away_is_a_type_error_after_all_coercions() {
    for fate in ["a.buffer.transfer()", "a.buffer.resize(0)"] {
        for (name, rest) in [("load", ""), ("store", ", v"), ("add", ", v"), ("compareExchange", ", v, v")] {
            let js = agent();
            js.eval(
                "t.js",
                &format!("{PROBES} var a = new Int32Array(new ArrayBuffer(8, {{ maxByteLength: 8 }}), 4);"),
            )
            .unwrap();
            let index = format!("{{ valueOf() {{ {fate}; return 0; }} }}");
            assert_eq!(thrown_name(&js, &format!("Atomics.{name}(a, {index}{rest})")), "TypeError", "{name}");
            assert_eq!(text(&js, "log.join()"), rest.replace(", ", ",").trim_start_matches(','), "{name}");
        }
    }
}

#[test]
fn the_index_is_compared_with_the_length_of_before() {
    let js = agent();
    let source = "var b = new ArrayBuffer(8, { maxByteLength: 64 }), a = new Int32Array(b), log = [];
        var v = { valueOf() { log.push('v'); return 1; } };
        var to = (length, index) => ({ valueOf() { b.resize(length); return index; } });";
    js.eval("t.js", source).unwrap();
    assert_eq!(thrown_name(&js, "Atomics.store(a, to(64, 2), v)"), "RangeError", "grown too late");
    assert_eq!(text(&js, "log.join() + Atomics.store(a, 2, v)"), "1");
    // Shrunk, but still there: the RangeError comes after the value.
    assert_eq!(thrown_name(&js, "log = []; Atomics.store(a, to(8, 2), v)"), "RangeError");
    assert_eq!(text(&js, "log.join()"), "v");
}

#[test]
fn objects_are_coerced_to_all_that_their_elements_can_be() {
    let js = agent();
    js.eval("t.js", "var of = (value) => ({ valueOf: () => value }), b = new SharedArrayBuffer(8);").unwrap();
    for (call, result) in [
        (
            "Atomics.store(new BigInt64Array(b), of(0), of(2n ** 100n + 5n))",
            "1267650600228229401496703205381",
        ),
        ("Atomics.load(new BigUint64Array(b), of('0'))", "5"),
        ("Atomics.store(new Uint8Array(b), of(0), of(-1.5))", "-1"),
        ("Atomics.store(new Uint8Array(b), of(0), of(Infinity))", "Infinity"),
        ("Object.is(Atomics.store(new Int8Array(b), of(0), of(-0)), 0)", "true"),
        ("Atomics.sub(new Int16Array(b), of(0), of(2 ** 32 + 1))", "0"),
        ("Atomics.compareExchange(new Uint16Array(b), of(0), of(-1), of(7))", "65535"),
        ("Atomics.exchange(new Uint32Array(b), of(0), of('0x10'))", "7"),
    ] {
        assert_eq!(text(&js, &format!("String({call})")), result, "{call}");
    }
    for (call, error) in [
        ("Atomics.add(new BigInt64Array(b), 0, of(1))", "TypeError"),
        ("Atomics.add(new Int32Array(b), 0, of(1n))", "TypeError"),
        ("Atomics.add(new Float64Array(b), of(9), of(1))", "TypeError"),
        ("Atomics.add(of(0), of(9), of(1))", "TypeError"),
        ("Atomics.add(new BigInt64Array(b), 0, of('1n'))", "SyntaxError"),
    ] {
        assert_eq!(thrown_name(&js, call), error, "{call}");
    }
}

#[test]
fn what_all_functions_return_is_the_engine_s() {
    let js = agent();
    // The second time, there is memory that has to be asked about.
    for _ in 0..2 {
        for (array, unit) in
            [("Uint8Array", ""), ("Int16Array", ""), ("Uint32Array", ""), ("BigUint64Array", "n")]
        {
            let script = format!(
                "var a = new {array}(new SharedArrayBuffer(16)); [
                   Atomics.store(a, 1, 5{unit}), Atomics.add(a, 1, 3{unit}), Atomics.sub(a, 1, 2{unit}),
                   Atomics.or(a, 1, 9{unit}), Atomics.and(a, 1, 14{unit}), Atomics.xor(a, 1, 1{unit}),
                   Atomics.exchange(a, 1, 7{unit}), Atomics.compareExchange(a, 1, 7{unit}, 2{unit}),
                   Atomics.load(a, 1), Atomics.load(a, 0)].join()"
            );
            assert_eq!(text(&js, &script), "5,5,8,6,15,14,15,7,2,0", "{array}");
        }
        js.eval("t.js", "new ArrayBuffer(1).transferToImmutable()").unwrap();
    }
}

#[test]
fn they_look_like_the_standard_s() {
    let js = agent();
    let shape = "Object.getOwnPropertyNames(Atomics).filter(n => Atomics[n].length > 0 && n != 'pause').map(n => {
        const p = Object.getOwnPropertyDescriptor(Atomics, n);
        return [n, p.value.name, p.value.length, p.writable, p.enumerable, p.configurable, 'prototype' in p.value].join(' ');
    }).filter(s => !/wait|notify|isLock/.test(s)).sort().join()";
    let expected =
        ["add 3", "and 3", "compareExchange 4", "exchange 3", "load 2", "or 3", "store 3", "sub 3", "xor 3"]
            .map(|shape| {
                let (name, length) = shape.split_once(' ').unwrap();
                format!("{name} {name} {length} true false true false")
            });
    assert_eq!(text(&js, shape), expected.join(","));
}
