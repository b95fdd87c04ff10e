//! The readers-writer lock: no writer beside another or a reader, and everybody gets in.

use std::pin::pin;
use std::sync::Arc;

use waitword::word::Table;
use waitword::{OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};

use super::checker::future::block_on;
use super::checker::thread;
use super::{Seen, in_line, model, model_of_two, poll, poll_twice, spawn};

/// What somebody does with the lock, once.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Read,
    ReadAsync,
    Write,
    WriteAsync,
    /// As a future that is dropped after its second poll at the latest, whatever it was told meanwhile.
    WriteDropped,
    ReadDropped,
    /// Reads, and then writes.
    Upgrade,
    UpgradeAsync,
    UpgradeDropped,
    /// Writes, and then reads what it wrote.
    Downgrade,
}
use Turn::*;

impl Turn {
    /// Returns how often it has written.
    fn take(self, lock: &RwLock<Seen>) -> u32 {
        match self {
            Read => assert!(lock.read().get() < 9),
            ReadAsync => assert!(block_on(lock.read_async()).get() < 9),
            Write => lock.write().add(),
            WriteAsync => block_on(lock.write_async()).add(),
            WriteDropped => {
                let mut write = pin!(lock.write_async());
                let guard = poll_twice(write.as_mut());
                guard.iter().for_each(|guard| guard.add());
                return guard.is_some().into();
            }
            ReadDropped => {
                let mut read = pin!(lock.read_async());
                poll_twice(read.as_mut()).iter().for_each(|guard| assert!(guard.get() < 9));
            }
            Upgrade => {
                let reader = lock.upgradable_read();
                let before = reader.get();
                let writer = RwLockUpgradableReadGuard::upgrade(reader);
                assert_eq!(writer.get(), before, "nobody wrote in between");
                writer.add();
            }
            UpgradeAsync => {
                let reader = block_on(lock.upgradable_read_async());
                block_on(RwLockUpgradableReadGuard::upgrade_async(reader)).add();
            }
            UpgradeDropped => {
                let mut upgrade = pin!(RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read()));
                let guard = poll_twice(upgrade.as_mut());
                guard.iter().for_each(|guard| guard.add());
                return guard.is_some().into();
            }
            Downgrade => {
                let writer = lock.write();
                writer.add();
                let written = writer.get();
                assert_eq!(RwLockWriteGuard::downgrade(writer).get(), written, "nobody wrote in between");
            }
        }
        matches!(self, Write | WriteAsync | Upgrade | UpgradeAsync | Downgrade).into()
    }
}

fn everybody_gets_in(turns: &'static [Turn]) {
    model(move || {
        let lock = Arc::new(RwLock::new(Seen::default()));
        let threads: Vec<_> = turns.iter().map(|turn| spawn(&lock, |lock| turn.take(lock))).collect();
        let written = threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>();
        assert_eq!(lock.try_write().expect("everybody has left").get(), written);
    });
}

#[test]
fn reader_and_writer() {
    everybody_gets_in(&[Read, Write]);
    everybody_gets_in(&[ReadAsync, WriteAsync]);
}

#[test]
fn two_writers() {
    everybody_gets_in(&[Write, WriteAsync]);
}

#[test]
fn two_readers_and_a_writer() {
    everybody_gets_in(&[Read, Read, Write]);
}

#[test]
fn two_writers_and_a_reader() {
    everybody_gets_in(&[Write, Read, Write]);
}

#[test]
fn an_upgrade_and_a_reader() {
    everybody_gets_in(&[Upgrade, Read]);
    everybody_gets_in(&[Read, UpgradeAsync]);
}

#[test]
fn an_upgrade_and_two_readers() {
    everybody_gets_in(&[Upgrade, Read, Read]);
}

#[test]
fn an_upgrade_beside_another_or_a_writer() {
    everybody_gets_in(&[Upgrade, Upgrade]);
    everybody_gets_in(&[Upgrade, Write]);
}

#[test]
fn a_downgrade_and_a_reader() {
    everybody_gets_in(&[Downgrade, Read]);
    everybody_gets_in(&[Downgrade, Downgrade]);
}

#[test]
fn a_writer_is_dropped() {
    everybody_gets_in(&[Read, WriteDropped, Read]);
    everybody_gets_in(&[Write, WriteDropped, Read]);
}

#[test]
fn a_reader_is_dropped() {
    everybody_gets_in(&[Write, ReadDropped, Write]);
}

#[test]
fn an_upgrade_is_dropped() {
    everybody_gets_in(&[Read, UpgradeDropped]);
    everybody_gets_in(&[Read, UpgradeDropped, Read]);
}

/// The lock is reserved for a writer that nobody polls, and nobody stands behind it.
#[test]
fn one_that_is_never_polled_is_passed_by_who_tries() {
    model_of_two(|| {
        let lock = Arc::new(RwLock::new(Seen::default()));
        let guard = lock.write_owned();
        let unpolled = in_line(lock.write_async());
        let releases = thread::spawn(move || {
            guard.add();
            OwnedRwLockWriteGuard::unlock_fair(guard);
        });
        while lock.try_write().map(|seen| seen.add()).is_none() {
            Table::global().signal_stalled();
            thread::yield_now();
        }
        releases.join().unwrap();
        assert_eq!(block_on(unpolled).get(), 2);
    });
}

/// One of two readers leaves for the sake of the waiters, and nobody new gets in; the other one leaves as usual.
#[test]
fn readers_leave_fairly() {
    model_of_two(|| {
        let lock = Arc::new(RwLock::new(()));
        let reader = lock.read();
        let mut writes = in_line(lock.write_async());
        let other = spawn(&lock, |lock| drop(lock.try_read()));
        RwLockReadGuard::unlock_fair(reader);
        other.join().unwrap();
        assert!(poll(writes.as_mut()).is_ready(), "nobody reads");
        let writer = spawn(&lock, |lock| drop(lock.write()));
        drop(writes);
        writer.join().unwrap();
    });
}

#[test]
fn a_fair_release_of_a_reader_wakes_a_thread_in_line() {
    model_of_two(|| {
        let lock = Arc::new(RwLock::new(()));
        let reader = lock.read();
        let writer = spawn(&lock, |lock| drop(lock.write()));
        RwLockReadGuard::unlock_fair(reader);
        writer.join().unwrap();
        assert!(lock.try_write().is_some());
    });
}
