//! What a script sees of memory that has grown, where the test looks on from outside: through another realm, in a
//! native function, and before anything but the call itself has looked at the buffer. The rest: `tables/growable.js`
//! and, with workers, `scripts/growth` in the tests of `waitword-cli`.

mod common;

use std::thread;

use common::{agent_on, text, thrown_name};
use waitword_quickjs::SharedBlock;

/// The views before the buffer, whose getter would bring them up to date.
const LENGTHS: &str = "[i32.length, i64.length, [...i32].length, sab.byteLength].join()";

#[test]
fn views_see_what_another_realm_of_their_agent_has_grown() {
    let js = agent_on(&SharedBlock::growable(16, 64).unwrap());
    let realm = js.new_realm().unwrap();
    realm.set(&realm.global(), "outer", &js.realm().global()).unwrap();
    realm.eval("t.js", "outer.sab.grow(32)").unwrap();
    assert_eq!(text(&js, LENGTHS), "8,4,8,32");
}

#[test]
fn views_see_growth_after_a_native_function_that_synchronizes() {
    let block = SharedBlock::growable(16, 64).unwrap();
    let js = agent_on(&block);
    js.set_function("receive", 0, move |realm, _| {
        let block = block.clone();
        Ok(realm.bool(thread::spawn(move || block.grow(32).is_ok()).join().unwrap()))
    })
    .unwrap();
    assert_eq!(text(&js, &format!("if (!receive()) throw 0; {LENGTHS}")), "8,4,8,32");
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
