//! What a script sees of memory that has grown: every operation on views that were there before, after everything that a
//! script can synchronize by. In one agent: `tables/growable.js`.

mod common;

use std::thread;

use common::{agent, agent_on, agent_within, text, thrown_name};
use waitword_quickjs::{JsAgent, SharedBlock};

/// A buffer of 16 bytes that can grow, its views, a word to wait on, and a second object on the same memory, as
/// `structuredClone` makes one. `seen` runs the operations, and lists those with another result than on a grown buffer.
const VIEWS: &str = "
    var t = new Int32Array(g), o = new Int32Array(g, 8), f = new Int32Array(g, 0, 4), b = new BigInt64Array(g);
    var d = new DataView(g), e = new DataView(g, 16), u = new Uint8Array(g), h = new Float64Array(g), r = new Int16Array(a);
    var sub = t.subarray(1), iterator = t.values(), w = new Int32Array(flags);
    var keys = o => { const all = []; for (const key in o) all.push(key); return all.join(); };
    var thrown = run => { try { run(); return 'none'; } catch (error) { return error.name; } };
    function seen() {
        const wrong = [];
        for (const [operation, expected] of OPERATIONS) {
            t.fill(0);
            let result;
            try { result = String(eval(operation)); } catch (error) { result = String(error); }
            if (result !== expected) wrong.push(operation + ' is ' + result + ', not ' + expected);
        }
        return wrong.join('\\n');
    }";

/// Operations on the views, and what they give once the buffer has 32 bytes.
const OPERATIONS: &str = include_str!("growth_operations.js");

/// An agent with two objects on the memory, and views on both.
fn agent_with_views(block: &SharedBlock, flags: &SharedBlock) -> JsAgent {
    let js = agent();
    js.set_global("g", block.clone()).unwrap();
    js.set_global("a", block.clone()).unwrap();
    js.set_global("flags", flags.clone()).unwrap();
    let rows = OPERATIONS.lines().filter_map(|line| line.split_once(" //> "));
    let table: Vec<_> = rows.map(|(operation, result)| format!("[{operation:?}, {result:?}]")).collect();
    assert!(table.len() > 100, "{table:?}");
    js.eval("table.js", &format!("var OPERATIONS = [{}]; {VIEWS}", table.join(","))).unwrap();
    js
}

fn blocks() -> (SharedBlock, SharedBlock) {
    (SharedBlock::growable(16, 64).unwrap(), SharedBlock::new(16).unwrap())
}

/// One agent runs `script`, which sees the memory grow; the other begins, in the midst of that script, by
/// `Atomics.store(w, 1, 1)`, and runs `grower`.
#[track_caller]
fn across(script: &str, grower: &'static str) {
    let (block, flags) = blocks();
    let grower = thread::spawn({
        let (block, flags) = (block.clone(), flags.clone());
        move || {
            let js = agent_with_views(&block, &flags);
            text(&js, &format!("while (Atomics.load(w, 1) === 0); {grower}; 'grown'"))
        }
    });
    let js = agent_with_views(&block, &flags);
    let before = "if (t.length !== 4 || [...t].length !== 4 || d.byteLength !== 16) throw 'grown already';";
    let wrong = text(&js, &format!("{before} Atomics.store(w, 1, 1); {script}; seen()"));
    assert_eq!(wrong, "", "after {script}");
    assert_eq!(grower.join().unwrap(), "grown");
}

#[test]
fn views_see_what_another_object_of_their_agent_has_grown() {
    for grow in ["g.grow(32)", "a.grow(32)", "Reflect.apply(a.grow, g, [32])"] {
        let (block, flags) = blocks();
        let js = agent_with_views(&block, &flags);
        assert_eq!(text(&js, &format!("{grow}; seen()")), "", "{grow}");
    }
}

#[test]
fn views_see_what_another_realm_of_their_agent_has_grown() {
    let (block, flags) = blocks();
    let js = agent_with_views(&block, &flags);
    let realm = js.new_realm().unwrap();
    realm.set(&realm.global(), "outer", &js.realm().global()).unwrap();
    realm.eval("t.js", "outer.a.grow(32)").unwrap();
    assert_eq!(text(&js, "seen()"), "");
}

#[test]
fn views_see_growth_after_an_atomic_access_that_synchronizes() {
    for load in [
        "Atomics.load(w, 0)",
        "Atomics.add(w, 0, 0)",
        "Atomics.and(w, 0, -1)",
        "Atomics.compareExchange(w, 0, 1, 1)",
        "Atomics.exchange(w, 0, 1) ",
        "Atomics.or(w, 0, 0)",
        "Atomics.sub(w, 0, 0)",
        "Atomics.xor(w, 0, 0)",
        "Atomics.load(w, { valueOf() { return 0; } })",
        "Reflect.apply(Atomics.load, null, [w, 0])",
    ] {
        // An exchange would set the flag that it waits for.
        let load =
            if load.contains("exchange(w") { "(Atomics.load(w, 2), Atomics.add(w, 0, 0))" } else { load };
        across(&format!("while ({load} !== 1)"), "g.grow(32); Atomics.store(w, 0, 1)");
    }
}

/// A check before the load only, and not after it, misses what is grown and published between the two.
#[test]
fn no_growth_is_missed_in_between() {
    let (block, flags) = (SharedBlock::growable(16, 4096).unwrap(), SharedBlock::new(16).unwrap());
    let grower = thread::spawn({
        let (block, flags) = (block.clone(), flags.clone());
        move || {
            let rounds = "for (let length = 5; length <= 1024; length++) {
                while (Atomics.load(w, 1) !== length);
                g.grow(4 * length);
                Atomics.store(w, 0, length);
            } 'grown'";
            text(&agent_with_views(&block, &flags), rounds)
        }
    });
    let rounds = "var missed = []; for (let length = 5; length <= 1024; length++) {
        Atomics.store(w, 1, length);
        while (Atomics.load(w, 0) !== length);
        if (t.length !== length) missed.push(length);
    } missed.join()";
    assert_eq!(text(&agent_with_views(&block, &flags), rounds), "");
    assert_eq!(grower.join().unwrap(), "grown");
}

#[test]
fn views_see_growth_that_a_third_agent_passes_on() {
    // The grower does not synchronize with the reader; the agent that has seen the new length does.
    let (block, flags) = blocks();
    let start = "while (Atomics.load(w, 1) === 0);";
    let run = |script: String| {
        let (block, flags) = (block.clone(), flags.clone());
        thread::spawn(move || text(&agent_with_views(&block, &flags), &script))
    };
    let grower = run(format!("{start} g.grow(32); 'done'"));
    let witness = run("while (g.byteLength !== 32); Atomics.store(w, 0, 1); 'done'".to_owned());
    let js = agent_with_views(&block, &flags);
    assert_eq!(text(&js, "Atomics.store(w, 1, 1); while (Atomics.load(w, 0) === 0); seen()"), "");
    for thread in [grower, witness] {
        assert_eq!(thread.join().unwrap(), "done");
    }
}

#[test]
fn views_see_growth_after_a_wait() {
    let notify =
        "g.grow(32); Atomics.store(w, 0, 1); while (Atomics.notify(w, 0) === 0 && Atomics.load(w, 2) === 0)";
    across("Atomics.wait(w, 0, 0); Atomics.store(w, 2, 1)", notify);
    let store = "g.grow(32); Atomics.store(w, 0, 1)";
    across("while (Atomics.wait(w, 0, 0, 0) !== 'not-equal')", store);
    across("while (Atomics.waitAsync(w, 0, 0, 0).value !== 'not-equal')", store);
}

#[test]
fn views_see_growth_after_a_notify_that_found_a_waiter() {
    // The waiter grows the memory before it waits.
    across("while (Atomics.notify(w, 3) === 0)", "g.grow(32); Atomics.wait(w, 3, 0)");
}

#[test]
fn views_see_growth_after_a_promise_of_wait_async() {
    let (block, flags) = blocks();
    let js = agent_with_views(&block, &flags);
    let promise = js.eval("t.js", "Atomics.waitAsync(w, 0, 0).value.then(seen)").unwrap();
    let grower = thread::spawn({
        let (block, flags) = (block.clone(), flags.clone());
        move || text(&agent_with_views(&block, &flags), "g.grow(32); String(Atomics.notify(w, 0))")
    });
    assert_eq!(js.run_until_settled(&promise).unwrap().as_str(), Some(""));
    assert_eq!(grower.join().unwrap(), "1");
}

#[test]
fn views_see_growth_after_a_native_function_that_synchronizes() {
    let (block, flags) = blocks();
    let js = agent_with_views(&block, &flags);
    js.set_function("receive", 0, move |realm, _| {
        let grown = thread::spawn({
            let block = block.clone();
            move || block.grow(32).is_ok()
        });
        Ok(realm.bool(grown.join().unwrap()))
    })
    .unwrap();
    assert_eq!(text(&js, "if (!receive()) throw 0; seen()"), "");
}

#[test]
fn a_loop_without_synchronization_comes_to_see_growth() {
    for look in
        ["t.length === 4", "!(7 in t)", "t[7] === undefined", "d.byteLength === 16", "[...t].length === 4"]
    {
        across(&format!("const end = Date.now() + 20000; while ({look} && Date.now() < end)"), "a.grow(32)");
    }
}

#[test]
fn buffers_that_are_made_later_see_growth() {
    let (block, flags) = blocks();
    let js = agent_with_views(&block, &flags);
    // By an agent that is up to date before it gets them.
    js.eval("t.js", "g.grow(24)").unwrap();
    let reader = agent_with_views(&block, &flags);
    reader.set_global("g", block.clone()).unwrap();
    reader.set_global("a", block.clone()).unwrap();
    assert_eq!(text(&reader, "String(a === g)"), "false");
    // Nothing has asked the new objects how long they are.
    assert_eq!(
        text(&reader, "var views = [g, a].map(b => new Int32Array(b)); views.map(v => v.length).join()"),
        "6,6"
    );
    js.eval("t.js", "g.grow(32)").unwrap();
    assert_eq!(text(&reader, "views.map(v => v.length).join()"), "8,8");
    assert_eq!(text(&reader, &format!("{VIEWS} seen()")), "");
}

#[test]
fn growth_is_seen_when_thousands_of_buffers_are_known_and_most_are_gone() {
    let (block, flags) = blocks();
    let js = agent_with_views(&block, &flags);
    let many = "var kept = []; for (let i = 0; i < 5000; i++) {
        const made = new SharedArrayBuffer(8, { maxByteLength: 16 });
        if (i % 100 === 0) kept.push(new Int32Array(made));
    }";
    js.eval("t.js", many).unwrap();
    assert_eq!(text(&js, "for (const view of kept) view.buffer.grow(16); a.grow(32); seen()"), "");
    assert_eq!(text(&js, "String(kept.every(view => view.length === 4))"), "true");
}

#[test]
fn what_is_known_of_buffers_goes_with_them() {
    let js = agent_within(4 << 20);
    let many =
        "let n = 0; while (n < 100000) { new SharedArrayBuffer(8, { maxByteLength: 16 }); n++; } String(n)";
    assert_eq!(text(&js, many), "100000");
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
