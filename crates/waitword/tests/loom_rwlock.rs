//! Model checks of the readers-writer lock: every interleaving (up to the preemption bound), and what the memory model allows
//! between.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p waitword --test loom_rwlock`
#![cfg(loom)]

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use loom::cell::UnsafeCell;
use loom::future::block_on;
use loom::sync::Arc;
use loom::thread;
use waitword::*;

/// A number that loom sees: one who changes it while another reaches it is a race, and so is one who does not see what another
/// did.
#[derive(Default)]
struct Seen(UnsafeCell<u32>);

// SAFETY: it is what is tested; loom tells if two reach it in a way that they must not.
unsafe impl Sync for Seen {}

impl Seen {
    fn add(&self) {
        self.0.with_mut(|number| unsafe { *number += 1 });
    }

    fn get(&self) -> u32 {
        self.0.with(|number| unsafe { *number })
    }
}

fn model(body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    // Overridden by LOOM_MAX_PREEMPTIONS.
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.check(body);
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

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

fn poll_twice<F: Future>(mut future: Pin<&mut F>) -> Option<F::Output> {
    (0..2).find_map(|_| match poll(future.as_mut()) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    })
}

/// Everybody gets in, no writer with another; loom reports a waiter that nobody calls as a deadlock.
fn everybody_gets_in(turns: &'static [Turn]) {
    model(move || {
        let lock = Arc::new(RwLock::new(Seen::default()));
        let run = |&turn: &Turn| {
            let lock = Arc::clone(&lock);
            move || turn.take(&lock)
        };
        let (first, others) = turns.split_first().unwrap();
        let threads: Vec<_> = others.iter().map(|turn| thread::spawn(run(turn))).collect();
        let written = run(first)() + threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>();
        assert_eq!(lock.try_write().expect("everybody has left").get(), written);
    });
}

/// The bound counts also the first switch to another thread: each order finds what the other does not.
#[test]
fn reader_and_writer() {
    everybody_gets_in(&[Read, Write]);
    everybody_gets_in(&[Write, Read]);
    everybody_gets_in(&[ReadAsync, Write]);
    everybody_gets_in(&[WriteAsync, Read]);
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
    everybody_gets_in(&[Read, Upgrade]);
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
    everybody_gets_in(&[Write, Upgrade]);
}

#[test]
fn a_downgrade_and_a_reader() {
    everybody_gets_in(&[Downgrade, Read]);
    everybody_gets_in(&[Read, Downgrade]);
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
