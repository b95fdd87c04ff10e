//! Agents on several threads, and Rust threads among them, on the same words.

mod common;

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};

use common::{agent_on, text, until_queued};
use waitword_core::{Outcome, notify_one, wait};
use waitword_quickjs::{AgentHandle, JsAgent, JsError, SharedBlock};

/// How an agent waits for the word at index 0.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Blocking,
    Async,
}

/// Starts an agent that waits on a thread of its own, and returns when it is queued as the `count`th.
fn start_waiter(block: &SharedBlock, kind: Kind, count: usize) -> Receiver<String> {
    let (sender, receiver) = channel();
    let waiter = thread::spawn({
        let block = block.clone();
        move || {
            let js = agent_on(&block);
            let outcome = match kind {
                Kind::Blocking => js.eval("w.js", "Atomics.wait(i32, 0, 0)").unwrap(),
                Kind::Async => {
                    let promise = js.eval("w.js", "Atomics.waitAsync(i32, 0, 0).value").unwrap();
                    js.run_until_settled(&promise).unwrap()
                }
            };
            let _ = sender.send(outcome.as_str().unwrap().to_owned());
        }
    });
    until_queued(block, 0, count, &waiter);
    receiver
}

#[test]
fn blocking_and_async_waiters_of_all_agents_stand_in_one_line() {
    for len in 1..=5 {
        for pattern in 0..1_u32 << len {
            let kinds = (0..len).map(|i| if pattern >> i & 1 == 0 { Kind::Blocking } else { Kind::Async });
            let block = SharedBlock::new(8).unwrap();
            let notifier = agent_on(&block);
            let waiters: Vec<_> =
                (1..).zip(kinds.clone()).map(|(count, kind)| start_waiter(&block, kind, count)).collect();
            for (place, waiter) in waiters.iter().enumerate() {
                assert_eq!(text(&notifier, "String(Atomics.notify(i32, 0, 1))"), "1");
                assert_eq!(waiter.recv().unwrap(), "ok");
                let others_wait = waiters[place + 1..].iter().all(|other| other.try_recv().is_err());
                assert!(
                    others_wait,
                    "{:?}: the one at place {place} was not the first",
                    kinds.collect::<Vec<_>>()
                );
            }
            assert_eq!(text(&notifier, "String(Atomics.notify(i32, 0))"), "0");
        }
    }
}

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

/// What a script was ended with, and what it noted at index 1.
type Ended = (JsError, i32);

/// Runs a script on a thread of its own; `then` gets its handle and returns when it is to be joined.
fn terminated(
    block: &SharedBlock,
    source: &'static str,
    then: impl FnOnce(AgentHandle, &JoinHandle<Ended>),
) -> Ended {
    let (sender, receiver) = channel();
    let script = thread::spawn({
        let block = block.clone();
        move || {
            let js: JsAgent = agent_on(&block);
            sender.send(js.handle()).unwrap();
            let error = js.eval("t.js", source).unwrap_err();
            assert!(js.run().unwrap_err().is_uncatchable, "nothing more runs");
            // What the script noted in memory that outlives it.
            let noted = block.i32(4).unwrap().load(Ordering::SeqCst);
            (error, noted)
        }
    });
    then(receiver.recv().unwrap(), &script);
    script.join().unwrap()
}

#[test]
fn an_agent_that_is_blocked_can_be_terminated() {
    let block = SharedBlock::new(8).unwrap();
    let source = "try { Atomics.wait(i32, 0, 0); i32[1] = 1; } catch { i32[1] = 2; } finally { i32[1] = 3; }";
    let (error, noted) = terminated(&block, source, |handle, script| {
        until_queued(&block, 0, 1, script);
        handle.terminate();
    });
    assert!(error.is_uncatchable, "{error}");
    assert_eq!(noted, 0, "no catch and no finally of the script ran");
    assert_eq!(notify_one(block.i32(0).unwrap()), 0, "it left the queue");
}

#[test]
fn an_agent_that_never_waits_can_be_terminated() {
    let block = SharedBlock::new(8).unwrap();
    let (error, noted) =
        terminated(&block, "for (;;) { try { for (;;); } catch { i32[1] = 2; } }", |handle, _| {
            handle.terminate()
        });
    assert!(error.is_uncatchable, "{error}");
    assert_eq!(noted, 0);
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
