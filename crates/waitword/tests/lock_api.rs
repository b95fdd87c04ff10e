//! The locks under the guards of `lock_api`, of each version.

#[path = "../../waitword-core/tests/common/alone.rs"]
mod alone;
mod common;

/// The tests, for a version; and how it reads recursively, if it does.
macro_rules! tests {
    ($api:ident $(, $read_recursive:ident)?) => {
mod $api {
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{PlainCounter, Task, block_on, far, until};
use ::$api::{
    MappedMutexGuard, MutexGuard, RawMutex as _, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
};
use ::waitword::$api::{Mutex, RawMutex, RwLock};
use ::waitword::{Condvar, LockError, forbid_blocking};

#[test]
fn threads_one_at_a_time() {
    let counter = Arc::new(Mutex::new(PlainCounter::default()));
    let entered = AtomicU64::new(0);
    thread::scope(|scope| {
        for seed in 0..4 {
            let (counter, entered) = (&counter, &entered);
            scope.spawn(move || {
                for round in 0..2_000 {
                    let guard = match (seed + round) % 4 {
                        0 => counter.try_lock(),
                        1 => counter.try_lock_for(Duration::from_micros(round % 50)),
                        2 => counter.try_lock_until(far()),
                        _ => Some(counter.lock()),
                    };
                    let Some(mut guard) = guard else { continue };
                    guard.increment();
                    entered.fetch_add(1, Ordering::Relaxed);
                    match round % 3 {
                        0 => MutexGuard::bump(&mut guard),
                        1 => MutexGuard::unlock_fair(guard),
                        _ => drop(guard),
                    }
                }
            });
        }
    });
    assert_eq!(counter.lock().get(), entered.into_inner());
}

#[test]
fn timed_forms_give_up_and_never_too_early() {
    let mutex = Mutex::new(());
    let _guard = mutex.lock();
    for timeout in [0, 1, 15].map(Duration::from_millis) {
        let start = Instant::now();
        assert!(mutex.try_lock_for(timeout).is_none());
        assert!(start.elapsed() >= timeout);
        assert!(mutex.try_lock_until(start + timeout + timeout).is_none());
        assert!(start.elapsed() >= 2 * timeout);
    }
    let _must_not = forbid_blocking();
    assert!(mutex.try_lock_for(Duration::MAX).is_none(), "at once");
}

/// A bump that unwound would have its guard release the lock once more.
#[test]
fn where_blocking_is_forbidden_a_bump_does_nothing() {
    let (mutex, lock) = (Mutex::new(()), RwLock::new(()));
    thread::scope(|scope| {
        let (mut guard, mut writer) = (mutex.lock(), lock.write());
        let waiters = [scope.spawn(|| drop(mutex.lock())), scope.spawn(|| drop(lock.write()))];
        let _must_not = forbid_blocking();
        // Some of them before the threads wait, and some after it.
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {
            MutexGuard::bump(&mut guard);
            RwLockWriteGuard::bump(&mut writer);
        }
        let mut upgradable = RwLockWriteGuard::downgrade_to_upgradable(writer);
        RwLockUpgradableReadGuard::bump(&mut upgradable);
        let mut reader = RwLockUpgradableReadGuard::downgrade(upgradable);
        RwLockReadGuard::bump(&mut reader);
        assert!(mutex.try_lock().is_none() && lock.try_write().is_none());
        assert!(waiters.iter().all(|waiter| !waiter.is_finished()));
    });
    assert!(mutex.try_lock().is_some() && lock.try_write().is_some());
}

/// A guard is without its mutex, which another holds by then: it must not be dropped.
#[test]
fn a_mutex_that_cannot_be_locked_again_ends_the_process() {
    let name = concat!(stringify!($api), "::a_mutex_that_cannot_be_locked_again_ends_the_process");
    let child = crate::alone::alone(name, || {
        static MUTEX: Mutex<()> = Mutex::new(());
        let mut guard = MUTEX.lock();
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            MutexGuard::unlocked(&mut guard, || {
                std::mem::forget(MUTEX.lock());
                std::mem::forget(forbid_blocking());
            });
        }));
        std::process::exit(if unwound.is_err() { 0 } else { 1 });
    });
    let child = child.expect("it would have ended");
    let err = String::from_utf8_lossy(&child.stderr);
    assert!(!child.status.success() && err.contains("would block"), "{err}");
}

/// The guard, and with it the hold, has gone with the upgrade. Elsewhere a reader keeps it from succeeding.
#[test]
fn an_upgrade_that_unwinds_holds_nothing() {
    let lock = RwLock::new(());
    let reader = lock.read();
    let upgradable = lock.upgradable_read();
    let must_not = forbid_blocking();
    let Err(upgradable) = RwLockUpgradableReadGuard::try_upgrade(upgradable) else { panic!("a reader") };
    let timed = RwLockUpgradableReadGuard::try_upgrade_for(upgradable, Duration::MAX);
    let Err(upgradable) = timed else { panic!("it had to block") };
    assert!(lock.try_upgradable_read().is_none(), "it is still held");
    let unwound = catch_unwind(AssertUnwindSafe(|| drop(RwLockUpgradableReadGuard::upgrade(upgradable))));
    assert!(unwound.is_err() && lock.try_upgradable_read().is_some());
    drop((must_not, reader));
    assert!(lock.try_write().is_some());
}

/// The waker of the waiter that a release signals takes the mutex, which is free at this moment, and panics.
#[test]
fn a_release_whose_signal_panics_leaves_one_holder() {
    static MUTEX: Mutex<String> = Mutex::new(String::new());
    static STOLEN: std::sync::Mutex<Option<Guard>> = std::sync::Mutex::new(None);
    type Guard = MutexGuard<'static, RawMutex, String>;
    struct Steals;
    impl Wake for Steals {
        fn wake(self: Arc<Self>) {
            *STOLEN.lock().unwrap() = MUTEX.try_lock();
            panic!("the waker");
        }
    }
    let two_guards = |method: &str| {
        let stolen = STOLEN.lock().unwrap().take();
        assert!(stolen.is_none() || MUTEX.try_lock().is_none(), "{method}: two guards");
        assert!(stolen.is_none() || MUTEX.is_locked(), "{method}: a guard without its mutex");
    };
    type Release = fn(Guard, &dyn Fn(&str));
    let methods: [(&str, Release); 5] = [
        ("unlock", |guard, _| drop(guard)),
        ("unlock_fair", |guard, _| Guard::unlock_fair(guard)),
        ("unlock, lock", |mut guard, check| Guard::unlocked(&mut guard, || check("in between"))),
        ("unlock_fair, lock", |mut guard, check| Guard::unlocked_fair(&mut guard, || check("in between"))),
        ("bump", |mut guard, _| Guard::bump(&mut guard)),
    ];
    for (method, release) in methods {
        let changed = Condvar::new();
        let first = Task::queued(changed.wait_async(MUTEX.lock()));
        let mut second = Box::pin(changed.wait_async(MUTEX.lock()));
        let waker = Waker::from(Arc::new(Steals));
        assert!(second.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let guard = MUTEX.lock();
        // Both in the queue of the mutex; `first` is signalled, and the release signals the other in its place.
        assert_eq!(changed.notify_all(), 2);
        drop(first);
        let released = catch_unwind(AssertUnwindSafe(|| release(guard, &two_guards)));
        two_guards(method);
        assert!(released.is_ok(), "{method} unwound");
        drop(second);
        assert!(MUTEX.try_lock().is_some(), "{method}");
    }
}

#[test]
fn the_ecosystem_is_there() {
    assert_eq!(size_of::<RawMutex>(), 4);
    static PAIR: Mutex<(i32, i32)> = Mutex::new((1, 2));
    let second = MutexGuard::map(PAIR.lock(), |pair| &mut pair.1);
    let second = thread::spawn(move || *MappedMutexGuard::map(second, |second| second)).join().unwrap();
    assert_eq!((second, PAIR.is_locked()), (2, false));
    assert_eq!(format!("{:?}", RawMutex::INIT), "RawMutex { locked: false }");
}

#[test]
fn readers_and_writers() {
    const ROUNDS: u64 = 2_000;
    let counter = RwLock::new(PlainCounter::default());
    let written = AtomicU64::new(0);
    thread::scope(|scope| {
        for seed in 0..4 {
            let (counter, written) = (&counter, &written);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let timeout = Duration::from_micros(round % 50);
                    let writer = match (seed + round) % 6 {
                        0 => Some(counter.write()),
                        1 => counter.try_write_for(timeout),
                        2 => Some(RwLockUpgradableReadGuard::upgrade(counter.upgradable_read())),
                        3 => RwLockUpgradableReadGuard::try_upgrade_for(counter.upgradable_read(), timeout)
                            .ok(),
                        4 => {
                            let outer = counter.read();
                            let again = [outer.get() $(, counter.$read_recursive().get())?];
                            assert!(again.iter().all(|seen| *seen == outer.get()));
                            continue;
                        }
                        _ => {
                            counter.try_read_for(timeout).map(|reader| reader.get());
                            continue;
                        }
                    };
                    let Some(mut writer) = writer else { continue };
                    writer.increment();
                    let seen = (written.fetch_add(1, Ordering::Relaxed), writer.get());
                    if round % 5 == 0 {
                        RwLockWriteGuard::bump(&mut writer);
                        RwLockWriteGuard::unlock_fair(writer);
                        continue;
                    }
                    let mut upgradable = RwLockWriteGuard::downgrade_to_upgradable(writer);
                    assert_eq!((upgradable.get(), upgradable.get()), (seen.1, seen.0 + 1));
                    RwLockUpgradableReadGuard::bump(&mut upgradable);
                    if round % 5 == 1 {
                        RwLockUpgradableReadGuard::unlock_fair(upgradable);
                        continue;
                    }
                    let mut reader = RwLockUpgradableReadGuard::downgrade(upgradable);
                    RwLockReadGuard::bump(&mut reader);
                    assert!(reader.get() >= seen.1);
                    if round % 5 == 2 {
                        RwLockReadGuard::unlock_fair(reader);
                    }
                }
            });
        }
    });
    assert_eq!(counter.try_write().expect("it is free").get(), written.into_inner());
}

/// Threads and tasks take turns, each with one step of the other's between its own.
#[test]
fn a_condition_variable_takes_its_guards_from_threads_and_tasks() {
    const ROUNDS: u32 = 500;
    let (turn, changed) = (Mutex::new(0), Condvar::new());
    let is_even = |turn: &mut u32| turn.is_multiple_of(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..ROUNDS {
                let mut guard = turn.lock();
                match round % 3 {
                    0 => changed.wait_while(&mut guard, |turn| is_even(turn)),
                    1 => changed.wait_while_until(&mut guard, far(), |turn| is_even(turn)).unwrap(),
                    _ => {
                        while is_even(&mut guard) {
                            changed.wait(&mut guard);
                        }
                    }
                }
                *guard += 1;
                drop(guard);
                changed.notify_one();
            }
        });
        block_on(async {
            for round in 0..ROUNDS {
                let mut guard = match round % 2 {
                    0 => changed.wait_while_async(turn.lock(), |turn| !is_even(turn)).await,
                    _ => changed.wait_while_async(turn.lock(), |turn| !is_even(turn)).deadline(far()).await.0,
                };
                *guard += 1;
                drop(guard);
                changed.notify_one();
            }
        });
    });
    assert_eq!((turn.is_locked(), turn.into_inner()), (false, 2 * ROUNDS));
}

#[test]
fn a_wait_releases_its_guard_and_has_it_again() {
    let (mutex, changed) = (Mutex::new(1), Condvar::new());
    let mut wait = Task::new(changed.wait_async(mutex.lock()));
    assert!(mutex.is_locked(), "it was not polled");
    assert!(wait.poll().is_pending() && !mutex.is_locked());
    *mutex.lock() += 1;
    assert_eq!(changed.notify_all(), 1);
    let guard = wait.finish();
    assert!(*guard == 2 && mutex.is_locked());
    drop(guard);
    // Dropped while it waits, it holds nothing.
    let wait = Task::queued(changed.wait_async(mutex.lock()));
    drop(wait);
    assert!(!mutex.is_locked() && !changed.notify_one());
    // One whose time is up has it again, and so has one that must not block, or that panics.
    let mut guard = mutex.lock();
    assert_eq!(changed.wait_for(&mut guard, Duration::from_millis(1)), Err(LockError::TimedOut));
    assert!(mutex.is_locked());
    let must_not = forbid_blocking();
    assert!(catch_unwind(AssertUnwindSafe(|| changed.wait(&mut guard))).is_err());
    drop(must_not);
    assert!(mutex.is_locked());
    let other = Mutex::new(0);
    thread::scope(|scope| {
        // It retries, because it may find the short wait below.
        let wait = || changed.wait(&mut other.lock());
        scope.spawn(move || until(|| catch_unwind(AssertUnwindSafe(wait)).is_ok()));
        until(|| {
            other.try_lock().is_some()
                && catch_unwind(AssertUnwindSafe(|| changed.wait_for(&mut guard, Duration::ZERO))).is_err()
        });
        assert!(mutex.is_locked(), "others wait with another mutex");
        assert!(changed.notify_one());
    });
    drop(guard);
    assert!(!mutex.is_locked());
}
}
    };
}

tests!(lock_api, read_recursive);
#[cfg(feature = "lock_api_05")]
tests!(lock_api_05);

/// With 0.4, where `lock` may be that of `unlocked`, they abort.
#[cfg(feature = "lock_api_05")]
#[test]
fn what_would_block_unwinds_and_holds_nothing() {
    use std::panic::catch_unwind;
    use waitword::lock_api_05::{Mutex, RwLock};

    static MUTEX: Mutex<u8> = Mutex::new(0);
    static LOCK: RwLock<u8> = RwLock::new(0);
    let held = (MUTEX.lock(), LOCK.write());
    let must_not = waitword::forbid_blocking();
    let acquire: [fn(); 4] =
        [|| drop(MUTEX.lock()), || drop(LOCK.read()), || drop(LOCK.write()), || drop(LOCK.upgradable_read())];
    assert!(acquire.iter().all(|acquire| catch_unwind(acquire).is_err()));
    drop((must_not, held));
    assert!(MUTEX.try_lock().is_some() && LOCK.try_write().is_some());
}
