//! What the original's tests do not ask, and this adapter could get wrong.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync;
use std::thread;

use parking_lot::{Condvar, FairMutex, Mutex, Once};
use waitword_observe::LockKind;

/// One test at a time, for [`until_queued`].
static TURN: sync::Mutex<()> = sync::Mutex::new(());

/// Until a thread of the process waits for such a lock.
fn until_queued(kind: LockKind) {
    while !waitword_observe::snapshot().locks.iter().any(|lock| lock.name.kind == kind) {
        thread::yield_now();
    }
}

#[test]
fn a_fair_mutex_goes_to_the_thread_that_waits() {
    let _turn = TURN.lock();
    let turns = FairMutex::new(Vec::new());
    thread::scope(|scope| {
        let mut first = turns.lock();
        scope.spawn(|| turns.lock().push("waited"));
        until_queued(LockKind::Mutex);
        first.push("first");
        drop(first);
        turns.lock().push("barged");
    });
    assert_eq!(turns.into_inner(), ["first", "waited", "barged"]);
}

#[test]
fn a_wait_with_another_mutex_panics_and_leaves_its_mutex_held_once() {
    let _turn = TURN.lock();
    let (mutex, other, condvar) = (Mutex::new(false), Mutex::new(()), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| condvar.wait_while(&mut mutex.lock(), |done| !*done));
        until_queued(LockKind::Condvar);
        let mut guard = other.lock();
        assert!(catch_unwind(AssertUnwindSafe(|| condvar.wait(&mut guard))).is_err());
        assert!(other.is_locked());
        drop(guard);
        assert!(!other.is_locked());
        *mutex.lock() = true;
        assert!(condvar.notify_one());
    });
}

#[test]
fn a_caller_may_name_the_type_of_its_closure() {
    Once::new().call_once::<fn()>(|| ());
    Condvar::new().wait_while::<bool, fn(&mut bool) -> bool>(&mut Mutex::new(false).lock(), |waits| *waits);
}
