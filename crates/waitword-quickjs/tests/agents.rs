//! When waits end: those of one agent, of agents on several threads, and of Rust threads among them on the same
//! words. What `waitAsync` returns: `tables/functions.js`. Every order of a few waiters:
//! `scripts/article/fifo-mixed.mjs` in the tests of `waitword-cli`.

mod common;

use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::thread;

use common::{agent, agent_on, text, until_queued};
use waitword_core::{Outcome, notify_all, notify_one, wait};
use waitword_quickjs::SharedBlock;

#[test]
fn a_script_notifies_a_rust_thread_that_waits() {
    let block = SharedBlock::new(8).unwrap();
    let js = agent_on(&block);
    let word = block.i32(4).unwrap();
    let waiter = thread::spawn(move || wait(&word, 0));
    until_queued(&block, 4, 1, &waiter);
    assert_eq!(text(&js, "i32[1] = 1; String(Atomics.notify(i32, 1))"), "1");
    assert_eq!(waiter.join().unwrap(), Outcome::Notified);
}

#[test]
fn run_does_not_sleep_for_waits_without_a_deadline() {
    let js = agent_on(&SharedBlock::new(8).unwrap());
    js.eval("t.js", "Atomics.waitAsync(i32, 0, 0)").unwrap();
    js.run().unwrap();
    assert_eq!(js.pending().len(), 1);
}

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
    let notified = thread::spawn(move || notify_all(&word)).join().unwrap();
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
fn an_agent_can_be_terminated_whether_it_is_blocked_or_never_waits() {
    let blocked =
        "try { Atomics.wait(i32, 0, 0); i32[1] = 1; } catch { i32[1] = 2; } finally { i32[1] = 3; }";
    let busy = "for (;;) { try { for (;;); } catch { i32[1] = 2; } }";
    for (source, queued) in [(blocked, 1), (busy, 0)] {
        let block = SharedBlock::new(8).unwrap();
        let (sender, receiver) = channel();
        let script = thread::spawn({
            let block = block.clone();
            move || {
                let js = agent_on(&block);
                sender.send(js.handle()).unwrap();
                let error = js.eval("t.js", source).unwrap_err();
                assert!(js.run().unwrap_err().is_uncatchable, "nothing more runs");
                error
            }
        });
        let handle = receiver.recv().unwrap();
        until_queued(&block, 0, queued, &script);
        handle.terminate();
        let error = script.join().unwrap();
        assert!(error.is_uncatchable, "{error}");
        let noted = block.i32(4).unwrap().load(Ordering::SeqCst);
        assert_eq!(noted, 0, "no catch and no finally of the script ran");
        assert_eq!(notify_one(block.i32(0).unwrap()), 0, "it left the queue");
    }
}

#[test]
fn an_agent_that_sleeps_can_be_terminated() {
    let block = SharedBlock::new(8).unwrap();
    let js = agent_on(&block);
    let promise = js.eval("t.js", "Atomics.waitAsync(i32, 0, 0).value").unwrap();
    let terminator = thread::spawn({
        let handle = js.handle();
        move || handle.terminate()
    });
    assert!(js.run_until_settled(&promise).unwrap_err().is_uncatchable);
    terminator.join().unwrap();
}
