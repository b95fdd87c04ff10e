//! Shared memory that grows, in one agent and under the feet of others.

mod common;

use std::thread;

use common::{agent, agent_on, text, thrown_name, until_queued};
use waitword_core::notify_all;
use waitword_quickjs::{JsAgent, SharedBlock};

const NAMES: &str = "var g = new SharedArrayBuffer(8, { maxByteLength: 64 }), v = new Int32Array(g);";

fn prepared() -> JsAgent {
    let js = agent();
    js.eval("names.js", NAMES).unwrap();
    js
}

/// An agent on another thread makes the buffer longer.
fn grow_elsewhere(block: &SharedBlock, length: usize) {
    let block = block.clone();
    let grown = thread::spawn(move || {
        text(&agent_on(&block), &format!("sab.grow({length}); String(sab.byteLength)"))
    });
    assert_eq!(grown.join().unwrap(), length.to_string());
}

#[test]
fn a_buffer_knows_how_long_it_is_and_may_become() {
    let js = prepared();
    assert_eq!(text(&js, "[g.byteLength, g.maxByteLength, g.growable, v.length].join()"), "8,64,true,2");
    assert_eq!(text(&js, "g.grow(16); g.grow(16); [g.byteLength, v.length, v[3]].join()"), "16,4,0");
    let fixed = "var f = new SharedArrayBuffer(8); [f.byteLength, f.maxByteLength, f.growable].join()";
    assert_eq!(text(&js, fixed), "8,8,false");
    let empty = "var e = new SharedArrayBuffer(0, { maxByteLength: 0 }), z = new SharedArrayBuffer();
        e.grow(0); [e.byteLength, e.maxByteLength, e.growable, z.byteLength, z.maxByteLength, z.growable].join()";
    assert_eq!(text(&js, empty), "0,0,true,0,0,false");
}

#[test]
fn the_constructor_coerces_in_order_and_refuses_what_cannot_be() {
    let js = agent();
    let order = "var log = [];
        var target = new Proxy(SharedArrayBuffer, { get(t, k, r) { log.push(String(k)); return Reflect.get(t, k, r); } });
        Reflect.construct(SharedArrayBuffer, [{ valueOf() { log.push('length'); return 8; } },
            { get maxByteLength() { log.push('max'); return { valueOf() { log.push('max value'); return 16; } }; } }], target);
        log.join()";
    assert_eq!(text(&js, order), "length,max,max value,prototype");
    for wrong in [
        "new SharedArrayBuffer(-1)",
        "new SharedArrayBuffer(2 ** 53)",
        "new SharedArrayBuffer(2 ** 53 - 1)",
        "new SharedArrayBuffer(2 ** 31)",
        "new SharedArrayBuffer(8, { maxByteLength: 7 })",
        "new SharedArrayBuffer(8, { maxByteLength: -1 })",
        "new SharedArrayBuffer(8, { maxByteLength: 2 ** 53 - 1 })",
        "new SharedArrayBuffer(8, { maxByteLength: 2 ** 31 })",
        "new SharedArrayBuffer(7e15, { maxByteLength: 7e15 })",
    ] {
        assert_eq!(thrown_name(&js, wrong), "RangeError", "{wrong}");
    }
    assert_eq!(text(&js, "String(new SharedArrayBuffer(8, 'no object').growable)"), "false");
    assert_eq!(text(&js, "String(new SharedArrayBuffer(8, { maxByteLength: undefined }).growable)"), "false");
    assert_eq!(text(&js, "String(new SharedArrayBuffer(8, { maxByteLength: '16' }).maxByteLength)"), "16");
}

#[test]
fn grow_refuses_to_shrink_to_pass_the_maximum_and_to_grow_what_cannot() {
    let js = prepared();
    for (wrong, error) in [
        ("g.grow(7)", "RangeError"),
        ("g.grow(65)", "RangeError"),
        ("g.grow(-1)", "RangeError"),
        ("g.grow(2 ** 53)", "RangeError"),
        ("g.grow(1n)", "TypeError"),
        ("new SharedArrayBuffer(8).grow(8)", "TypeError"),
        ("new SharedArrayBuffer(8).grow({ valueOf() { throw new EvalError(); } })", "TypeError"),
        ("g.grow.call({}, 8)", "TypeError"),
        ("g.grow.call(new ArrayBuffer(8, { maxByteLength: 16 }), 8)", "TypeError"),
        ("g.grow({ valueOf() { throw new EvalError(); } })", "EvalError"),
    ] {
        assert_eq!(thrown_name(&js, wrong), error, "{wrong}");
    }
    assert_eq!(text(&js, "String(g.byteLength)"), "8");
    for getter in ["byteLength", "maxByteLength", "growable"] {
        let foreign = format!("Reflect.get(SharedArrayBuffer.prototype, '{getter}', new ArrayBuffer(8))");
        assert_eq!(thrown_name(&js, &foreign), "TypeError");
    }
}

#[test]
fn growing_is_seen_by_other_agents() {
    let block = SharedBlock::growable(8, 64).unwrap();
    let js = agent_on(&block);
    assert_eq!(text(&js, "[sab.byteLength, i32.length].join()"), "8,2");
    grow_elsewhere(&block, 24);
    assert_eq!(text(&js, "[sab.byteLength, i32.length, i64.length].join()"), "24,6,3");
    // A loser of the race to grow gets the RangeError, however long its own object looked.
    grow_elsewhere(&block, 40);
    assert_eq!(thrown_name(&js, "sab.grow(32)"), "RangeError");
    assert_eq!(text(&js, "String(sab.slice(32).byteLength)"), "8");
    grow_elsewhere(&block, 48);
    assert_eq!(text(&js, "String(sab.slice(40).byteLength)"), "8");
}

#[test]
fn waits_and_notifies_reach_what_another_agent_has_added() {
    let block = SharedBlock::growable(8, 64).unwrap();
    let calls = [
        "Atomics.wait(i32, {i}, 1)",
        "Atomics.waitAsync(i32, {i}, 1).value",
        "String(Atomics.notify(i32, {i}))",
    ];
    let expected = ["not-equal", "not-equal", "0"];
    for (index, (call, expected)) in (2..).step_by(2).zip(calls.into_iter().zip(expected)) {
        // Views made before the memory grew, and nothing but the call itself looks at the buffer.
        let js = agent_on(&block);
        let call = call.replace("{i}", &index.to_string());
        assert_eq!(thrown_name(&js, &call), "RangeError");
        grow_elsewhere(&block, 4 * (index + 2));
        assert_eq!(text(&js, &call), expected);
    }
}

#[test]
fn waiters_stay_queued_while_their_memory_grows() {
    let block = SharedBlock::growable(8, 64).unwrap();
    let js = agent_on(&block);
    let promise = js.eval("t.js", "Atomics.waitAsync(i32, 0, 0).value").unwrap();
    grow_elsewhere(&block, 64);
    assert_eq!(notify_all(block.i32(0).unwrap()), 1);
    assert_eq!(js.run_until_settled(&promise).unwrap().as_str(), Some("ok"));
    let promise = js.eval("t.js", "Atomics.waitAsync(i32, 15, 0).value").unwrap();
    assert_eq!(notify_all(block.i32(60).unwrap()), 1);
    assert_eq!(js.run_until_settled(&promise).unwrap().as_str(), Some("ok"));
}

#[test]
fn the_length_is_taken_before_the_index_is_coerced() {
    for call in
        ["Atomics.wait(v, index, 0, 0)", "Atomics.waitAsync(v, index, 0, 0)", "Atomics.notify(v, index)"]
    {
        let js = prepared();
        js.eval("t.js", "var index = { valueOf() { g.grow(64); return 2; } };").unwrap();
        assert_eq!(thrown_name(&js, call), "RangeError", "{call}: growing comes too late");
        assert_eq!(thrown_name(&prepared(), &call.replace("index", "2")), "RangeError");
        js.eval(call, call).unwrap();
    }
}

#[test]
fn views_with_a_length_of_their_own_keep_it() {
    let js = prepared();
    js.eval("t.js", "var fixed = new Int32Array(g, 0, 2); g.grow(64);").unwrap();
    assert_eq!(text(&js, "String(Atomics.notify(fixed, 1))"), "0");
    assert_eq!(thrown_name(&js, "Atomics.notify(fixed, 2)"), "RangeError");
    js.eval("t.js", "var offset = new Int32Array(g, 56);").unwrap();
    assert_eq!(text(&js, "String(Atomics.notify(offset, 1))"), "0");
    assert_eq!(thrown_name(&js, "Atomics.notify(offset, 2)"), "RangeError");
}

#[test]
fn another_agent_gets_the_memory_not_its_length_of_then() {
    let js = prepared();
    let realm = js.realm();
    let block = realm.shared_block(&realm.eval("t.js", "g").unwrap()).unwrap();
    js.eval("t.js", "g.grow(32)").unwrap();
    let reader = thread::spawn(move || {
        let js = agent();
        js.set_global("sab", block).unwrap();
        text(&js, "[sab.byteLength, sab.growable, sab.maxByteLength, new Int32Array(sab).length].join()")
    });
    assert_eq!(reader.join().unwrap(), "32,true,64,8");
}

#[test]
fn views_see_growth_from_the_next_job_on() {
    let block = SharedBlock::growable(8, 64).unwrap();
    let js = agent_on(&block);
    js.eval("t.js", "var seen = []; var look = () => seen.push(i32.length + ' ' + i32[i32.length - 1]);")
        .unwrap();
    grow_elsewhere(&block, 16);
    assert_eq!(text(&js, "look(); seen.pop()"), "4 0");
    js.eval("t.js", "Atomics.waitAsync(i32, 0, 0).value.then(look)").unwrap();
    grow_elsewhere(&block, 24);
    assert_eq!(notify_all(block.i32(0).unwrap()), 1);
    js.run().unwrap();
    assert_eq!(text(&js, "seen.pop()"), "6 0");
}

#[test]
fn views_see_growth_after_a_wait() {
    let block = SharedBlock::growable(8, 64).unwrap();
    let waiter = thread::spawn({
        let block = block.clone();
        move || {
            text(
                &agent_on(&block),
                "let before = i32.length; Atomics.wait(i32, 0, 0); before + ' ' + i32.length",
            )
        }
    });
    until_queued(&block, 0, 1, &waiter);
    block.grow(40).unwrap();
    assert_eq!(notify_all(block.i32(0).unwrap()), 1);
    assert_eq!(waiter.join().unwrap(), "2 10");
}

#[test]
fn buffers_that_are_looked_after_can_be_collected() {
    let js = agent();
    js.eval("t.js", "var made = []; for (let i = 0; i < 50; i++) made.push(new SharedArrayBuffer(8, { maxByteLength: 16 }));").unwrap();
    let blocks = "made.map(b => b.byteLength).length; let weak = made.map(b => new WeakRef(b)); made = null;";
    js.eval("t.js", blocks).unwrap();
    js.runtime().gc();
    assert_eq!(text(&js, "String(weak.filter(w => w.deref()).length)"), "0");
}
