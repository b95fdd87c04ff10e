//! Tasks that their executor numbers: holders are known by the number that they had when they took the lock. What asks for the number runs
//! within the steps of a wait, also between those of one for a condition variable.

#[path = "common/mod.rs"]
mod common;

use std::cell::Cell;
use std::panic;
use std::pin::pin;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard as StdGuard, mpsc};
use std::thread;
use std::time::Duration;

use common::{address_of, ended, poll, turn, until, until_waiting, waker};
use waitword::{Condvar, CondvarGuard, Mutex, MutexGuard, RwLock, RwLockUpgradableReadGuard};
use waitword_observe::{
    Actor, Finding, Holder, Lock, LockKind, Snapshot, State, check_lock_order, cycles, enable, identify,
    lock_order, snapshot,
};

thread_local! {
    /// The task that this thread polls.
    static TASK: Cell<Option<u64>> = const { Cell::new(None) };
    /// How often this thread will be asked for it until the release of a wait asks.
    static ASKED: Cell<u32> = const { Cell::new(0) };
    /// Whether it panics when it is asked.
    static PANICS: Cell<bool> = const { Cell::new(false) };
}

fn observed() -> StdGuard<'static, ()> {
    let turn = turn();
    identify(|| {
        assert!(!PANICS.get(), "this panic is caught");
        let left = ASKED.get();
        ASKED.set(left.saturating_sub(1));
        if left == 1 {
            within_a_release();
        }
        TASK.get()
    });
    enable();
    turn
}

fn polling<T>(task: u64, polls: impl FnOnce() -> T) -> T {
    TASK.set(Some(task));
    let output = polls();
    TASK.set(None);
    output
}

fn numbered(number: u64) -> Actor {
    Actor::Task { number, name: None }
}

fn holder(lock: &Mutex<i32>) -> Holder {
    let address = address_of(lock);
    snapshot().holders.unwrap().into_iter().find(|holder| holder.lock.0 == address).expect("held")
}

/// The first task has ended, and its guard is elsewhere.
#[test]
fn a_task_with_the_waker_of_one_that_has_ended_is_another() {
    let _turn = observed();
    let (lock, waker) = (Mutex::new(0), waker());
    let sent = polling(21, || ended(lock.lock_async(), &waker));
    let mut waits = pin!(lock.lock_async());
    assert!(polling(22, || poll(waits.as_mut(), &waker)).is_pending());
    assert_eq!(common::cycles(), []);
    let holder = holder(&lock);
    assert_eq!((holder.actor, holder.by_waker), (numbered(21), false));
    assert!(holder.sent_away, "its task has ended");
    let late = lock.lock_for(Duration::from_millis(1)).map(drop).unwrap_err();
    let text = late.held_by().unwrap().to_string();
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
    assert_ne!(holder(&lock).actor, numbered(31));
    assert!(holder(&lock).by_waker);
    drop(held);
}

/// A task moves from worker to worker with its guard: it is its own. Once another task has released one, those of the same line may be
/// elsewhere.
#[test]
fn a_line_whose_guards_other_tasks_release_is_one_that_acquired() {
    let _turn = observed();
    let lock = Mutex::new(0);
    let take = |task: u64| polling(task, || ended(lock.lock_async(), &waker()));
    for (releases, is_sent) in [(41, false), (42, true)] {
        let taken = take(41);
        assert!(!holder(&lock).sent_away);
        thread::scope(|scope| scope.spawn(|| polling(releases, || drop(taken))).join()).unwrap();
        let next = take(43);
        assert_eq!(holder(&lock).sent_away, is_sent, "released by {releases}");
        polling(43, || drop(next));
    }
}

static CHANGED: Condvar = Condvar::new();
static SEEN: StdMutex<Option<[Snapshot; 2]>> = StdMutex::new(None);

/// With the order of locks a wait asks twice: before it is enqueued, and when it releases its mutex, before the record is erased.
const OF_THE_RELEASE: u32 = 2;

fn within_a_release() {
    assert_eq!(CHANGED.notify_all(), 2);
    *SEEN.lock().unwrap() = Some([snapshot(), snapshot()]);
}

/// A wait for a condition variable is enqueued before it releases its mutex. A notify of all between the two moves a task to the queue of the
/// mutex, which it still holds by the records; a report made there must not say that it waits for itself.
///
/// What two reports say within the release of the mutex that `waits` has. Another waits before it, which the notify signals: so it is queued
/// for the mutex and not signalled.
fn within_the_release<G: CondvarGuard>(lock: impl FnOnce() -> G, waits: impl FnOnce()) -> Vec<Finding> {
    let _turn = observed();
    check_lock_order();
    let mut before = pin!(CHANGED.wait_async(lock()));
    assert!(poll(before.as_mut(), &waker()).is_pending());
    waits();
    let [first, second] = SEEN.lock().unwrap().take().expect("it has released the mutex");
    let is_moved = |lock: &&Lock| lock.name.kind == LockKind::Mutex && lock.waiters[0].state != State::Queued;
    let mutex = second.locks.iter().find(is_moved).expect("the one before was moved");
    assert!(second.holders_of(mutex.name.address).next().is_some(), "the record is there: {second:?}");
    cycles(&first, &second)
}

async fn awaits<G: CondvarGuard>(guard: G) {
    ASKED.set(OF_THE_RELEASE);
    CHANGED.wait_async(guard).await;
}

#[test]
fn a_task_that_releases_its_mutex_does_not_wait_for_itself() {
    let (borrowed, owned) = (Mutex::new(()), Arc::new(Mutex::new(())));
    let borrows = async { awaits(borrowed.lock_async().await).await };
    assert_eq!(within_the_release(|| borrowed.lock(), || smol::block_on(borrows)), []);
    let owns = async { awaits(owned.lock_owned_async().await).await };
    assert_eq!(within_the_release(|| owned.lock(), || smol::block_on(owns)), []);
}

/// The acquirer waits for what another holds, which has its guard and waits with that.
#[test]
fn a_sent_guard_that_is_released_keeps_nobody_from_going_on() {
    let (mutex, other) = (Mutex::new(()), Mutex::new(()));
    let found = within_the_release(
        || mutex.lock(),
        || {
            thread::scope(|scope| {
                let (sender, receiver) = mpsc::channel();
                let (locked, is_locked) = mpsc::channel();
                let [mutex, other] = [&mutex, &other];
                let releases = move || {
                    let _held = ended(other.lock_async(), &waker());
                    locked.send(()).unwrap();
                    let guard: MutexGuard<'_, ()> = receiver.recv().unwrap();
                    until_waiting("acquirer");
                    smol::block_on(awaits(guard));
                };
                scope.spawn(|| polling(81, releases));
                let acquirer = thread::Builder::new().name("acquirer".into());
                let acquires = move || {
                    is_locked.recv().unwrap();
                    sender.send(mutex.lock()).unwrap();
                    drop(other.lock());
                };
                acquirer.spawn_scoped(scope, acquires).unwrap().join().unwrap();
            });
        },
    );
    assert_eq!(found, []);
}

/// Within a wait it would leave a guard without its lock, within a release a lock without its holder.
#[test]
fn a_panic_of_the_function_unwinds_out_of_no_wait_and_no_release() {
    let _turn = observed();
    check_lock_order();
    let (mutex, rwlock, other) = (Mutex::new(0), RwLock::new(0), Mutex::new(0));
    let sent = polling(61, || ended(other.lock_async(), &waker()));
    let (locked, is_locked) = mpsc::channel();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            PANICS.set(true);
            let mut guard = mutex.lock();
            locked.send(()).unwrap();
            // The time is up while another holds the mutex.
            assert!(Condvar::new().wait_for(&mut guard, Duration::from_millis(1)).is_err());
            drop(guard);
            drop(sent);
            drop(RwLockUpgradableReadGuard::upgrade(rwlock.upgradable_read()));
        });
        is_locked.recv().unwrap();
        let held = mutex.lock();
        let is_awaited = |lock: &Lock| lock.name.address.0 == address_of(&mutex) && !lock.waiters.is_empty();
        until(|| waiter.is_finished() || snapshot().locks.iter().any(is_awaited));
        drop(held);
        waiter.join().unwrap();
    });
    assert!(!mutex.is_locked() && !other.is_locked() && rwlock.try_write().is_some());
}

/// It is not asked for its number meanwhile: still its guard is with nobody else, and the order in which it has locked counts.
#[test]
fn a_task_that_panics_releases_its_own_locks() {
    let _turn = observed();
    check_lock_order();
    let [first, second] = [0, 0].map(Mutex::new);
    let take = |mutex| ended(Mutex::lock_async(mutex), &waker());
    let known = lock_order().potential_deadlocks.len();
    polling(71, || {
        let fails = || {
            let _held = (take(&first), take(&second));
            panic!("on purpose");
        };
        panic::catch_unwind(panic::AssertUnwindSafe(fails)).unwrap_err();
    });
    polling(72, || {
        let _held = (take(&second), take(&first));
        assert!(!holder(&first).sent_away && !holder(&second).sent_away);
    });
    assert_eq!(lock_order().potential_deadlocks.len(), known + 1);
}

/// What panics within the panic hook aborts the process.
#[test]
fn a_thread_that_panics_is_not_asked() {
    static TAKEN: Mutex<u32> = Mutex::new(0);
    let _turn = observed();
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().name() == Some("panics") { *TAKEN.lock() += 1 } else { before(info) }
    }));
    let panics = || {
        PANICS.set(true);
        panic!("on purpose");
    };
    let thread = thread::Builder::new().name("panics".into()).spawn(panics).unwrap();
    assert!(thread.join().is_err());
    assert_eq!(*TAKEN.lock(), 1);
}
