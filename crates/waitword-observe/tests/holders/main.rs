//! Who holds a lock, as records, reports and errors say: of locks that go, of guards that change and are sent, of tasks, and of upgrades.

#[path = "../common/mod.rs"]
mod common;
mod guards;
mod tasks;
mod timed_out;
mod upgrades;

use std::mem::{self, ManuallyDrop};
use std::pin::pin;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use common::{NOBODY, a_tick_later, address_of, held, holders_of, leak, observed, poll, recorded, turn};
use tokio::runtime::Builder;
use waitword::word::AsyncLock;
use waitword::{Condvar, Event, Mutex, NotLocked};
use waitword_core::wait_async;
use waitword_observe::internals::{last_notify, start_holders, stop_holders};
use waitword_observe::{Actor, Ended, Seen, Trace, add_source, add_trace_source, snapshot, traced};

/// Where one was, another is not said to have been notified.
#[test]
fn the_notify_of_an_object_that_is_gone_is_forgotten() {
    let _turn = recorded();
    let is_known = |at: u64| last_notify(at as usize).is_some();
    let (event, condvar) = (Box::new(Event::new()), Box::new(Condvar::new()));
    // The only field.
    let (at_event, at_condvar) = (address_of(&*event), address_of(&*condvar));
    event.notify_one();
    condvar.notify_all();
    assert!(is_known(at_event) && is_known(at_condvar));
    drop((event, condvar));
    assert!(!is_known(at_event) && !is_known(at_condvar));
}

/// The record of a lock without a guard goes with its unlock by any thread, and with the next acquisition if a script has unlocked it.
#[test]
fn an_async_lock_has_one_holder_at_most() {
    let _turn = recorded();
    let word = Arc::new(AtomicI32::new(0));
    let lock = AsyncLock::on(Arc::clone(&word));
    lock.lock(); // locks
    assert_eq!(held(&*word), ["AsyncLock <locks>"]);
    thread::scope(|scope| scope.spawn(|| lock.unlock()).join().unwrap()).unwrap();
    assert_eq!(held(&*word), NOBODY);
    assert!(lock.try_lock()); // tries
    assert_eq!(held(&*word), ["AsyncLock <tries>"]);
    word.store(0, Ordering::Relaxed); // as a script unlocks it
    Builder::new_current_thread().build().unwrap().block_on(async {
        lock.lock_async().await; // awaits
        assert_eq!(held(&*word), ["AsyncLock <awaits>"]);
        lock.unlock().unwrap();
        lock.execute_locked(|| assert_eq!(held(&*word), ["AsyncLock <runs>"])).await; // runs
        lock.execute_locked_async(async || assert_eq!(held(&*word), ["AsyncLock <runs async>"])).await; // runs async
        assert_eq!(held(&*word), NOBODY);
    });
    assert_eq!(lock.unlock(), Err(NotLocked));
    assert!(lock.try_lock());
    let late = lock.lock_for(Duration::from_millis(1)).unwrap_err().held_by().unwrap();
    assert_eq!((late.site().unwrap().line(), late.may_be_elsewhere()), (line!() - 2, true));
}

#[test]
fn a_lock_at_the_address_of_one_that_was_leaked_is_another() {
    let _turn = recorded();
    let mut lock = Mutex::new(0);
    mem::forget(lock.lock());
    assert_eq!(holders_of(&lock).len(), 1, "nothing releases it");
    lock = Mutex::new(1);
    assert_eq!(held(&lock), NOBODY);
}

/// The record of a lock that went without being dropped stays, until the next one in its place is seen to be taken.
#[test]
fn a_lock_in_the_place_of_one_that_was_never_dropped_is_another() {
    let _turn = recorded();
    let mut lock = ManuallyDrop::new(Mutex::new(0));
    mem::forget(lock.lock());
    lock = ManuallyDrop::new(Mutex::new(1));
    a_tick_later();
    let taken = lock.lock(); // the second
    assert_eq!(held(&lock), ["Mutex <the second>"]);
    drop(taken);
    assert_eq!(held(&lock), NOBODY);
}

#[test]
fn the_switch_is_turned_while_locks_are_held() {
    let _turn = turn();
    stop_holders();
    let [before, across, after] = [Mutex::new(0), Mutex::new(0), Mutex::new(0)];
    let taken_before = before.lock();
    start_holders();
    assert_eq!(held(&before), NOBODY, "taken before it was turned on");
    let taken_across = across.lock();
    assert_eq!(held(&across).len(), 1);
    stop_holders();
    assert!(snapshot().holders.is_none());
    drop((taken_across, taken_before));
    start_holders();
    assert_eq!([held(&across), held(&before)], [NOBODY; 2], "released while it was off");
    let taken = after.lock();
    stop_holders();
    start_holders();
    assert_eq!(held(&after), NOBODY, "of an earlier turn");
    drop(taken);
    assert_eq!(held(&after), NOBODY);
    drop(after.lock());
    assert_eq!(held(&after), NOBODY);
}

#[test]
fn a_thread_that_ended_with_a_lock_held_is_named() {
    let _turn = observed();
    let lock = leak(Mutex::new(0));
    let (sender, receiver) = mpsc::channel();
    let leaves = thread::Builder::new().name("leaves".into());
    leaves.spawn(move || sender.send(lock.lock()).unwrap()).unwrap().join().unwrap();
    let [seen] = &holders_of(lock)[..] else { panic!("held still") };
    assert!(matches!(&seen.actor, Actor::Thread { name: Some(name), .. } if name == "leaves"));
    assert!(!seen.sent_away, "its thread has ended");
    let is_it = |ended: &Ended| ended.actor == seen.actor;
    assert!(snapshot().ended.iter().any(is_it));
    drop(receiver.recv().unwrap());
    assert_eq!(held(lock), NOBODY);
    assert!(!snapshot().ended.iter().any(is_it));
}

#[test]
fn a_source_that_panics_costs_nobody_their_snapshot_or_trace() {
    let _turn = turn();
    let _looks = add_source(|| panic!("a source panics as it looks"));
    let _completes = add_source(|| Seen {
        waiters: Vec::new(),
        complete: Box::new(|_, _| panic!("a source panics as it completes a snapshot")),
    });
    let word = AtomicU32::new(0);
    let mut waiting = pin!(wait_async(&word, 0));
    assert!(poll(waiting.as_mut(), Waker::noop()).is_pending());
    for _ in 0..2 {
        assert_eq!(snapshot().waiters(), 1);
    }
    let _panics = add_trace_source(|_, _| panic!("a source panics as it completes a trace"));
    let _adds = add_trace_source(|trace: &mut Trace, _| trace.dropped += 3);
    assert_eq!(traced(true).finish().dropped, 3);
}
