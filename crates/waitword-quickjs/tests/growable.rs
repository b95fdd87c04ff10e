//! Shared memory that grows under the feet of others. In one agent: `tables/growable.js`; what scripts see of it, and when: `growth.rs`.

mod common;

use std::thread;

use common::{agent, agent_on, text, thrown_name};
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
fn buffers_that_are_looked_after_can_be_collected() {
    let js = agent();
    js.eval("t.js", "var made = []; for (let i = 0; i < 50; i++) made.push(new SharedArrayBuffer(8, { maxByteLength: 16 }));").unwrap();
    let blocks = "made.map(b => b.byteLength).length; let weak = made.map(b => new WeakRef(b)); made = null;";
    js.eval("t.js", blocks).unwrap();
    js.runtime().gc();
    assert_eq!(text(&js, "String(weak.filter(w => w.deref()).length)"), "0");
}
