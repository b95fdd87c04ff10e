//! A task that ends after it has sent its guard away, and another one that gets its waker: reports say that they may be two.

use std::pin::pin;
use std::sync::{Mutex as StdMutex, mpsc};
use std::thread;

use waitword::Mutex;
use waitword_observe::{Cycle, Finding, Unless, enable, report};

#[path = "common/polled.rs"]
mod polled;

use polled::{ended, poll, waker};

/// Reports are of the whole process.
static ONE_AT_A_TIME: StdMutex<()> = StdMutex::new(());

fn cycles() -> Vec<Cycle> {
    let cycle = |finding| match finding {
        Finding::Cycle(cycle) => Some(cycle),
        _ => None,
    };
    report().findings.into_iter().filter_map(cycle).collect()
}

/// Of a task alone nothing else is known than its waker. So it may be the holder, or not.
#[test]
fn a_task_with_the_waker_of_the_holder_may_be_another() {
    let _one = ONE_AT_A_TIME.lock();
    enable();
    let (lock, waker) = (Mutex::new(0), waker());
    let sent = ended(lock.lock_async(), &waker);
    let mut waits = pin!(lock.lock_async());
    assert!(poll(waits.as_mut(), &waker).is_pending());
    let cycles = cycles();
    let [cycle] = &cycles[..] else { panic!("{cycles:?}") };
    assert!(!cycle.is_certain() && cycle.unless.iter().any(|it| matches!(it, Unless::AnotherTask { .. })));
    let text = Finding::Cycle(cycle.clone()).to_string();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, task) = text.split_once("deadlock unless ").unwrap();
    let task = task.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    let unless = format!(
        "deadlock unless {task} has another way on (timeout, select!), or {task} is not the one that took the lock (identify tells)"
    );
    assert!(text.ends_with(&unless), "{text}");
    drop(sent);
}

/// A thread blocks for a lock of a task that another thread polls. An earlier task with its waker took another lock on this thread.
#[test]
fn the_thread_that_polled_an_earlier_task_need_not_poll_this_one() {
    let _one = ONE_AT_A_TIME.lock();
    enable();
    let (first, second, waker) = (Mutex::new(0), Mutex::new(0), waker());
    let (first, second, waker) = (&first, &second, &waker);
    let (began, begins) = mpsc::channel();
    thread::scope(|scope| {
        let sent = ended(first.lock_async(), waker);
        let taken_at = sent_at(first);
        // The times of holds are exact to 10 ms.
        let held = loop {
            let held = scope.spawn(|| ended(second.lock_async(), waker)).join().unwrap();
            if sent_at(second) > taken_at {
                break held;
            }
        };
        let this = thread::current();
        scope.spawn(move || {
            let is_this = |actor: &waitword::observe::Actor| matches!(actor, waitword::observe::Actor::Thread(thread) if thread.id() == this.id());
            while !waitword::observe::snapshot().iter().any(|waiter| is_this(&waiter.actor)) {
                thread::yield_now();
            }
            began.send(cycles()).unwrap();
            drop(held);
        });
        drop(second.lock());
        drop(sent);
    });
    assert_eq!(begins.recv().unwrap(), []);
}

/// When the lock was taken.
fn sent_at(lock: &Mutex<i32>) -> std::time::Instant {
    let holders = waitword_observe::internals::holders().expect("on").seen;
    holders.iter().find(|seen| seen.word == std::ptr::from_ref(lock).addr()).expect("held").since
}
