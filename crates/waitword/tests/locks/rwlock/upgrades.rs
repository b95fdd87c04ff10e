//! Upgrades and downgrades.

use std::task::Poll;
use std::thread;
use std::time::Instant;

use waitword::*;

use super::{SOON, stream_of_readers};
use crate::common::Task;

#[test]
fn an_upgrade_waits_for_readers_and_keeps_others_out() {
    let lock = RwLock::new(1);
    let reader = lock.read();
    let upgradable = lock.upgradable_read();
    let upgradable = RwLockUpgradableReadGuard::try_upgrade(upgradable).expect_err("somebody reads");
    let mut upgrade = Task::queued(RwLockUpgradableReadGuard::upgrade_async(upgradable));
    assert!(lock.try_read().is_none() && lock.try_upgradable_read().is_none() && lock.try_write().is_none());
    assert!(lock.try_read_recursive().is_some(), "for the sake of the readers");
    let writer = Task::queued(lock.write_async());
    let behind = Task::queued(lock.read_async());
    drop(reader);
    assert!(upgrade.is_woken() && !writer.is_woken() && !behind.is_woken());
    let Poll::Ready(mut upgraded) = upgrade.poll() else { panic!("the reader has left") };
    *upgraded += 1;
    drop(upgraded);
    *writer.finish() += 1;
    assert_eq!(*behind.finish(), 3);
}

#[test]
fn an_upgrade_from_a_thread_waits_for_a_reader() {
    let lock = RwLock::new(1);
    let upgradable = lock.upgradable_read();
    thread::scope(|scope| {
        let reader = lock.read();
        let writer = scope.spawn(|| *RwLockUpgradableReadGuard::upgrade(upgradable) += 1);
        // Refused as soon as the upgrade has begun.
        let last = stream_of_readers(&lock, reader);
        assert_eq!(*last, 1);
        drop(last);
        writer.join().unwrap();
    });
    assert_eq!(lock.into_inner(), 2);
}

#[test]
fn an_upgrade_given_up_lets_readers_in() {
    let lock = RwLock::new(1);
    let reader = lock.read();

    // Dropped: the lock is released.
    let upgrade = Task::queued(RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read()));
    let behind = Task::queued(lock.read_async());
    let upgradable = Task::queued(lock.upgradable_read_async());
    drop(upgrade);
    assert_eq!(*behind.finish(), 1);
    drop(upgradable.finish());

    // Before its first poll: it was in nobody's way.
    let upgrade = RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read());
    assert!(lock.try_read().is_some());
    drop(upgrade);
    drop(lock.try_upgradable_read().expect("released"));

    // Out of time: the guard goes on.
    let not = RwLockUpgradableReadGuard::upgrade_for(lock.upgradable_read(), SOON).unwrap_err();
    assert_eq!(not.error, LockError::TimedOut);
    assert!(lock.try_read().is_some() && lock.try_upgradable_read().is_none());
    let timed = RwLockUpgradableReadGuard::upgrade_async(not.guard).timeout(SOON);
    let not = Task::new(timed).finish().unwrap_err();
    assert_eq!(format!("{not}"), format!("{}", LockError::TimedOut));
    assert!(lock.try_read().is_some() && lock.try_upgradable_read().is_none());
    drop(reader);
    let mut upgraded = RwLockUpgradableReadGuard::upgrade_until(not.guard, Instant::now()).unwrap();
    *upgraded += 1;
    assert!(lock.is_write_locked());
}

#[test]
fn a_downgrade_lets_readers_in_and_no_writer_before_them() {
    let lock = RwLock::new(1);
    let mut writer = lock.write();
    let upgradable = Task::queued(lock.upgradable_read_async());
    let reader = Task::queued(lock.read_async());
    let mut other = Task::queued(lock.write_async());
    *writer += 1;
    let reads_again = RwLockWriteGuard::downgrade(writer);
    let upgradable = upgradable.finish();
    let reader = reader.finish();
    assert_eq!((*reads_again, *upgradable, *reader), (2, 2, 2));
    drop((reads_again, reader));
    assert!(!matches!(other.poll(), Poll::Ready(_)));
    // Now there are readers alone, the other writer still queued.
    let last = RwLockUpgradableReadGuard::downgrade(upgradable);
    assert!(other.poll().is_pending());
    drop(last);
    *other.finish() += 1;
    let lock = RwLock::new(lock.into_inner());
    let upgradable = RwLockWriteGuard::downgrade_to_upgradable(lock.write());
    assert!(lock.try_read().is_some() && lock.try_upgradable_read().is_none());
    assert_eq!(*RwLockUpgradableReadGuard::upgrade(upgradable), 3);
}
