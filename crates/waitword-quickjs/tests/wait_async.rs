//! `Atomics.waitAsync` in one agent: when its promises are resolved. What it returns: `tables/functions.js`.

mod common;

use common::{agent, agent_on, agent_within, text};
use waitword_core::{notify_all, notify_one};
use waitword_quickjs::SharedBlock;

#[test]
fn deadlines_come_in_their_order() {
    let js = agent();
    js.eval(
        "t.js",
        "var v = new Int32Array(new SharedArrayBuffer(16)), log = [];
        for (const ms of [9, 3, 6]) Atomics.waitAsync(v, 0, 0, ms).value.then(o => log.push(ms + o));",
    )
    .unwrap();
    let pending = js.pending();
    assert_eq!(pending.len(), 3);
    // The longest is due before the shortest where milliseconds pass between the calls.
    let mut due: Vec<_> =
        pending.iter().zip([9, 3, 6]).map(|(wait, ms)| (wait.deadline.unwrap(), ms)).collect();
    due.sort();
    assert_eq!(js.next_deadline(), Some(due[0].0));
    js.run().unwrap();
    let expected: Vec<_> = due.iter().map(|(_, ms)| format!("{ms}timed-out")).collect();
    assert_eq!(text(&js, "log.join()"), expected.join(","));
    assert!(js.next_deadline().is_none() && js.pending().is_empty());
}

#[test]
fn each_promise_that_another_agent_notified_is_a_job_of_its_own() {
    let block = SharedBlock::new(16).unwrap();
    let js = agent_on(&block);
    let source = "var log = [];
        for (const n of ['a', 'b', 'c']) Atomics.waitAsync(i32, 0, 0).value.then(() => log.push(n)).then(() => log.push(n + '+'));";
    js.eval("t.js", source).unwrap();
    let word = block.i32(0).unwrap();
    let notified = std::thread::spawn(move || notify_all(&word)).join().unwrap();
    assert_eq!(notified, 3);
    assert_eq!(text(&js, "log.join()"), "", "nothing is resolved behind the agent's back");
    assert!(js.settle_one().unwrap());
    js.run_microtasks().unwrap();
    assert_eq!(text(&js, "log.join()"), "a,a+");
    js.run().unwrap();
    assert_eq!(text(&js, "log.join()"), "a,a+,b,b+,c,c+");
    assert!(!js.settle_one().unwrap());
}

#[test]
fn waits_end_with_their_agent() {
    let block = SharedBlock::new(16).unwrap();
    let js = agent_on(&block);
    js.eval("t.js", "for (let i = 0; i < 3; i++) Atomics.waitAsync(i32, 0, 0, i ? 1e9 : Infinity);").unwrap();
    let word = block.i32(0).unwrap();
    assert_eq!(block.table().waiters(&*word), 3);
    drop(js);
    assert_eq!(notify_one(&word), 0, "a dead agent's waiter does not eat a notify");
}

#[test]
fn point_33_nothing_stays_queued_when_memory_runs_out() {
    let block = SharedBlock::new(16).unwrap();
    let js = agent_within(1 << 20);
    js.set_global("sab", block.clone()).unwrap();
    // Memory runs out at many different places of waitAsync, because what is left differs each time.
    let source = "var v = new Int32Array(sab), queued = 0, failed = 0, hoard = [];
        for (let round = 0; round < 40; round++) {
            try { for (;;) hoard.push(new ArrayBuffer(64)); } catch {}
            hoard.length -= round % 20;
            try { for (;;) { Atomics.waitAsync(v, 0, 0); queued++; } } catch { failed++; }
            if (Atomics.notify(v, 0) !== queued) throw new Error('a failed wait stayed in the queue');
            queued = 0;
            hoard.length = 0;
            try { for (;;) hoard.push(new ArrayBuffer(64)); } catch {}
            hoard.length -= round % 40;
            for (let i = 0; i < 5; i++) try { Atomics.waitAsync(v, 1, 0); queued++; } catch { failed++; }
            hoard.length = 0;
            if (Atomics.notify(v, 1) !== queued) throw new Error('a failed wait stayed in the queue');
            queued = 0;
        }
        // The reserve lets the few of the second kind through.
        String(failed >= 40)";
    assert_eq!(text(&js, source), "true");
}
