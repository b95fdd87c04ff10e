//! Real locks and threads that are not stuck: no alarm, or one that says what is not known.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex as StdMutex, mpsc};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use waitword::observe::Actor;
use waitword::observe::holders::Hold;
use waitword::{Mutex, MutexGuard, RwLock, Semaphore};
use waitword_observe::internals::{holders, start_holders, stop_holders};
use waitword_observe::{Finding, report, snapshot};

/// The switch is one for the process.
static ONE_AT_A_TIME: StdMutex<()> = StdMutex::new(());

fn cycles() -> Vec<String> {
    let findings = report().findings;
    let cycles = findings.iter().filter(|finding| matches!(finding, Finding::Cycle(_)));
    cycles.map(ToString::to_string).collect()
}

/// The holders of this word, by how and where.
fn holders_at<T>(lock: &T) -> Vec<(Hold, u32)> {
    let range = std::ptr::from_ref(lock).addr()..std::ptr::from_ref(lock).addr() + size_of::<T>().max(1);
    let seen = holders().expect("on").seen;
    seen.iter().filter(|seen| range.contains(&seen.word)).map(|seen| (seen.hold, seen.site.line())).collect()
}

#[test]
fn long_chains_that_move_on() {
    let _one = ONE_AT_A_TIME.lock();
    waitword_observe::enable();
    let locks: [Mutex<u64>; 5] = Default::default();
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        for first in 0..4 {
            let (locks, ends) = (&locks, &ends);
            // In one order: each waits for the next one, which goes on.
            scope.spawn(move || {
                while !ends.load(Ordering::Relaxed) {
                    let mut one = locks[first].lock();
                    let mut other = locks[first + 1].lock();
                    *one += 1;
                    *other += 1;
                }
            });
        }
        let start = Instant::now();
        let mut found = Vec::new();
        while start.elapsed() < Duration::from_secs(2) && found.is_empty() {
            found = cycles();
        }
        ends.store(true, Ordering::Relaxed);
        assert_eq!(found, [""; 0]);
    });
    assert!(locks.iter().all(|lock| holders_at(lock).is_empty()));
}

#[test]
fn a_cycle_with_a_deadline_in_it() {
    let _one = ONE_AT_A_TIME.lock();
    waitword_observe::enable();
    let locks = [Mutex::new(0), Mutex::new(0)];
    let meet = std::sync::Barrier::new(2);
    thread::scope(|scope| {
        let threads = [0, 1].map(|at| {
            let (locks, meet) = (&locks, &meet);
            scope.spawn(move || {
                let _held = locks[at].lock();
                meet.wait();
                match at {
                    0 => locks[1].lock_for(Duration::from_millis(300)).is_ok(),
                    _ => *locks[0].lock() == 0,
                }
            })
        });
        let mut found = Vec::new();
        while !threads.iter().any(|thread| thread.is_finished()) && found.is_empty() {
            found = cycles();
        }
        assert_eq!(found, [""; 0]);
    });
}

/// Each way of a guard, and what is recorded then.
#[test]
fn a_record_goes_the_way_of_its_guard() {
    let _one = ONE_AT_A_TIME.lock();
    start_holders();
    let (mutex, rwlock) = (Mutex::new((0, 0)), RwLock::new(0));
    let line = line!() + 1;
    let guard = mutex.lock();
    assert_eq!(holders_at(&mutex), [(Hold::Mutex, line)]);
    let mapped = MutexGuard::map(guard, |pair| &mut pair.0);
    assert_eq!(holders_at(&mutex), [(Hold::Mutex, line)]);
    thread::scope(|scope| drop(scope.spawn(move || drop(mapped))));
    assert_eq!(holders_at(&mutex), [], "released by another thread");
    let line = line!() + 1;
    let mut guard = mutex.try_lock().unwrap();
    assert_eq!(holders_at(&mutex), [(Hold::Mutex, line)]);
    let line = line!() + 1;
    MutexGuard::unlocked(&mut guard, || assert_eq!(holders_at(&mutex), []));
    assert_eq!(holders_at(&mutex), [(Hold::Mutex, line)]);
    MutexGuard::unlock_fair(guard);
    assert_eq!(holders_at(&mutex), []);

    let line = line!() + 1;
    let [one, other] = [rwlock.read(), rwlock.read()];
    assert_eq!(holders_at(&rwlock), [(Hold::Read, line); 2]);
    drop(one);
    assert_eq!(holders_at(&rwlock), [(Hold::Read, line)]);
    drop(other);
    let line = line!() + 1;
    let read = rwlock.upgradable_read();
    assert_eq!(holders_at(&rwlock), [(Hold::UpgradableRead, line)]);
    let write = waitword::RwLockUpgradableReadGuard::upgrade(read);
    assert_eq!(holders_at(&rwlock), [(Hold::Write, line)]);
    let read = waitword::RwLockWriteGuard::downgrade(write);
    assert_eq!(holders_at(&rwlock), [(Hold::Read, line)]);
    let part = waitword::RwLockReadGuard::map(read, |value| value);
    assert_eq!(holders_at(&rwlock), [(Hold::Read, line)]);
    drop(part);
    assert_eq!(holders_at(&rwlock), []);

    // In a box, so that it is dropped where it was used.
    let semaphore = Box::new(Semaphore::new(5));
    let permits_at = || -> Vec<usize> {
        let seen = holders().expect("on").seen;
        let mut permits: Vec<usize> =
            seen.iter().filter(|seen| seen.hold == Hold::Permits).map(|seen| seen.permits).collect();
        permits.sort();
        permits
    };
    let mut permits = semaphore.acquire_many(5).unwrap();
    let none = semaphore.acquire_many(0).unwrap();
    let two = permits.split(2).unwrap();
    assert_eq!(permits_at(), [2, 3]);
    drop(none);
    two.forget();
    assert_eq!(permits_at(), [2, 3]);
    semaphore.add_permits(1);
    assert_eq!(permits_at(), [1, 3]);
    permits.merge(semaphore.acquire().unwrap());
    assert_eq!(permits_at(), [1, 4]);
    drop(permits);
    assert_eq!(permits_at(), [1]);
    drop(semaphore);
    assert_eq!(permits_at(), [0_usize; 0]);

    // One permit, which becomes more, and one again.
    let semaphore = Semaphore::new(5);
    let mut one = semaphore.acquire().unwrap();
    assert_eq!(permits_at(), [1]);
    one.merge(semaphore.acquire_many(2).unwrap());
    assert_eq!(permits_at(), [3]);
    let two = one.split(2).unwrap();
    assert_eq!(permits_at(), [1, 2]);
    drop((one, two));
    assert_eq!(permits_at(), [0_usize; 0]);
}

#[test]
fn a_lock_at_the_address_of_one_that_was_leaked_is_another() {
    let _one = ONE_AT_A_TIME.lock();
    start_holders();
    let mut lock = Mutex::new(0);
    std::mem::forget(lock.lock());
    assert_eq!(holders_at(&lock).len(), 1, "nothing releases it");
    lock = Mutex::new(1);
    assert_eq!(holders_at(&lock), []);
}

/// Of records of one tick nobody knows which is younger.
fn a_tick_later() {
    let taken_at = || {
        let lock = Mutex::new(0);
        let _taken = lock.lock();
        let word = std::ptr::from_ref(&lock).addr();
        holders().unwrap().seen.iter().find(|seen| seen.word == word).unwrap().since
    };
    let now = taken_at();
    while taken_at() == now {
        thread::yield_now();
    }
}

/// The record of a lock that went without being dropped stays, until the next one in its place is seen to be taken.
#[test]
fn a_lock_in_the_place_of_one_that_was_never_dropped_is_another() {
    let _one = ONE_AT_A_TIME.lock();
    start_holders();
    let mut lock = ManuallyDrop::new(Mutex::new(0));
    std::mem::forget(lock.lock());
    lock = ManuallyDrop::new(Mutex::new(1));
    a_tick_later();
    let line = line!() + 1;
    let taken = lock.lock();
    assert_eq!(holders_at(&lock), [(Hold::Mutex, line)]);
    drop(taken);
    assert_eq!(holders_at(&lock), []);
}

#[test]
fn the_switch_is_turned_while_locks_are_held() {
    let _one = ONE_AT_A_TIME.lock();
    stop_holders();
    let [before, across, after] = [Mutex::new(0), Mutex::new(0), Mutex::new(0)];
    let taken_before = before.lock();
    start_holders();
    assert_eq!(holders_at(&before), [], "taken before it was turned on");
    let taken_across = across.lock();
    assert_eq!(holders_at(&across).len(), 1);
    stop_holders();
    assert!(holders().is_none());
    drop(taken_across);
    drop(taken_before);
    start_holders();
    assert!(holders_at(&across).is_empty() && holders_at(&before).is_empty(), "released while it was off");
    let taken = after.lock();
    stop_holders();
    start_holders();
    assert_eq!(holders_at(&after), [], "of an earlier turn");
    drop(taken);
    assert_eq!(holders_at(&after), []);
    drop(after.lock());
    assert_eq!(holders_at(&after), []);
}

#[test]
fn ten_thousand_locks_at_once() {
    let _one = ONE_AT_A_TIME.lock();
    waitword_observe::disable();
    waitword_observe::enable();
    let locks: Vec<Mutex<u8>> = (0..10_000).map(|_| Mutex::new(0)).collect();
    let guards: Vec<_> = locks.iter().map(Mutex::lock).collect();
    let seen = holders().expect("on");
    assert!(seen.seen.len() >= 10_000 && seen.unrecorded == 0, "{}, {}", seen.seen.len(), seen.unrecorded);
    let recording = snapshot().recording.expect("on");
    assert_eq!(recording.unrecorded, seen.unrecorded);
    drop(guards);
    let held = |lock: &Mutex<u8>| !holders_at(lock).is_empty();
    assert!(!locks.iter().take(100).any(held));
    waitword_observe::disable();
}

#[test]
fn a_thread_that_ended_with_a_lock_held_is_named() {
    let _one = ONE_AT_A_TIME.lock();
    waitword_observe::enable();
    let lock: &'static Mutex<u8> = Box::leak(Box::new(Mutex::new(0)));
    let (sender, receiver) = mpsc::channel();
    let leaves =
        thread::Builder::new().name("leaves".into()).spawn(move || sender.send(lock.lock()).unwrap());
    leaves.unwrap().join().unwrap();
    let seen =
        holders().expect("on").seen.into_iter().find(|seen| seen.word == std::ptr::from_ref(lock).addr());
    let seen = seen.expect("held still");
    assert_eq!(seen.on.as_ref().and_then(thread::Thread::name), Some("leaves"));
    assert!(seen.may_be_elsewhere, "its thread has ended");
    drop(receiver.recv().unwrap());
    assert!(holders_at(lock).is_empty());
}

/// Such a waker says nothing of who polls: all of them are the same.
#[test]
fn futures_that_are_polled_without_a_waker_are_not_one_task() {
    let _one = ONE_AT_A_TIME.lock();
    waitword_observe::enable();
    let lock = Mutex::new(0);
    let mut cx = Context::from_waker(Waker::noop());
    let taken = pin!(lock.lock_async()).poll(&mut cx);
    assert!(taken.is_ready());
    let mut waits = pin!(lock.lock_async());
    assert!(waits.as_mut().poll(&mut cx).is_pending());
    assert_eq!(cycles(), [""; 0]);
    // As with `try_lock`, it is its thread's.
    let seen = holders().expect("on").seen;
    let seen = seen.iter().find(|seen| seen.word == std::ptr::from_ref(&lock).addr()).expect("held");
    assert!(matches!(&seen.actor, Some(Actor::Thread(thread)) if thread.id() == thread::current().id()));
}
