//! Guards that are elsewhere or gone, and locks that have none.

use std::sync::{Arc, Barrier};
use std::thread;

use waitword::{AsyncLock, Mutex, RwLock, Semaphore};
use waitword_observe::{Report, name};

use crate::harness::{expect, has_cycle, leak, named, report_of, spawn, until_waiting};

/// Of eight permits, six are forgotten and two are kept.
pub(crate) fn permits() -> fn(&Report) -> bool {
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
        while pool.available_permits() > 0 {
            thread::yield_now();
        }
        let _permit = pool.acquire(); // waits
    });
    |report| report.snapshot.waiters() == 1
}

#[test]
fn permits_that_were_forgotten() {
    let report = report_of("permits");
    let expected = r#"Semaphore "pool" at #: 1 waiter # 6 permits forgotten, taken at <forgets> # 2 permits, taken at <keeps> # thread "waits" <waits>"#;
    assert!(report.contains(expected), "{expected}\nis not in\n{report}");
}

/// As [`abba`], with a lock that has no guard.
pub(crate) fn async_lock() -> fn(&Report) -> bool {
    static GATE: AsyncLock = AsyncLock::new();
    let ledger = named('a', "ledger");
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    spawn("alpha", move || {
        GATE.lock(); // alpha took the gate
        other.wait();
        let _ledger = ledger.lock(); // alpha waits for the ledger
    });
    spawn("beta", move || {
        let _ledger = ledger.lock(); // beta took the ledger
        meet.wait();
        until_waiting("alpha");
        GATE.lock(); // beta waits for the gate
    });
    has_cycle
}

#[test]
fn an_async_lock_may_be_unlocked_by_another() {
    expect(
        "async lock",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        cycle: 2 members, since #
          thread "beta"  waits # for AsyncLock at # at <beta waits for the gate>
                         holds # Mutex<char> "ledger", taken at <beta took the ledger>
          thread "alpha" waits # for Mutex<char> "ledger" at <alpha waits for the ledger>
                         acquired AsyncLock at # # ago at <alpha took the gate>
        deadlock unless another unlocks what thread "alpha" acquired
        Mutex<char> "ledger" at #: 1 waiter
          # held by thread "beta", taken at <beta took the ledger>
          # thread "alpha" <alpha waits for the ledger>
        AsyncLock at #: 1 waiter
          # acquired by thread "alpha", taken at <alpha took the gate>
          # thread "beta" <beta waits for the gate>"#,
    );
}

/// As [`abba`], with guards that are made to be sent.
pub(crate) fn owned() -> fn(&Report) -> bool {
    let (accounts, ledger) = (leak(Arc::new(Mutex::new(0))), leak(Arc::new(RwLock::new('a'))));
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    spawn("alpha", move || {
        let _ledger = ledger.write_owned(); // alpha owns
        other.wait();
        let _accounts = accounts.lock(); // alpha waits for the other
    });
    spawn("beta", move || {
        let accounts = accounts.lock_owned(); // beta owns
        let _part = waitword::OwnedMutexGuard::map(accounts, |accounts| accounts);
        meet.wait();
        until_waiting("alpha");
        let _ledger = ledger.read(); // beta waits for the other
    });
    has_cycle
}

#[test]
fn owned_guards_are_made_to_be_sent() {
    expect(
        "owned",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        cycle: 2 members, since #
          thread "beta"  waits # for RwLock<char> at <beta waits for the other>
                         acquired Mutex<i32> # ago at <beta owns>
          thread "alpha" waits # for Mutex<i32> at <alpha waits for the other>
                         acquired RwLock<char> # ago at <alpha owns>
        deadlock unless the guard acquired by thread "beta" is elsewhere, or the guard acquired by thread "alpha" is elsewhere
        Mutex<i32> at #: 1 waiter
          # acquired by thread "beta", taken at <beta owns>
          # thread "alpha" <alpha waits for the other>
        RwLock<char> at #: 1 waiter
          # acquired by thread "alpha", taken at <alpha owns>
          # thread "beta" <beta waits for the other>, to read"#,
    );
}

/// As [`abba`], after a guard of the same line was released by another thread: it was kept over an `await` by a task that moved.
pub(crate) fn sent() -> fn(&Report) -> bool {
    let (accounts, ledger) = (named(0, "accounts"), named('a', "ledger"));
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    let take = || accounts.lock(); // takes, and is sent
    let mut task = Box::pin(async move {
        let _accounts = take();
        std::future::pending::<()>().await;
    });
    let first = thread::spawn(move || {
        let waker = std::task::Waker::noop();
        assert!(task.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
        task
    });
    drop(first.join().unwrap());
    spawn("alpha", move || {
        let _ledger = ledger.lock(); // alpha keeps
        other.wait();
        let _accounts = accounts.lock(); // alpha waits once more
    });
    spawn("beta", move || {
        let _accounts = take();
        meet.wait();
        until_waiting("alpha");
        let _ledger = ledger.lock(); // beta waits once more
    });
    has_cycle
}

#[test]
fn a_line_whose_guards_were_sent_before_makes_no_certain_deadlock() {
    expect(
        "sent",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        cycle: 2 members, since #
          thread "beta"  waits # for Mutex<char> "ledger" at <beta waits once more>
                         acquired Mutex<i32> "accounts" # ago at <takes, and is sent>
          thread "alpha" waits # for Mutex<i32> "accounts" at <alpha waits once more>
                         holds # Mutex<char> "ledger", taken at <alpha keeps>
        deadlock unless the guard acquired by thread "beta" is elsewhere
        Mutex<i32> "accounts" at #: 1 waiter
          # acquired by thread "beta", taken at <takes, and is sent>
          # thread "alpha" <alpha waits once more>
        Mutex<char> "ledger" at #: 1 waiter
          # held by thread "alpha", taken at <alpha keeps>
          # thread "beta" <beta waits once more>"#,
    );
}
