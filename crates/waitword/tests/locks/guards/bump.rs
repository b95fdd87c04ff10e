//! The bump: the head waiter has its turn, and the guard is as good after it as before, however it ends.

use std::future::Future;
use std::sync::Mutex as Turns;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Instant;

use waitword::*;

use super::{On, on};
use crate::common::{Panics, Task, block_on, forbidden, until};
use crate::rows;

/// A lock, and what one kind of its guards can do.
struct Case<'a, L, G> {
    lock: &'a On<L>,
    acquire: &'a dyn Fn() -> G,
    bump: fn(&mut G),
    unlock_fair: fn(G),
}

macro_rules! of_each_guard {
    ($test:ident, $lock:ident.$acquire:ident, $Guard:ident) => {
        super::$test(super::Case {
            lock: &$lock,
            acquire: &|| $lock.$acquire(),
            bump: |guard| $Guard::bump(guard),
            unlock_fair: |guard| $Guard::unlock_fair(guard),
        });
    };
}

for_each_guard! { of_each_guard:
    the_head_waiter_gets_its_turn,
    nothing_happens_if_the_queue_is_empty,
    where_blocking_is_forbidden_the_guard_stays,
    if_the_waker_of_the_next_panics_the_guard_stays,
    a_fair_release_hands_the_lock_to_the_queue,
}

fn a_fair_release_hands_the_lock_to_the_queue<L, G>(Case { lock, acquire, unlock_fair, .. }: Case<L, G>) {
    let guard = acquire();
    let mut first = Task::queued(lock.waits());
    unlock_fair(guard);
    assert!(first.is_woken() && !lock.is_free(), "it is reserved");
    let mut barging = Task::queued(lock.waits());
    let Poll::Ready(held) = first.poll() else { panic!("it was reserved for it") };
    assert!(barging.poll().is_pending());
    drop(held);
    drop(barging.finish());
    unlock_fair(acquire());
    assert!(lock.is_free(), "there was no waiter");
}

/// The waiter behind the head may get the lock after the bumping holder, which is a barging acquirer by then.
fn the_head_waiter_gets_its_turn<L: Send + Sync, G>(Case { lock, acquire, bump, .. }: Case<L, G>) {
    let turns = Turns::new(Vec::new());
    let turn = |name| turns.lock().unwrap().push(name);
    let guard = acquire();
    let [first, second] = ["first", "second"].map(|name| (name, lock.queued(Waker::noop())));
    thread::scope(|scope| {
        let mut guard = guard;
        // The second runs first, and has to wait.
        for (name, queued) in [second, first] {
            scope.spawn(move || {
                let guard = block_on(queued);
                turn(name);
                drop(guard);
            });
        }
        let start = Instant::now();
        bump(&mut guard);
        turn("bumping holder");
        assert!(!lock.is_free());
        // If its thread is so slow, it is passed over.
        let turns = turns.lock().unwrap();
        assert!(turns[0] == "first" || start.elapsed() >= STALL_TIMEOUT, "{turns:?}");
    });
    assert_eq!(turns.into_inner().unwrap().len(), 3);
    assert!(lock.is_free());
}

/// It would panic if it gave anything away.
fn nothing_happens_if_the_queue_is_empty<L: Send + Sync, G>(Case { lock, acquire, bump, .. }: Case<L, G>) {
    let mut guard = acquire();
    let queued = lock.queued(Waker::noop());
    let must_not = forbid_blocking();
    drop(queued);
    // As far as the word knows there is a waiter.
    bump(&mut guard);
    drop((guard, must_not));
    let mut guard = acquire();
    let _must_not = forbid_blocking();
    bump(&mut guard);
    assert!(!lock.is_free());
    drop(guard);
    assert!(lock.is_free());
}

fn where_blocking_is_forbidden_the_guard_stays<L: Send + Sync, G>(
    Case { lock, acquire, bump, .. }: Case<L, G>,
) {
    let mut guard = acquire();
    let queued = lock.queued(Waker::noop());
    let (message, _) = forbidden(|| bump(&mut guard));
    assert!(message.contains("`unlock_fair`") && message.contains("_async`"), "{message}");
    assert!(!lock.is_free());
    drop(guard);
    drop(block_on(queued));
    assert!(lock.is_free());
}

fn if_the_waker_of_the_next_panics_the_guard_stays<L: Send + Sync, G>(
    Case { lock, acquire, bump, .. }: Case<L, G>,
) {
    let mut guard = acquire();
    let mut queued = lock.queued(&Panics::waker());
    bump(&mut guard);
    assert!(!lock.is_free(), "there is a guard");
    drop(guard);
    let Poll::Ready(guard) = queued.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("it is free")
    };
    drop(guard);
    assert!(lock.is_free());
}

#[test]
fn a_reader_gives_an_upgrade_its_turn() {
    let lock = RwLock::new(0);
    let mut reader = lock.read();
    let mut upgrade = Box::pin(RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read()));
    assert!(upgrade.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    thread::scope(|scope| {
        scope.spawn(move || *block_on(upgrade) += 1);
        RwLockReadGuard::bump(&mut reader);
        assert_eq!(*reader, 1);
    });
}

/// A release of one of two readers, after which no new reader gets in. Once more if the watchdog may have skipped the writer, on a slow
/// machine.
#[test]
fn a_fair_release_of_readers_is_for_the_queue() {
    until(|| {
        let lock = RwLock::new(0);
        let (one, other) = (lock.read(), lock.read());
        let mut writer = Task::queued(lock.write_async());
        assert!(lock.try_read().is_some(), "no acquirer has come yet");
        let released = Instant::now();
        let is_late = || released.elapsed() >= STALL_TIMEOUT;
        RwLockReadGuard::unlock_fair(one);
        let is_refused = lock.try_read().is_none();
        let mut reader = Task::new(lock.read_async());
        let waits = reader.poll().is_pending();
        if is_late() {
            return false;
        }
        assert!(is_refused && waits);
        assert!(writer.poll().is_pending(), "the other one reads");
        RwLockReadGuard::unlock_fair(other);
        let waits = reader.poll().is_pending();
        if is_late() {
            return false;
        }
        assert!(waits, "behind the writer");
        let Poll::Ready(written) = writer.poll() else { panic!("its turn") };
        drop(written);
        drop(reader.finish());
        true
    });
}
