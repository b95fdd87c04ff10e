//! Tasks that their executor numbers: holders are known by the number that they had when they took the lock.

use std::cell::Cell;
use std::pin::pin;
use std::sync::{Mutex as StdMutex, MutexGuard as StdGuard};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use waitword::Mutex;
use waitword_observe::{Actor, Finding, Holder, enable, identify, report, snapshot};

#[path = "common/polled.rs"]
mod polled;

use polled::{ended, poll, waker};

thread_local! {
    /// The task that this thread polls.
    static TASK: Cell<Option<u64>> = const { Cell::new(None) };
}

static ONE_AT_A_TIME: StdMutex<()> = StdMutex::new(());

fn observed() -> StdGuard<'static, ()> {
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    identify(|| TASK.get());
    enable();
    turn
}

fn polling<T>(task: u64, polls: impl FnOnce() -> T) -> T {
    TASK.set(Some(task));
    let output = polls();
    TASK.set(None);
    output
}

fn holder(lock: &Mutex<i32>) -> Holder {
    let address = std::ptr::from_ref(lock).addr() as u64;
    snapshot().holders.unwrap().into_iter().find(|holder| holder.lock.0 == address).expect("held")
}

#[test]
fn a_task_that_took_a_free_lock_has_its_number() {
    let _turn = observed();
    let lock = Mutex::new(0);
    let held = polling(14, || ended(lock.lock_async(), &waker()));
    let holder = holder(&lock);
    assert_eq!((holder.actor, holder.by_waker), (Actor::Task { number: 14, name: None }, false));
    drop(held);
}

/// The first task has ended, and its guard is elsewhere.
#[test]
fn a_task_with_the_waker_of_one_that_has_ended_is_another() {
    let _turn = observed();
    let (lock, waker) = (Mutex::new(0), waker());
    let sent = polling(21, || ended(lock.lock_async(), &waker));
    let mut waits = pin!(lock.lock_async());
    assert!(polling(22, || poll(waits.as_mut(), &waker)).is_pending());
    let report = report();
    assert!(!report.findings.iter().any(|finding| matches!(finding, Finding::Cycle(_))), "{report}");
    let holder = holder(&lock);
    assert_eq!(holder.actor, Actor::Task { number: 21, name: None });
    assert!(holder.sent_away, "its task has ended");
    let text = lock.lock_for(Duration::from_millis(1)).map(drop).unwrap_err().to_string();
    assert!(text.contains("by task 21, taken at"), "{text}");
    drop(sent);
}

/// Where no task runs that has a number (in `block_on`, say), the waker's address says nothing of one that had it before.
#[test]
fn a_holder_without_a_number_is_not_a_task_that_has_one() {
    let _turn = observed();
    let (lock, other, waker) = (Mutex::new(0), Mutex::new(0), waker());
    let held = ended(lock.lock_async(), &waker);
    drop(polling(31, || ended(other.lock_async(), &waker)));
    assert_ne!(holder(&lock).actor, Actor::Task { number: 31, name: None });
    assert!(holder(&lock).by_waker);
    drop(held);
}

/// The first guard is released in another task. Those of the same line may be elsewhere from then on.
#[test]
fn a_line_whose_guards_other_tasks_release_is_one_that_acquired() {
    let _turn = observed();
    let lock = Mutex::new(0);
    let take = |task: u64, waker: &Waker| polling(task, || ended(lock.lock_async(), waker));
    let sent = take(41, &waker());
    assert!(!holder(&lock).sent_away);
    polling(42, || drop(sent));
    let next = take(43, &waker());
    assert!(holder(&lock).sent_away);
    polling(43, || drop(next));
}

/// A task moves from worker to worker with its guard: it is its own.
#[test]
fn a_line_whose_guards_their_task_releases_is_one_that_holds() {
    let _turn = observed();
    let lock = Mutex::new(0);
    let take = || ended(lock.lock_async(), &waker());
    let taken = polling(51, take);
    thread::scope(|scope| scope.spawn(|| polling(51, || drop(taken))).join()).unwrap();
    let next = polling(52, take);
    assert!(!holder(&lock).sent_away);
    polling(52, || drop(next));
}
