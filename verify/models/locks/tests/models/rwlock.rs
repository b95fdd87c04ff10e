//! The readers-writer lock: a writer excludes all others, and every acquirer gets the lock.

use std::pin::pin;
use std::sync::Arc;

use waitword::word::Table;
use waitword::{OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};

use super::{Seen, check, model, model_of_two, poll, poll_twice, queued, spawn};
use loom::future::block_on;
use loom::sync::atomic::{AtomicBool, Ordering::SeqCst};
use loom::thread;

/// What an acquirer does with the lock, once.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Read,
    ReadAsync,
    Write,
    WriteAsync,
    /// As a future that is dropped after its second poll at the latest, signalled or not.
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
    /// Returns how many times it has written.
    fn take(self, lock: &RwLock<Seen>) -> u32 {
        match self {
            Read => assert!(lock.read().get() < 9),
            ReadAsync => assert!(block_on(lock.read_async()).get() < 9),
            Write => lock.write().add(),
            WriteAsync => block_on(lock.write_async()).add(),
            WriteDropped => match poll_twice(pin!(lock.write_async())) {
                Some(guard) => guard.add(),
                None => return 0,
            },
            ReadDropped => {
                poll_twice(pin!(lock.read_async())).iter().for_each(|guard| assert!(guard.get() < 9))
            }
            Upgrade => {
                let reader = lock.upgradable_read();
                let before = reader.get();
                let writer = RwLockUpgradableReadGuard::upgrade(reader);
                assert_eq!(writer.get(), before, "no writer came in between");
                writer.add();
            }
            UpgradeAsync => {
                let reader = block_on(lock.upgradable_read_async());
                block_on(RwLockUpgradableReadGuard::upgrade_async(reader)).add();
            }
            UpgradeDropped => {
                let upgrade = pin!(RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read()));
                match poll_twice(upgrade) {
                    Some(guard) => guard.add(),
                    None => return 0,
                }
            }
            Downgrade => {
                let writer = lock.write();
                writer.add();
                let written = writer.get();
                assert_eq!(RwLockWriteGuard::downgrade(writer).get(), written, "no writer came in between");
            }
        }
        (!matches!(self, Read | ReadAsync | ReadDropped)).into()
    }
}

/// Of two threads with two preemptions more: with one, an upgrade that read an old state and slept for ever was not found.
fn all_get_it(turns: &'static [Turn]) {
    check(if turns.len() == 2 { 4 } else { 2 }, move || {
        let lock = Arc::new(RwLock::new(Seen::default()));
        let threads: Vec<_> = turns.iter().map(|turn| spawn(&lock, |lock| turn.take(lock))).collect();
        let written = threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>();
        assert_eq!(lock.try_write().expect("it is free").get(), written);
    });
}

tests! {
    reader_and_writer: all_get_it(&[Read, Write]), all_get_it(&[ReadAsync, WriteAsync]);
    two_writers: all_get_it(&[Write, WriteAsync]);
    two_readers_and_a_writer: all_get_it(&[Read, Read, Write]);
    two_writers_and_a_reader: all_get_it(&[Write, Read, Write]);
    an_upgrade_and_a_reader: all_get_it(&[Upgrade, Read]), all_get_it(&[Read, UpgradeAsync]);
    an_upgrade_and_two_readers: all_get_it(&[Upgrade, Read, Read]);
    an_upgrade_beside_another_or_a_writer: all_get_it(&[Upgrade, Upgrade]), all_get_it(&[Upgrade, Write]);
    a_downgrade_and_a_reader: all_get_it(&[Downgrade, Read]), all_get_it(&[Downgrade, Downgrade]);
    a_writer_is_dropped: all_get_it(&[Read, WriteDropped, Read]), all_get_it(&[Write, WriteDropped, Read]);
    a_reader_is_dropped: all_get_it(&[Write, ReadDropped, Write]);
    an_upgrade_is_dropped: all_get_it(&[Read, UpgradeDropped]), all_get_it(&[Read, UpgradeDropped, Read]);
}

/// A thread that finds room reserved for a signalled waiter yields before it sleeps. If it takes the lock then, and has been
/// signalled since, the next waiter gets the signal.
#[test]
fn a_thread_that_barges_before_it_sleeps_forwards_its_signal() {
    for barges in [Read, Write] {
        model_of_two(move |lock: Arc<RwLock<Seen>>| {
            let guard = lock.write();
            let signalled = queued(lock.write_async());
            RwLockWriteGuard::unlock_fair(guard);
            let barges = spawn(&lock, move |lock| barges.take(lock));
            let behind = queued(lock.write_async());
            block_on(signalled).add();
            block_on(behind).add();
            let written = 2 + barges.join().unwrap();
            assert_eq!(lock.try_write().expect("it is free").get(), written);
        });
    }
}

// The lock is reserved for a writer that is never polled, and no waiter is behind it.
model_of_two!(try_write_gets_past_a_waiter_that_is_never_polled, |lock: Arc<RwLock<Seen>>| {
    let guard = lock.write_owned();
    let unpolled = queued(lock.write_async());
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

// One of two readers unlocks fairly, so that no new reader gets in; the other one unlocks as usual.
model_of_two!(readers_leave_fairly, |lock: Arc<RwLock<()>>| {
    let reader = lock.read();
    let mut writes = queued(lock.write_async());
    let other = spawn(&lock, |lock| drop(lock.try_read()));
    RwLockReadGuard::unlock_fair(reader);
    other.join().unwrap();
    assert!(poll(writes.as_mut()).is_ready(), "no reader is left");
    let writer = spawn(&lock, |lock| drop(lock.write()));
    drop(writes);
    writer.join().unwrap();
});

model_of_two!(a_fair_release_of_a_reader_signals_a_queued_thread, |lock: Arc<RwLock<()>>| {
    let reader = lock.read();
    let writer = spawn(&lock, |lock| drop(lock.write()));
    RwLockReadGuard::unlock_fair(reader);
    writer.join().unwrap();
    assert!(lock.try_write().is_some());
});

// The reader is before the upgradable reader, behind it, or passes it; and ends before the holder does.
model_of_two!(a_reader_passes_an_upgradable_reader_that_waits, |lock: Arc<RwLock<Seen>>| {
    let holder = lock.upgradable_read();
    let waits = queued(lock.upgradable_read_async());
    let reader = spawn(&lock, |lock| Read.take(lock));
    reader.join().unwrap();
    drop(holder);
    block_on(waits).get();
});

// The reader is queued when the writer becomes the upgradable reader, or comes then; and ends before that one does.
model_of_two!(a_reader_behind_an_upgradable_reader_that_waits_gets_in, |shared: Arc<(
    RwLock<Seen>,
    AtomicBool
)>| {
    let (lock, has_read) = &*shared;
    let writer = lock.write();
    let mut waits = queued(lock.upgradable_read_async());
    let reader = spawn(&shared, |(lock, has_read)| {
        drop(lock.read());
        has_read.store(true, SeqCst);
    });
    let holder = RwLockWriteGuard::downgrade_to_upgradable(writer);
    while !has_read.load(SeqCst) {
        assert!(poll(waits.as_mut()).is_pending());
        thread::yield_now();
    }
    reader.join().unwrap();
    drop(holder);
    block_on(waits).get();
});

// A task between the two is signalled, and never polled.
model_of_two!(a_reader_behind_an_unpolled_one_gets_in_too, |shared: Arc<(RwLock<Seen>, AtomicBool)>| {
    let (lock, has_read) = &*shared;
    let writer = lock.write();
    let mut waits = queued(lock.upgradable_read_async());
    let unpolled = queued(lock.read_async());
    let reader = spawn(&shared, |(lock, has_read)| {
        drop(lock.read());
        has_read.store(true, SeqCst);
    });
    let holder = RwLockWriteGuard::downgrade_to_upgradable(writer);
    assert!(poll(waits.as_mut()).is_pending());
    while !has_read.load(SeqCst) {
        Table::global().signal_stalled();
        thread::yield_now();
    }
    reader.join().unwrap();
    drop(holder);
    drop(unpolled);
    block_on(waits).get();
});

// Behind an upgradable reader that becomes the writer.
model!(an_upgradable_reader_and_a_writer_that_wait_get_it, |lock: Arc<RwLock<Seen>>| {
    let holder = lock.upgradable_read();
    let waits = queued(lock.upgradable_read_async());
    let writer = spawn(&lock, |lock| Write.take(lock));
    RwLockUpgradableReadGuard::upgrade(holder).add();
    assert!(block_on(waits).get() < 9);
    assert_eq!(writer.join().unwrap(), 1);
    assert_eq!(lock.try_write().expect("it is free").get(), 2);
});
