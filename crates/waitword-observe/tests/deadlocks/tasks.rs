//! Tasks, and the threads that poll them.

use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Barrier};
use std::thread;

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use waitword::Event;
use waitword::observe::snapshot;
use waitword_observe::internals::stop_blame;
use waitword_observe::{Finding, name};

use crate::common::{leak, until};
use crate::{Stuck, expect, has_cycle, named, spawn};

fn one_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

/// A task and a thread, each of which holds what the other waits for.
pub(crate) fn crossed_with_a_task() -> Stuck {
    let (accounts, ledger) = (named(0, "accounts"), named('a', "ledger"));
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    spawn("runtime", move || {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let task = runtime.spawn(async move {
            let _ledger = ledger.lock_async().await; // task took
            other.wait();
            let _accounts = accounts.lock_async().await; // task waits
        });
        runtime.block_on(task).unwrap();
    });
    spawn("beta", move || {
        let _accounts = accounts.lock(); // beta took it
        meet.wait();
        until(|| !snapshot().is_empty());
        let _ledger = ledger.lock(); // beta waits for it
    });
    has_cycle
}

#[test]
fn a_thread_and_a_task() {
    let program = || -> Stuck { crossed_with_a_task() };
    expect(program);
}

/// A task keeps a guard while it is not polled, and another waits.
#[test]
fn a_guard_of_a_task_that_is_not_polled() {
    expect(|| {
        let db = named(0, "db");
        spawn("runtime", move || {
            one_thread().block_on(async {
                let keeper = tokio::spawn(async move {
                    let _guard = db.lock_async().await; // keeper took
                    pending::<()>().await;
                });
                while !db.is_locked() {
                    yield_now().await;
                }
                let waiter = tokio::spawn(async move { *db.lock_async().await }); // waiter waits
                let _ = (keeper.await, waiter.await);
            });
        });
        |report| report.snapshot.waiters() == 1 && report.findings.len() == 1
    });
}

/// A task blocks its runtime's only thread for a lock that another task of it holds.
#[test]
fn a_thread_that_has_to_poll_the_task_it_waits_for() {
    expect(|| {
        let state = named(0, "state");
        spawn("main", move || {
            one_thread().block_on(async {
                tokio::spawn(async move {
                    let _guard = state.lock_async().await; // task holds
                    yield_now().await;
                });
                while !state.is_locked() {
                    yield_now().await;
                }
                let _guard = state.lock(); // blocks
            });
        });
        has_cycle
    });
}

/// The shape of Oxide's RFD 609: `select!` has polled a future that waits for a lock, goes on in another branch, and keeps the future.
/// (Its lock is not stuck: who is behind it is served.)
#[test]
fn a_future_that_its_task_does_not_poll_while_it_awaits_another() {
    expect(|| {
        // Which of its rows are long enough to be shown depends on the machine.
        stop_blame();
        let (db, reply) = (named(0_u64, "db"), leak(Event::new()));
        name(reply, "reply").forever();
        let held = db.lock();
        spawn("runtime", move || {
            let runtime = one_thread();
            let task = runtime.spawn(async move {
                let mut write = pin!(db.lock_async()); // write waits
                tokio::select! {
                    biased;
                    _ = &mut write => {}
                    () = async {} => reply.wait_async().await, // reply waits
                }
            });
            runtime.block_on(task).unwrap();
        });
        until(|| snapshot().len() == 2);
        let audit = thread::spawn(move || drop(db.lock()));
        until(|| snapshot().len() == 3);
        drop(held);
        audit.join().unwrap();
        // Each is a second old at least, and the one was unpolled at two passes.
        |report| {
            let is_futurelock =
                |found: &Finding| matches!(found, Finding::NeverPolled(wait) if wait.is_futurelock());
            report.findings.len() == 2 && report.findings.iter().any(is_futurelock)
        }
    });
}
