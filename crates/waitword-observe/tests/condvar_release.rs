//! A wait for a condition variable is enqueued before it releases its mutex. A notify between the two moves it to the queue of the mutex, which
//! it still holds by the records; a report made there must not say that it waits for itself.

#[path = "common/polled.rs"]
mod polled;

use std::cell::Cell;
use std::pin::pin;
use std::sync::{Arc, Mutex as StdMutex, mpsc};
use std::thread;

use polled::{poll, waker};
use waitword::{Condvar, CondvarGuard, Mutex, lock_api};
use waitword_observe::{
    Actor, Finding, Lock, LockKind, Snapshot, State, check_lock_order, cycles, enable, identify, snapshot,
};

static ONE_AT_A_TIME: StdMutex<()> = StdMutex::new(());
static CHANGED: Condvar = Condvar::new();
static SEEN: StdMutex<Option<[Snapshot; 2]>> = StdMutex::new(None);

thread_local! {
    /// How often this thread will be asked which task it polls until the release of a wait asks.
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// With the order of locks a wait asks twice: before it is enqueued, and when it releases its mutex, before the record is erased.
const OF_THE_RELEASE: u32 = 2;

fn asked() -> Option<u64> {
    let left = ASKED.get();
    ASKED.set(left.saturating_sub(1));
    if left == 1 {
        assert_eq!(CHANGED.notify_all(), 2);
        *SEEN.lock().unwrap() = Some([snapshot(), snapshot()]);
    }
    None
}

/// What two reports say within the release of the mutex that `waits` has. Another waits before it, which the notify signals: so it is queued
/// for the mutex and not signalled.
fn within_the_release<G: CondvarGuard>(lock: impl FnOnce() -> G, waits: impl FnOnce()) -> Vec<Finding> {
    enable();
    check_lock_order();
    identify(asked);
    let mut before = pin!(CHANGED.wait_async(lock()));
    assert!(poll(before.as_mut(), &waker()).is_pending());
    waits();
    let [first, second] = SEEN.lock().unwrap().take().expect("it has released the mutex");
    let is_moved = |lock: &&Lock| lock.name.kind == LockKind::Mutex && lock.waiters[0].state != State::Queued;
    let mutex = second.locks.iter().find(is_moved).expect("the one before was moved");
    assert!(second.holders_of(mutex.name.address).next().is_some(), "the record is there: {second:?}");
    cycles(&first, &second)
}

fn blocks<G: CondvarGuard>(mut guard: G) {
    ASKED.set(OF_THE_RELEASE);
    CHANGED.wait(&mut guard);
}

async fn awaits<G: CondvarGuard>(guard: G) {
    ASKED.set(OF_THE_RELEASE);
    CHANGED.wait_async(guard).await;
}

#[test]
fn a_thread_that_releases_its_mutex_does_not_wait_for_itself() {
    let _one = ONE_AT_A_TIME.lock().unwrap();
    let (borrowed, owned, raw) = (Mutex::new(()), Arc::new(Mutex::new(())), lock_api::Mutex::new(()));
    assert_eq!(within_the_release(|| borrowed.lock(), || blocks(borrowed.lock())), []);
    assert_eq!(within_the_release(|| owned.lock(), || blocks(owned.lock_owned())), []);
    assert_eq!(within_the_release(|| raw.lock(), || blocks(raw.lock())), []);
}

#[test]
fn a_task_that_releases_its_mutex_does_not_wait_for_itself() {
    let _one = ONE_AT_A_TIME.lock().unwrap();
    let (borrowed, owned) = (Mutex::new(()), Arc::new(Mutex::new(())));
    let borrows = async { awaits(borrowed.lock_async().await).await };
    assert_eq!(within_the_release(|| borrowed.lock(), || smol::block_on(borrows)), []);
    let owns = async { awaits(owned.lock_owned_async().await).await };
    assert_eq!(within_the_release(|| owned.lock(), || smol::block_on(owns)), []);
}

/// The acquirer waits for what another holds, which has its guard and waits with that.
#[test]
fn a_sent_guard_that_is_released_keeps_nobody_from_going_on() {
    let _one = ONE_AT_A_TIME.lock().unwrap();
    let (mutex, other) = (Mutex::new(()), Mutex::new(()));
    let found = within_the_release(
        || mutex.lock(),
        || {
            thread::scope(|scope| {
                let (sender, receiver) = mpsc::channel();
                let (locked, is_locked) = mpsc::channel();
                let [mutex, other] = [&mutex, &other];
                scope.spawn(move || {
                    let _held = other.lock();
                    locked.send(()).unwrap();
                    let guard: waitword::MutexGuard<'_, ()> = receiver.recv().unwrap();
                    let waits = |actor: &Actor| actor.to_string().contains("acquirer");
                    while !snapshot()
                        .locks
                        .iter()
                        .flat_map(|lock| &lock.waiters)
                        .any(|waiter| waits(&waiter.actor))
                    {
                        thread::yield_now();
                    }
                    blocks(guard);
                });
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
