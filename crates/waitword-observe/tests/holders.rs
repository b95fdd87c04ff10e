//! The records of holders and notifiers, of single locks.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use waitword::{
    AsyncLock, Condvar, Event, Mutex, OwnedMutexGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard,
    RwLock, Semaphore,
};
use waitword_observe::internals::{holders, notifies, start_holders};

/// Where one was, another is not said to have been notified.
#[test]
fn the_notify_of_an_object_that_is_gone_is_forgotten() {
    start_holders();
    let is_known = |at: usize| notifies().0.iter().any(|seen| seen.word == at);
    let (event, condvar) = (Box::new(Event::new()), Box::new(Condvar::new()));
    // The only field.
    let (at_event, at_condvar) = (std::ptr::from_ref(&*event).addr(), std::ptr::from_ref(&*condvar).addr());
    event.notify_one();
    condvar.notify_all();
    assert!(is_known(at_event) && is_known(at_condvar));
    drop((event, condvar));
    assert!(!is_known(at_event) && !is_known(at_condvar));
}

/// The record of a lock without a guard goes with its unlock by any thread, and with the next acquisition if a script has unlocked it.
#[test]
fn an_async_lock_has_one_holder_at_most() {
    start_holders();
    let word = Arc::new(AtomicI32::new(0));
    let lock = AsyncLock::on(Arc::clone(&word));
    let at = Arc::as_ptr(&word).addr();
    let lines = || -> Vec<u32> {
        let holders = holders().unwrap().seen;
        holders.iter().filter(|seen| seen.word == at).map(|seen| seen.site.line()).collect()
    };
    let line = line!() + 1;
    lock.lock();
    assert_eq!(lines(), [line]);
    thread::scope(|scope| scope.spawn(|| lock.unlock()).join().unwrap()).unwrap();
    assert_eq!(lines(), [0_u32; 0]);
    assert!(lock.try_lock());
    assert_eq!(lines(), [line + 4]);
    word.store(0, Ordering::Relaxed); // as a script unlocks it
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let line = line!() + 1;
        lock.lock_async().await;
        assert_eq!(lines(), [line]);
        lock.unlock().unwrap();
        lock.execute_locked(|| assert_eq!(lines(), [line + 3])).await;
        lock.execute_locked_async(async || assert_eq!(lines(), [line + 4])).await;
        assert_eq!(lines(), [0_u32; 0]);
    });
    assert_eq!(lock.unlock(), Err(waitword::NotLocked));
    assert!(lock.try_lock());
    let late = lock.lock_for(Duration::from_millis(1)).unwrap_err().held_by().unwrap();
    assert_eq!((late.site().unwrap().line(), late.may_be_elsewhere()), (line!() - 2, true));
}

/// Also after the lock was released for a while, and by whatever way it was acquired.
#[test]
fn an_owned_guard_is_always_one_that_may_be_elsewhere() {
    start_holders();
    let (mutex, rwlock) = (Arc::new(Mutex::new(0)), Arc::new(RwLock::new(0)));
    let is_sent = |at: usize, size: usize| {
        let holders = holders().unwrap().seen;
        let of: Vec<bool> = holders
            .iter()
            .filter(|seen| (at..at + size).contains(&seen.word))
            .map(|seen| seen.may_be_elsewhere)
            .collect();
        assert_eq!(of.len(), 1);
        of[0]
    };
    let mutex_is_sent = || is_sent(Arc::as_ptr(&mutex).addr(), size_of::<Mutex<i32>>());
    let rwlock_is_sent = || is_sent(Arc::as_ptr(&rwlock).addr(), size_of::<RwLock<i32>>());
    let soon = Duration::from_millis(1);

    let borrowed = mutex.lock();
    assert!(!mutex_is_sent());
    drop(borrowed);
    let runtime = Builder::new_current_thread().build().unwrap();
    let ways: [Box<dyn Fn() -> OwnedMutexGuard<i32>>; 5] = [
        Box::new(|| mutex.lock_owned()),
        Box::new(|| mutex.try_lock_owned().unwrap()),
        Box::new(|| mutex.lock_owned_for(soon).unwrap()),
        Box::new(|| runtime.block_on(mutex.lock_owned_async())),
        Box::new(|| runtime.block_on(mutex.lock_owned_async_for(soon)).unwrap()),
    ];
    for take in ways {
        let mut guard = take();
        assert!(mutex_is_sent());
        OwnedMutexGuard::unlocked(&mut guard, || ());
        assert!(mutex_is_sent());
        assert!(Condvar::new().wait_for(&mut guard, soon).is_err());
        assert!(mutex_is_sent());
        let part = OwnedMutexGuard::map(guard, |value| value);
        assert!(mutex_is_sent());
        drop(part);
    }

    let borrowed = rwlock.upgradable_read();
    assert!(!rwlock_is_sent());
    drop(borrowed);
    drop(rwlock.read_owned());
    let mut read = rwlock.upgradable_read_owned();
    assert!(rwlock_is_sent());
    OwnedRwLockUpgradableReadGuard::bump(&mut read);
    OwnedRwLockUpgradableReadGuard::unlocked(&mut read, || ());
    assert!(rwlock_is_sent());
    let write = OwnedRwLockUpgradableReadGuard::upgrade(read);
    assert!(rwlock_is_sent());
    let read = OwnedRwLockWriteGuard::downgrade(write);
    assert!(rwlock_is_sent());
    drop(read);

    let semaphore = Arc::new(Semaphore::new(1));
    let permit = semaphore.acquire_owned().unwrap();
    assert!(is_sent(Arc::as_ptr(&semaphore).addr(), size_of::<Semaphore>()));
    drop(permit);
}

/// Its guards have no room for the place of a record, and several read.
#[test]
fn a_line_whose_read_guards_of_lock_api_are_sent_is_one_that_acquired() {
    // Releases are looked at for blame.
    waitword_observe::enable();
    let lock = waitword::lock_api::RwLock::new(0);
    let at = std::ptr::from_ref(&lock).addr();
    let sent = || {
        let holders = holders().unwrap().seen;
        let of = holders.iter().filter(|seen| (at..at + size_of_val(&lock)).contains(&seen.word));
        of.map(|seen| seen.may_be_elsewhere).collect::<Vec<_>>()
    };
    let is_released_elsewhere = |guard| thread::scope(|scope| scope.spawn(|| drop(guard)).join()).unwrap();
    let (kept, other) = (|| lock.read(), || lock.read());
    let (one, two) = (kept(), other());
    is_released_elsewhere(two);
    drop(one);
    // Which of the two lines it was is not known.
    let (one, two) = (kept(), other());
    assert_eq!(sent(), [false, false]);
    drop((one, two));
    is_released_elsewhere(other());
    let (one, two) = (kept(), other());
    let mut sent = sent();
    sent.sort_unstable();
    assert_eq!(sent, [false, true]);
    drop((one, two));
}
