//! Guards that are elsewhere or gone, and locks that have none.

use std::future::pending;
use std::sync::Arc;
use std::task::Waker;
use std::thread;

use waitword::word::AsyncLock;
use waitword::{RwLock, Semaphore};
use waitword_observe::name;

use crate::common::{leak, poll, until};
use crate::{cross, expect, named, spawn};

/// Of eight permits, six are forgotten and two are kept.
#[test]
fn permits_that_were_forgotten() {
    expect(|| {
        let pool = leak(Semaphore::new(8));
        name(pool, "pool").forever();
        spawn("leaks", move || {
            for _ in 0..6 {
                pool.acquire().unwrap().forget(); // forgets
            }
            let _kept = pool.acquire_many(2).unwrap(); // keeps
            thread::park();
        });
        spawn("waits", move || {
            until(|| pool.available_permits() == 0);
            let _permit = pool.acquire(); // waits
        });
        |report| report.snapshot.waiters() == 1
    });
}

#[test]
fn an_async_lock_may_be_unlocked_by_another() {
    expect(|| {
        static GATE: AsyncLock = AsyncLock::new();
        let ledger = named('a', "ledger");
        cross(
            || GATE.lock(),   // alpha took the gate
            || ledger.lock(), // alpha waits for the ledger
            || ledger.lock(), // beta took the ledger
            || GATE.lock(),   // beta waits for the gate
        )
    });
}

/// The one is owned: made to be sent. Of the other, a guard of the same line was released by another thread: it was kept over an `await` by a
/// task that moved.
#[test]
fn guards_that_may_have_been_sent_make_no_certain_deadlock() {
    expect(|| {
        let (accounts, ledger) = (named(0, "accounts"), leak(Arc::new(RwLock::new('a'))));
        let take = || accounts.lock(); // takes, and is sent
        let mut task = Box::pin(async move {
            let _accounts = take();
            pending::<()>().await;
        });
        let first = thread::spawn(move || {
            assert!(poll(task.as_mut(), Waker::noop()).is_pending());
            task
        });
        drop(first.join().unwrap());
        cross(
            || ledger.write_owned(), // alpha owns
            || accounts.lock(),      // alpha waits once more
            take,
            || ledger.read(), // beta waits once more
        )
    });
}
