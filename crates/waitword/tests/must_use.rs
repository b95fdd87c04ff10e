//! What does nothing, or undoes itself, when it is not kept, is warned of: a table, checked by the compiler. Each type of guard or future
//! is in it, by one of the methods that return it; what is a `Result` is warned of in any case.

// A row that is not warned of is an expectation that is not met.
#![deny(unfulfilled_lint_expectations)]

use std::sync::Arc;
use std::time::Duration;

use waitword::word::AsyncLock;
use waitword::*;

macro_rules! must_be_used {
    ($($value:expr;)+) => {$(
        #[expect(unused_must_use, reason = "that is what is tested")]
        $value;
    )+};
}

#[test]
fn guards_permits_and_tokens() {
    let mutex = Arc::new(Mutex::new((1, 2)));
    let rwlock = Arc::new(RwLock::new((1, 2)));
    let semaphore = Arc::new(Semaphore::new(3));
    let group = Arc::new(WaitGroup::new());
    must_be_used! {
        mutex.lock();
        mutex.try_lock();
        mutex.lock_owned();
        mutex.try_lock_owned();
        MutexGuard::map(mutex.lock(), |pair| &mut pair.0);
        MutexGuard::filter_map(mutex.lock(), |pair| Some(&mut pair.0));
        MutexGuard::try_map_or_err(mutex.lock(), |pair| Ok::<_, ()>(&mut pair.0));
        OwnedMutexGuard::map(mutex.lock_owned(), |pair| &mut pair.0);
        rwlock.read();
        rwlock.try_read();
        rwlock.read_owned();
        rwlock.try_read_owned();
        rwlock.write();
        rwlock.try_write();
        rwlock.write_owned();
        rwlock.try_write_owned();
        rwlock.upgradable_read();
        rwlock.try_upgradable_read();
        rwlock.upgradable_read_owned();
        rwlock.try_upgradable_read_owned();
        rwlock.read_recursive();
        rwlock.try_read_recursive();
        RwLockReadGuard::map(rwlock.read(), |pair| &pair.0);
        RwLockWriteGuard::map(rwlock.write(), |pair| &mut pair.0);
        RwLockWriteGuard::downgrade(rwlock.write());
        RwLockWriteGuard::downgrade_map(rwlock.write(), |pair| &pair.0);
        RwLockWriteGuard::try_downgrade_map(rwlock.write(), |pair| Some(&pair.0));
        RwLockUpgradableReadGuard::upgrade(rwlock.upgradable_read());
        RwLockUpgradableReadGuard::try_upgrade(rwlock.upgradable_read());
        keyed::KeyedMutex::new().lock(1);
        keyed::KeyedRwLock::new().read(1);
        semaphore.acquire().unwrap();
        semaphore.acquire_owned().unwrap();
        group.add();
        group.add_owned();
        forbid_blocking();
    }
    let lock = AsyncLock::new();
    must_be_used! {
        lock.try_lock();
        lock.unlock();
    }
    let mut poison = Poison::new(1);
    must_be_used! {
        poison.get();
        poison.get_mut();
    }
    drop(poison.get_mut().unwrap());
    // Everything was given back on the spot.
    assert!(!mutex.is_locked() && !rwlock.is_locked());
    assert!(semaphore.available_permits() == 3 && group.count() == 0);
}

/// Those without a row in `common/rows.rs`, where the others are expected to be warned of.
#[test]
fn futures() {
    let (mutex, rwlock) = (Arc::new(Mutex::new(1)), Arc::new(RwLock::new(1)));
    let (condvar, event, lazy) = (Arc::new(Condvar::new()), Arc::new(Event::new()), LazyLock::new(|| 1));
    let never = Duration::ZERO;
    must_be_used! {
        MutexGuard::unlocked_async(mutex.lock(), async || 1);
        MutexGuard::unlocked_fair_async(mutex.lock(), async || 1);
        RwLockReadGuard::unlocked_async(rwlock.read(), async || 1);
        OwnedRwLockWriteGuard::unlocked_fair_async(rwlock.write_owned(), async || 1);
        condvar.wait_async(mutex.lock());
        condvar.wait_async(mutex.lock()).timeout(never);
        condvar.wait_while_async(mutex.lock(), |_| true);
        condvar.wait_while_async(mutex.lock(), |_| true).timeout(never);
        condvar.wait_owned_async(mutex.lock_owned());
        condvar.wait_owned_async(mutex.lock_owned()).timeout(never);
        condvar.wait_while_owned_async(mutex.lock_owned(), |_| true);
        condvar.wait_while_owned_async(mutex.lock_owned(), |_| true).timeout(never);
        event.listen();
        event.listen_owned();
        LazyLock::force_async(&lazy);
    }
    assert!(!mutex.is_locked() && !rwlock.is_locked(), "nothing was done");
}

#[test]
fn answers() {
    let (event, group, barrier) = (Event::new(), WaitGroup::new(), Barrier::new(2));
    let cell = OnceLock::from(1);
    must_be_used! {
        event.try_wait();
        group.try_wait();
        barrier.try_wait();
        cell.set(2);
        cell.try_insert(2);
    }
}
