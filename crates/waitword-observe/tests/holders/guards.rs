//! The record of a hold goes the way of its guard.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use waitword::{
    Condvar, Mutex, MutexGuard, OwnedMutexGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard,
    RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard, Semaphore,
};
use waitword_observe::snapshot;

use crate::common::{NOBODY, held, holders_of, observed, recorded};

#[test]
fn a_record_goes_the_way_of_its_guard() {
    let _turn = recorded();
    let (mutex, rwlock) = (Mutex::new((0, 0)), RwLock::new(0));
    let guard = mutex.lock(); // locks
    assert_eq!(held(&mutex), ["Mutex <locks>"]);
    let mapped = MutexGuard::map(guard, |pair| &mut pair.0);
    assert_eq!(held(&mutex), ["Mutex <locks>"]);
    thread::scope(|scope| drop(scope.spawn(move || drop(mapped))));
    assert_eq!(held(&mutex), NOBODY, "released by another thread");
    let mut guard = mutex.try_lock().unwrap(); // tries
    assert_eq!(held(&mutex), ["Mutex <tries>"]);
    MutexGuard::unlocked(&mut guard, || assert_eq!(held(&mutex), NOBODY)); // locks again
    assert_eq!(held(&mutex), ["Mutex <locks again>"]);
    MutexGuard::unlock_fair(guard);
    assert_eq!(held(&mutex), NOBODY);

    let [one, other] = [rwlock.read(), rwlock.read()]; // reads twice
    assert_eq!(held(&rwlock), ["Read <reads twice>"; 2]);
    drop(one);
    assert_eq!(held(&rwlock), ["Read <reads twice>"]);
    drop(other);
    let read = rwlock.upgradable_read(); // may upgrade
    assert_eq!(held(&rwlock), ["UpgradableRead <may upgrade>"]);
    let write = RwLockUpgradableReadGuard::upgrade(read);
    assert_eq!(held(&rwlock), ["Write <may upgrade>"]);
    let read = RwLockWriteGuard::downgrade(write);
    assert_eq!(held(&rwlock), ["Read <may upgrade>"]);
    let part = RwLockReadGuard::map(read, |value| value);
    assert_eq!(held(&rwlock), ["Read <may upgrade>"]);
    drop(part);
    assert_eq!(held(&rwlock), NOBODY);
}

/// How many permits each record has, of all semaphores.
fn permits() -> Vec<u64> {
    let mut permits: Vec<u64> =
        snapshot().holders.expect("on").iter().filter_map(|holder| holder.permits).collect();
    permits.sort();
    permits
}

#[test]
fn a_record_of_permits_has_as_many_as_its_guard() {
    let _turn = recorded();
    // In a box, so that it is dropped where it was used.
    let semaphore = Box::new(Semaphore::new(5));
    let mut kept = semaphore.acquire_many(5).unwrap();
    let none = semaphore.acquire_many(0).unwrap();
    let two = kept.split(2).unwrap();
    assert_eq!(permits(), [2, 3]);
    drop(none);
    two.forget();
    assert_eq!(permits(), [2, 3]);
    semaphore.add_permits(1);
    assert_eq!(permits(), [1, 3]);
    kept.merge(semaphore.acquire().unwrap());
    assert_eq!(permits(), [1, 4]);
    drop(kept);
    assert_eq!(permits(), [1]);
    drop(semaphore);
    assert_eq!(permits(), [0; 0]);

    // One permit, which becomes more, and one again.
    let semaphore = Semaphore::new(5);
    let mut one = semaphore.acquire().unwrap();
    assert_eq!(permits(), [1]);
    one.merge(semaphore.acquire_many(2).unwrap());
    assert_eq!(permits(), [3]);
    let two = one.split(2).unwrap();
    assert_eq!(permits(), [1, 2]);
    drop((one, two));
    assert_eq!(permits(), [0; 0]);
}

/// Whether the guards of this lock may be elsewhere.
fn are_sent<T>(lock: &T) -> Vec<bool> {
    let mut sent: Vec<bool> = holders_of(lock).iter().map(|seen| seen.sent_away).collect();
    sent.sort_unstable();
    sent
}

/// Also after the lock was released for a while, and by whatever way it was acquired.
#[test]
fn an_owned_guard_is_always_one_that_may_be_elsewhere() {
    let _turn = recorded();
    let (mutex, rwlock) = (Arc::new(Mutex::new(0)), Arc::new(RwLock::new(0)));
    let soon = Duration::from_millis(1);

    let borrowed = mutex.lock();
    assert_eq!(are_sent(&*mutex), [false]);
    drop(borrowed);
    let runtime = Builder::new_current_thread().build().unwrap();
    let ways: [Box<dyn Fn() -> OwnedMutexGuard<i32>>; 4] = [
        Box::new(|| mutex.lock_owned()),
        Box::new(|| mutex.try_lock_owned().unwrap()),
        Box::new(|| runtime.block_on(mutex.lock_owned_async())),
        Box::new(|| runtime.block_on(mutex.lock_owned_async().timeout(soon)).unwrap()),
    ];
    for take in ways {
        let mut guard = take();
        assert_eq!(are_sent(&*mutex), [true]);
        OwnedMutexGuard::unlocked(&mut guard, || ());
        assert_eq!(are_sent(&*mutex), [true]);
        assert!(Condvar::new().wait_for(&mut guard, soon).is_err());
        assert_eq!(are_sent(&*mutex), [true]);
        let part = OwnedMutexGuard::map(guard, |value| value);
        assert_eq!(are_sent(&*mutex), [true]);
        drop(part);
    }

    let borrowed = rwlock.upgradable_read();
    assert_eq!(are_sent(&*rwlock), [false]);
    drop(borrowed);
    drop(rwlock.read_owned());
    let mut read = rwlock.upgradable_read_owned();
    assert_eq!(are_sent(&*rwlock), [true]);
    OwnedRwLockUpgradableReadGuard::bump(&mut read);
    OwnedRwLockUpgradableReadGuard::unlocked(&mut read, || ());
    assert_eq!(are_sent(&*rwlock), [true]);
    let write = OwnedRwLockUpgradableReadGuard::upgrade(read);
    assert_eq!(are_sent(&*rwlock), [true]);
    let read = OwnedRwLockWriteGuard::downgrade(write);
    assert_eq!(are_sent(&*rwlock), [true]);
    drop(read);

    let semaphore = Arc::new(Semaphore::new(1));
    let permit = semaphore.acquire_owned().unwrap();
    assert_eq!(are_sent(&*semaphore), [true]);
    drop(permit);
}

/// Its guards have no room for the place of a record, and several read.
#[test]
fn a_line_whose_read_guards_of_lock_api_are_sent_is_one_that_acquired() {
    // Releases are looked at for blame.
    let _turn = observed();
    let lock = waitword::lock_api::RwLock::new(0);
    let is_released_elsewhere = |guard| thread::scope(|scope| scope.spawn(|| drop(guard)).join()).unwrap();
    let (kept, other) = (|| lock.read(), || lock.read());
    let (one, two) = (kept(), other());
    is_released_elsewhere(two);
    drop(one);
    // Which of the two lines it was is not known.
    let (one, two) = (kept(), other());
    assert_eq!(are_sent(&lock), [false, false]);
    drop((one, two));
    is_released_elsewhere(other());
    let (one, two) = (kept(), other());
    assert_eq!(are_sent(&lock), [false, true]);
    drop((one, two));
}

/// Nobody tells that a borrowed guard is sent; that another thread changes how it holds the lock does.
#[test]
fn a_guard_that_another_thread_upgrades_is_elsewhere() {
    let _turn = recorded();
    let lock = RwLock::new(0);
    let changes = |read| RwLockUpgradableReadGuard::upgrade(read);
    let write = changes(lock.upgradable_read());
    assert_eq!(are_sent(&lock), [false], "it is here");
    drop(write);
    let read = lock.upgradable_read();
    assert_eq!(are_sent(&lock), [false]);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _write = changes(read);
            assert_eq!(are_sent(&lock), [true]);
        });
    });
}

/// A hold that seems to be an earlier one, by its lock, thread, line and time of 10 ms, is another: its number says so. As long as a hold
/// lasts it keeps its number, whatever snapshots see meanwhile.
#[test]
fn a_number_names_one_hold() {
    let _turn = recorded();
    let lock = RwLock::new(0);
    let number = || {
        let [seen] = &holders_of(&lock)[..] else { panic!("held once") };
        (seen.number, seen.mode)
    };
    let hold = || {
        let guard = lock.upgradable_read();
        let seen = [number(), number()];
        assert_eq!(seen[0], seen[1], "one hold");
        (guard, seen[0])
    };
    let (guard, first) = hold();
    drop(guard);
    let (guard, second) = hold();
    assert_ne!(second, first, "another");
    // In another way between, and as before in the end.
    let write = RwLockUpgradableReadGuard::upgrade(guard);
    let written = number();
    assert_eq!(number(), written);
    let guard = RwLockWriteGuard::downgrade_to_upgradable(write);
    let third = number();
    assert_eq!((third.1, third == second), (second.1, false));
    drop(guard);
}
