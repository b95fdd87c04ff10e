//! What parking_lot's tests do not check, and this adapter could do wrong.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, sync, thread};

use parking_lot::{Condvar, FairMutex, Mutex, Once, RwLock, RwLockUpgradableReadGuard};
use waitword_observe::{LockKind, check_lock_order, lock_order};

/// Held by each test, so that they run one at a time: [`until_queued`] sees the waiters of the whole process.
static TURN: sync::Mutex<()> = sync::Mutex::new(());

/// Waits until a thread of the process is queued on a lock of this kind.
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

/// As many as the list of differences in `lib.rs` says.
#[test]
fn eight_slow_readers_pass_a_writer_that_waits() {
    let _turn = TURN.lock();
    let lock = RwLock::new(());
    thread::scope(|scope| {
        let mut last = lock.read();
        scope.spawn(|| drop(lock.write()));
        until_queued(LockKind::RwLock);
        let mut passed = 0;
        while let Some(next) = lock.try_read() {
            last = next;
            passed += 1;
            thread::sleep(Duration::from_millis(1));
        }
        drop(last);
        assert_eq!(passed, 8);
    });
}

/// The drop of the first mutex informs the observer, so the second at the same address is not taken for it.
#[test]
fn a_mutex_in_the_place_of_another_makes_no_false_alarm() {
    let _turn = TURN.lock();
    check_lock_order();
    let (mutex, mut place) = (Mutex::new(()), Box::new(Mutex::new(())));
    thread::scope(|scope| drop(scope.spawn(|| drop((mutex.lock(), place.lock())))));
    *place = Mutex::new(());
    thread::scope(|scope| drop(scope.spawn(|| drop((place.lock(), mutex.lock())))));
    assert!(lock_order().potential_deadlocks.is_empty(), "{}", lock_order());
}

/// Calls `call` where blocking is forbidden. Returns `true` if it panicked.
fn panics_where_blocking_is_forbidden(call: impl FnOnce()) -> bool {
    let _forbidden = waitword::forbid_blocking();
    catch_unwind(AssertUnwindSafe(call)).is_err()
}

#[test]
fn where_blocking_is_forbidden_upgrades_and_condition_variables_and_once_panic() {
    let (lock, mutex, once) = (RwLock::new(()), Mutex::new(()), Once::new());
    let _reader = lock.read();
    let mut upgradable = lock.upgradable_read();
    assert!(panics_where_blocking_is_forbidden(|| upgradable.with_upgraded(|_| ())));
    assert!(panics_where_blocking_is_forbidden(|| drop(RwLockUpgradableReadGuard::upgrade(upgradable))));
    assert!(lock.try_upgradable_read().is_some(), "the guard has been dropped");
    let mut guard = mutex.lock();
    assert!(panics_where_blocking_is_forbidden(|| Condvar::new().wait(&mut guard)));
    assert!(!panics_where_blocking_is_forbidden(|| {
        let began = Instant::now();
        assert!(Condvar::new().wait_for(&mut guard, Duration::from_secs(60)).timed_out());
        assert!(lock.try_write_for(Duration::from_secs(60)).is_none());
        assert!(began.elapsed() < Duration::from_secs(60));
    }));
    assert!(panics_where_blocking_is_forbidden(|| once.call_once(|| once.call_once(|| ()))));
    assert!(panics_where_blocking_is_forbidden(|| Once::new().wait()));
}

#[test]
fn where_blocking_is_forbidden_a_lock_aborts() {
    let mut program = Command::new(env::current_exe().unwrap());
    let ended = program.args(["--exact", "--ignored", "a_lock_that_aborts"]).output().unwrap();
    assert!(!ended.status.success(), "{ended:?}");
}

#[test]
#[ignore = "for a process of its own"]
fn a_lock_that_aborts() {
    let mutex = Mutex::new(());
    let _guard = mutex.lock();
    assert!(panics_where_blocking_is_forbidden(|| drop(mutex.lock())));
}

/// Because the upgradable reader that holds the lock may wait for these readers.
#[test]
fn readers_pass_an_upgradable_reader_that_waits_for_another() {
    let _turn = TURN.lock();
    let lock = RwLock::new(());
    thread::scope(|scope| {
        let holder = lock.upgradable_read();
        scope.spawn(|| drop(lock.upgradable_read()));
        until_queued(LockKind::RwLock);
        let readers = scope.spawn(|| {
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(20) {
                drop(lock.read());
            }
        });
        readers.join().unwrap();
        drop(holder);
    });
    assert!(!lock.is_locked());
}
