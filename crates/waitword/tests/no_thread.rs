//! The system has no thread for the watchdog: releases do not notice, and one is started later. Alone in its process, whose memory it limits.

#![cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

use common::{Task, until};
use waitword::word::{AsyncLock, Table};
use waitword::*;

#[repr(C)]
struct Limit {
    now: u64,
    most: u64,
}

unsafe extern "C" {
    fn getrlimit(what: i32, limit: *mut Limit) -> i32;
    fn setrlimit(what: i32, limit: *const Limit) -> i32;
}

const RLIMIT_AS: i32 = 9;

fn limit(memory: impl FnOnce(u64) -> u64) {
    let mut limit = Limit { now: 0, most: 0 };
    // SAFETY: both are given a struct of the layout that they expect on a 64-bit system.
    unsafe {
        assert_eq!(getrlimit(RLIMIT_AS, &mut limit), 0);
        limit.now = memory(limit.most);
        assert_eq!(setrlimit(RLIMIT_AS, &limit), 0);
    }
}

/// Runs `without` while no thread can be started: not even one on the stack of a thread that has ended.
fn without_new_threads(without: impl FnOnce()) {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
    limit(|_| pages * 4096 + (1 << 20));
    let mut started = Vec::new();
    while let Ok(thread) = Builder::new().spawn(thread::park) {
        started.push(thread);
    }
    // A backtrace needs memory.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    without();
    limit(|most| most);
    std::panic::set_hook(hook);
    started.iter().for_each(|thread| thread.thread().unpark());
}

/// No waiter ends while this is held, for its stack would do for another thread.
static STAY: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// A release that signals a waiter and leaves one behind it, for which the watchdog is wanted; and the waiters.
type Release = (&'static str, Box<dyn FnOnce()>, [JoinHandle<()>; 2]);

/// Prepares releases, while there are threads. Each has a lock of its own.
macro_rules! releases {
    ($list:ident: $Lock:ty, $wait:ident; $($acquire:ident, $release:expr;)+) => {$(
        let lock: &'static $Lock = Box::leak(Box::new(<$Lock>::new(0)));
        let guard = lock.$acquire();
        let waiters = [(); 2].map(|()| thread::spawn(|| {
            drop(lock.$wait());
            let _stays = STAY.lock();
        }));
        let release = Box::new(move || { let _what_is_left = $release(guard); });
        $list.push((stringify!($Lock: $acquire, $release), release, waiters));
    )+};
}

/// Prepares those of the locks, or of a version of `lock_api`.
macro_rules! all_releases {
    ($list:ident: {$($locks:tt)+} {$($guards:tt)+} $(, $read_recursive:ident)? $(; $with_upgraded:ident)?) => {{
        use $($locks)+::{Mutex, RwLock};
        use $($guards)+::{MutexGuard, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};
        releases! { $list: Mutex<u8>, lock;
            lock, drop;
            lock, MutexGuard::unlock_fair;
            lock, |mut guard| MutexGuard::bump(&mut guard);
            lock, |mut guard| MutexGuard::unlocked(&mut guard, || ());
            lock, |mut guard| MutexGuard::unlocked_fair(&mut guard, || ());
        }
        releases! { $list: RwLock<u8>, write;
            read, drop;
            read, RwLockReadGuard::unlock_fair;
            read, |mut guard| RwLockReadGuard::bump(&mut guard);
            read, |mut guard| RwLockReadGuard::unlocked(&mut guard, || ());
            $($read_recursive, drop;)?
            write, drop;
            write, RwLockWriteGuard::unlock_fair;
            write, |mut guard| RwLockWriteGuard::bump(&mut guard);
            write, |mut guard| RwLockWriteGuard::unlocked(&mut guard, || ());
            write, RwLockWriteGuard::downgrade;
            write, RwLockWriteGuard::downgrade_to_upgradable;
            upgradable_read, drop;
            upgradable_read, RwLockUpgradableReadGuard::unlock_fair;
            upgradable_read, |mut guard| RwLockUpgradableReadGuard::bump(&mut guard);
            upgradable_read, |mut guard| RwLockUpgradableReadGuard::unlocked(&mut guard, || ());
            upgradable_read, RwLockUpgradableReadGuard::downgrade;
            upgradable_read, RwLockUpgradableReadGuard::upgrade;
            $(upgradable_read, |mut guard| RwLockUpgradableReadGuard::$with_upgraded(&mut guard, |_| ());)?
        }
    }};
}

#[test]
fn releases_do_not_notice_and_the_watchdog_is_started_later() {
    let mut releases: Vec<Release> = Vec::new();
    all_releases! { releases: {waitword} {waitword} }
    #[cfg(feature = "lock_api")]
    all_releases! { releases: {waitword::lock_api} {::lock_api}, read_recursive; with_upgraded }
    #[cfg(feature = "lock_api_05")]
    all_releases! { releases: {waitword::lock_api_05} {::lock_api_05}; with_upgraded }
    let all = 2 * releases.len();
    until(|| Table::global().snapshot().len() == all);

    let (mutex, permits, lock) = (Mutex::new(()), Semaphore::new(0), AsyncLock::new());
    let guard = mutex.lock();
    let never_polled = [(); 2].map(|()| Task::queued(mutex.lock_async()));
    let [_acquires, behind_it] = [(); 2].map(|()| Task::queued(permits.acquire_async()));
    lock.lock();
    let elsewhere = Mutex::new(());
    let _held = elsewhere.lock();
    let mut timed = Task::new(elsewhere.lock_async().timeout(Duration::from_secs(3600)));
    let (mutex_of_condvar, changed) = (Mutex::new(()), Condvar::new());
    let notified = [(); 2].map(|()| Task::queued(changed.wait_async(mutex_of_condvar.lock())));
    let held_of_condvar = mutex_of_condvar.lock();
    let stay = STAY.lock();
    let mut woken = [false; 2];
    let mut unwound = Vec::with_capacity(all);
    without_new_threads(|| {
        let mut run = |name, run: Box<dyn FnOnce() + '_>| {
            if catch_unwind(AssertUnwindSafe(run)).is_err() {
                unwound.push(name);
            }
        };
        for (name, release, _) in &mut releases {
            run(*name, std::mem::replace(release, Box::new(|| ())));
        }
        run("Mutex", Box::new(|| drop(guard)));
        run("Semaphore", Box::new(|| permits.add_permits(2)));
        run("AsyncLock", Box::new(|| lock.unlock().unwrap()));
        run("Condvar", Box::new(|| assert_eq!(changed.notify_all(), 2)));
        run("a deadline", Box::new(|| drop(timed.poll())));
        woken = [0, 1].map(|at| never_polled[at].is_woken());
    });
    assert_eq!(unwound, ["a deadline"], "it needs a thread, and says so; no release does");
    drop(stay);
    for (name, _, waiters) in releases {
        waiters.into_iter().for_each(|waiter| waiter.join().expect(name));
    }
    // The head was signalled and is not polled. A later wait, elsewhere, has the watchdog started, if none of the threads' has yet.
    assert!(woken == [true, false]);
    drop(held_of_condvar);
    notified.into_iter().for_each(|wait| drop(wait.finish()));
    drop(Task::queued(elsewhere.lock_async()));
    until(|| never_polled[1].is_woken() && behind_it.is_woken());
}
