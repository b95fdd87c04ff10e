//! Which argument is looked at when, what is thrown, and what the numbers mean.

mod common;

use common::{agent, agent_that_cannot_block, text, thrown, thrown_name};
use waitword_quickjs::JsAgent;

/// Names for the scripts below. `logged(name, value)` is an object whose conversion to a primitive is logged.
const PRELUDE: &str = "
    var log = [];
    var logged = (name, value) => ({ valueOf() { log.push(name); return value; } });
    var poisoned = (name) => ({ valueOf() { log.push(name); throw new EvalError(name); } });
    var i32 = new Int32Array(new SharedArrayBuffer(16));
    var i64 = new BigInt64Array(new SharedArrayBuffer(16));
    var unshared = new Int32Array(4);
    var run = (f) => { log = []; try { return log.concat(String(f())).join(); }
                       catch (e) { return log.concat(e.name).join(); } };
";

fn prepared(js: JsAgent) -> JsAgent {
    js.eval("prelude.js", PRELUDE).unwrap();
    js
}

#[test]
fn arguments_are_coerced_from_left_to_right() {
    let js = prepared(agent());
    let run = |call: &str| text(&js, &format!("run(() => {call})"));
    assert_eq!(run("Atomics.wait(i32, logged('i', 0), logged('v', 7), logged('t', 0))"), "i,v,t,not-equal");
    assert_eq!(run("Atomics.wait(i64, logged('i', 0), logged('v', 7n), logged('t', 0))"), "i,v,t,not-equal");
    assert_eq!(
        run("Atomics.waitAsync(i32, logged('i', 0), logged('v', 7), logged('t', 0)).value"),
        "i,v,t,not-equal"
    );
    assert_eq!(run("Atomics.notify(i32, logged('i', 0), logged('c', 7))"), "i,c,0");
    for name in ["wait", "waitAsync"] {
        assert_eq!(
            run(&format!("Atomics.{name}(i32, poisoned('i'), logged('v', 0), logged('t', 0))")),
            "i,EvalError"
        );
        assert_eq!(
            run(&format!("Atomics.{name}(i32, logged('i', 0), poisoned('v'), logged('t', 0))")),
            "i,v,EvalError"
        );
        assert_eq!(
            run(&format!("Atomics.{name}(i32, logged('i', 0), logged('v', 0), poisoned('t'))")),
            "i,v,t,EvalError"
        );
    }
    assert_eq!(run("Atomics.notify(i32, logged('i', 0), poisoned('c'))"), "i,c,EvalError");
}

#[test]
fn the_array_is_checked_before_anything_is_coerced() {
    let js = prepared(agent());
    let wrong = [
        "undefined",
        "null",
        "0",
        "'x'",
        "Symbol()",
        "{}",
        "[]",
        "new ArrayBuffer(8)",
        "new SharedArrayBuffer(8)",
        "new DataView(new SharedArrayBuffer(8))",
        "new Int8Array(new SharedArrayBuffer(8))",
        "new Uint8Array(new SharedArrayBuffer(8))",
        "new Uint8ClampedArray(new SharedArrayBuffer(8))",
        "new Int16Array(new SharedArrayBuffer(8))",
        "new Uint16Array(new SharedArrayBuffer(8))",
        "new Uint32Array(new SharedArrayBuffer(8))",
        "new BigUint64Array(new SharedArrayBuffer(8))",
        "new Float32Array(new SharedArrayBuffer(8))",
        "new Float64Array(new SharedArrayBuffer(8))",
        "Object.create(new Int32Array(new SharedArrayBuffer(8)))",
        "new Proxy(new Int32Array(new SharedArrayBuffer(8)), {})",
    ];
    for array in wrong {
        for call in
            ["wait($, poisoned('i'), 0, 0)", "waitAsync($, poisoned('i'), 0, 0)", "notify($, poisoned('i'))"]
        {
            let call = call.replace('$', &format!("({array})"));
            assert_eq!(text(&js, &format!("run(() => Atomics.{call})")), "TypeError", "{call}");
        }
    }
}

#[test]
fn waits_on_unshared_memory_fail_before_the_index_is_coerced() {
    let js = prepared(agent());
    for name in ["wait", "waitAsync"] {
        let call = format!("run(() => Atomics.{name}(unshared, poisoned('i'), 0, 0))");
        assert_eq!(text(&js, &call), "TypeError");
    }
}

#[test]
fn notify_on_unshared_memory_is_zero_after_the_coercions() {
    let js = prepared(agent());
    assert_eq!(text(&js, "run(() => Atomics.notify(unshared, logged('i', 3), logged('c', 1)))"), "i,c,0");
    assert_eq!(text(&js, "run(() => Atomics.notify(new BigInt64Array(1), 0))"), "0");
    assert_eq!(text(&js, "run(() => Atomics.notify(unshared, 4, poisoned('c')))"), "RangeError");
    assert_eq!(text(&js, "run(() => Atomics.notify(unshared, 0, poisoned('c')))"), "c,EvalError");
    assert_eq!(
        text(&js, "run(() => { let b = new ArrayBuffer(16, { maxByteLength: 32 }), v = new Int32Array(b); b.resize(32);
                               return Atomics.notify(v, 7); })"),
        "0",
        "a view that tracks the length of unshared memory is as long as it is now"
    );
}

#[test]
fn views_of_detached_or_shrunk_memory_are_refused() {
    let js = prepared(agent());
    let detached = "run(() => { let b = new ArrayBuffer(16), v = new Int32Array(b); b.transfer(); return Atomics.notify(v, 0); })";
    assert_eq!(text(&js, detached), "TypeError");
    let shrunk =
        "run(() => { let b = new ArrayBuffer(16, { maxByteLength: 16 }), v = new Int32Array(b, 8, 2);
                              b.resize(8); return Atomics.notify(v, poisoned('i')); })";
    assert_eq!(text(&js, shrunk), "TypeError");
}

#[test]
fn indices_are_coerced_by_to_index_and_checked_against_the_length() {
    let js = prepared(agent());
    for call in ["wait(i32, $, 1, 0)", "waitAsync(i32, $, 1, 0)", "notify(i32, $)"] {
        for index in ["-1", "4", "1e99", "Infinity", "-Infinity", "2 ** 53", "'5'", "{ valueOf: () => 125 }"]
        {
            let call = call.replace('$', index);
            assert_eq!(text(&js, &format!("run(() => Atomics.{call})")), "RangeError", "{call}");
        }
        for index in ["Symbol()", "1n"] {
            let call = call.replace('$', index);
            assert_eq!(text(&js, &format!("run(() => Atomics.{call})")), "TypeError", "{call}");
        }
        for index in ["undefined", "null", "NaN", "-0", "0.9", "-0.9", "'3'", "'x'", "true", "[]", "[2]"] {
            let call = call.replace('$', index);
            assert!(!text(&js, &format!("run(() => Atomics.{call})")).contains("Error"), "{call}");
        }
    }
    assert_eq!(
        thrown_name(&js, "Atomics.wait(new Int32Array(new SharedArrayBuffer(0)), 0, 0, 0)"),
        "RangeError"
    );
}

#[test]
fn an_index_counts_from_the_start_of_the_view() {
    let js = prepared(agent());
    let outcome = "run(() => { let b = new SharedArrayBuffer(32); new Int32Array(b)[5] = 42;
                               return Atomics.wait(new Int32Array(b, 8), 3, 42, 0) + Atomics.wait(new Int32Array(b, 8), 2, 42, 0); })";
    assert_eq!(text(&js, outcome), "timed-outnot-equal");
}

#[test]
fn values_are_coerced_to_the_type_of_the_elements() {
    let js = prepared(agent());
    js.eval("t.js", "i32[0] = 42; i32[1] = -1; i64[0] = 42n; i64[1] = -1n;").unwrap();
    let run = |call: &str| text(&js, &format!("run(() => Atomics.wait({call}, 0))"));
    for equal in [
        "i32, 0, 42",
        "i32, 0, 42.9",
        "i32, 0, '42'",
        "i32, 0, 2 ** 32 + 42",
        "i32, 1, 2 ** 32 - 1",
        "i32, 2, undefined",
    ] {
        assert_eq!(run(equal), "timed-out", "{equal}");
    }
    for equal in ["i64, 0, 42n", "i64, 0, '42'", "i64, 0, 2n ** 64n + 42n", "i64, 1, 2n ** 64n - 1n"] {
        assert_eq!(run(equal), "timed-out", "{equal}");
    }
    assert_eq!(run("i64, 0, true"), "not-equal");
    for wrong in [
        "i32, 0, 42n",
        "i32, 0, Symbol()",
        "i64, 0, 42",
        "i64, 0, undefined",
        "i64, 0, null",
        "i64, 0, Symbol()",
    ] {
        assert_eq!(run(wrong), "TypeError", "{wrong}");
    }
    assert_eq!(run("i64, 0, 'x'"), "SyntaxError");
}

#[test]
fn timeouts_that_are_not_positive_do_not_wait() {
    let js = prepared(agent());
    for zero in ["0", "-0", "-1", "-Infinity", "null", "false", "''", "'0'", "[]"] {
        assert_eq!(text(&js, &format!("Atomics.wait(i32, 0, 0, {zero})")), "timed-out", "{zero}");
        assert_eq!(text(&js, &format!("Atomics.waitAsync(i32, 0, 0, {zero}).value")), "timed-out", "{zero}");
    }
    for wrong in ["1n", "Symbol()"] {
        assert_eq!(thrown_name(&js, &format!("Atomics.wait(i32, 0, 0, {wrong})")), "TypeError");
        assert_eq!(thrown_name(&js, &format!("Atomics.waitAsync(i32, 0, 0, {wrong})")), "TypeError");
    }
}

#[test]
fn timeouts_that_are_positive_or_no_number_wait() {
    let js = prepared(agent());
    for some in ["5e-324", "1e-7", "0.5", "1", "1e300", "Infinity", "NaN", "undefined", "'x'", "{}", "true"] {
        assert_eq!(
            text(&js, &format!("String(Atomics.waitAsync(i32, 0, 0, {some}).async)")),
            "true",
            "{some}"
        );
    }
    assert_eq!(
        text(&js, "Atomics.wait(i32, 0, 0, 5e-324) + Atomics.wait(i32, 0, 0, true)"),
        "timed-outtimed-out"
    );
}

#[test]
fn an_agent_that_cannot_block_says_so_after_the_coercions() {
    let js = prepared(agent_that_cannot_block());
    let run = |call: &str| text(&js, &format!("run(() => Atomics.{call})"));
    assert_eq!(run("wait(i32, logged('i', 0), logged('v', 7), logged('t', 0))"), "i,v,t,TypeError");
    assert_eq!(run("wait(i32, logged('i', 0), logged('v', 7), poisoned('t'))"), "i,v,t,EvalError");
    assert_eq!(run("wait(i32, 4, 0, 0)"), "RangeError");
    assert_eq!(run("waitAsync(i32, 0, 0, 0).value"), "timed-out");
    let error = thrown(&js, "Atomics.wait(i32, 0, 0, 0)");
    assert!(error.message.contains("Atomics.waitAsync"), "says what to do instead: {}", error.message);
    js.agent().set_can_block(true);
    assert_eq!(run("wait(i32, 0, 0, 0)"), "timed-out");
}

#[test]
fn counts_are_integers_from_zero_to_infinity() {
    let js = prepared(agent());
    js.eval("t.js", "var enqueue = (n) => { for (let i = 0; i < n; i++) Atomics.waitAsync(i32, 0, 0); };")
        .unwrap();
    let notified = |count: &str| {
        js.eval("t.js", "Atomics.notify(i32, 0); enqueue(3)").unwrap();
        text(&js, &format!("String(Atomics.notify(i32, 0, {count}))"))
    };
    for none in ["0", "-0", "NaN", "null", "0.9", "-0.5", "-3", "-Infinity", "'x'", "{}", "false"] {
        assert_eq!(notified(none), "0", "{none}");
    }
    for one in ["1", "1.9", "true", "'1'"] {
        assert_eq!(notified(one), "1", "{one}");
    }
    for all in ["3", "4", "2 ** 31", "2 ** 32", "2 ** 53", "1e300", "Infinity", "undefined"] {
        assert_eq!(notified(all), "3", "{all}");
    }
    assert_eq!(thrown_name(&js, "Atomics.notify(i32, 0, 1n)"), "TypeError");
}
