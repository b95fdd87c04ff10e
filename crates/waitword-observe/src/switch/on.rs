//! Observation by hand, and what happens when a deadlock is found.

use std::io;
use std::sync::Arc;

use waitword_core::observe::{AWAITED, TASKS, start_clock, stop_clock};

use super::watch::{self, Found};
use crate::finding::{Cycle, Finding};
use crate::observer::{ask, start_blame, start_holders, stop_blame, stop_holders};
use crate::{order, tasks};

/// Starts observation: waits have ages, and holders are recorded and charged with the waits of others ([`blame`](crate::blame())).
///
/// Each wait, and each release of a lock with waiters, reads the clock once more, some 20 to 40 ns. Each acquisition and its release make
/// and erase a record, some 90 instructions. Locks that are held already have no record. Waiters and their sites are visible without it.
pub fn enable() {
    start_clock();
    start_holders();
    start_blame();
}

/// Stops observation. Waits that begin afterwards have no ages and are charged to nobody, holders are no longer recorded, the order of
/// locks is no longer checked, and the thread of `WAITWORD_OBSERVE=1` ends. Sockets and signals still give reports.
pub fn disable() {
    ask(0, AWAITED);
    order::stop();
    stop_blame();
    stop_clock();
    stop_holders();
    watch::stop();
}

/// Starts to check the order in which threads and tasks acquire locks: see [`lock_order`](crate::lock_order) and
/// [`assert_lock_order`](crate::assert_lock_order). For tests.
///
/// Records holders, as [`enable`] does, until [`disable`]. Each acquisition and each release takes a process-wide lock and costs some
/// hundred nanoseconds. Locks that are held already are not seen. Has no effect if the check is already on.
///
/// Without [`identify`](identify()), a task is known by its waker, which another task may get later. A `lock()` in a task then counts as an
/// acquisition of its thread. If `identify` was called first, `lock()` and `lock_async()` in a task count as those of the task with its number.
///
/// # What is not reported
/// - Both orders in one thread, which cannot wait for itself, unless a second thread runs the same code.
/// - Two orders that occur only while the same third lock is held, unless that lock is held for reading both times.
/// - Two reads. (A writer that is queued between them is not considered.)
/// - A second lock acquired by `try_`, `_for` or `_until`, because that wait ends by itself.
/// - A guard that was sent away: another thread or task releases it than the one that acquired it.
/// - A `Semaphore`, because `add_permits`, `forget` and permits that others give back make any order right.
///
/// An initialiser holds its `OnceLock` or `LazyLock`. An acquisition of the value is recorded only if the thread or task had to wait for
/// it in this run. Of an `AsyncLock` only holders in Rust are followed.
///
/// # Known false positives
/// Joins, dropped futures and most sends are invisible. So an order is reported although
/// - the first thread was joined before the second began;
/// - the second lock was acquired inside a `timeout` or a `select!` (`lock_async().timeout(d)` is recognised);
/// - a task sent an owned guard away (unless [`identify`](identify()) numbers the tasks).
///
/// # Memory
/// Each lock has an entry until it is dropped; an `AsyncLock` of scripts until the process ends. A lock that moves after it was acquired is
/// confused with the next one at its old address.
pub fn check_lock_order() {
    start_holders();
    order::start();
    ask(AWAITED, 0);
}

/// Registers a function that returns the number of the running task, so that reports show the numbers of the executor and its other tools.
/// Only the first call in the process has an effect; later calls return `false`.
///
/// Without it, a task is known by its waker and has a number in order of first appearance. An executor may reuse a waker for another task,
/// and a future that several wakers poll (`FuturesUnordered`) counts as several tasks.
///
/// `identify` is called on the task's thread, in the poll in which the task begins to wait. While holders are recorded, it is also called
/// when a lock is acquired or released, on threads that run no task too. So it has to be short, and must not acquire a lock of `waitword`.
/// It returns `None` where no task runs (in `block_on`, for example); such a waiter is `task 3 "not identified"`. A panic of `identify` is
/// caught, and counts as `None`. It is not called on a panicking thread; a release there counts as one by the task that acquired the lock.
///
/// For tokio:
///
/// ```
/// use waitword::Mutex;
///
/// // Once, at the start of `main`.
/// waitword_observe::identify(|| tokio::task::try_id()?.to_string().parse().ok());
///
/// static ACCOUNTS: Mutex<Vec<u64>> = Mutex::new(Vec::new());
///
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// runtime.block_on(async {
///     let held = ACCOUNTS.lock_async().await;
///     let waits = tokio::spawn(async { ACCOUNTS.lock_async().await.push(1) });
///     tokio::task::yield_now().await;
///
///     let waiter = waitword_observe::snapshot().locks[0].waiters[0].actor.to_string();
///     assert_eq!(waiter, format!("task {}", waits.id()));
///     drop(held);
///     waits.await
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn identify(identify: fn() -> Option<u64>) -> bool {
    let is_first = tasks::set(identify);
    ask(TASKS, 0);
    is_first
}

/// Calls `f` once for each cycle of waits that is found. The cycle may be a deadlock, or may end by itself: [`Cycle::is_certain`] returns
/// `true` if nothing is known that could end it.
///
/// [`enable`]s observation, and starts a thread that checks once per second, so a cycle is found one to two seconds after it is complete.
/// `f` runs on that thread, and may acquire locks and make a [`report`](crate::report). While `f` blocks, nothing else is found. A panic of
/// `f` is caught. [`disable`] removes `f`.
///
/// # Errors
/// If the system cannot start the thread.
///
/// ```
/// waitword_observe::on_deadlock(|cycle| eprintln!("{} members are stuck", cycle.members.len()))?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn on_deadlock(f: impl Fn(&Cycle) + Send + Sync + 'static) -> io::Result<()> {
    enable();
    let listener = move |found: &Found| {
        if let Found::New(Finding::Cycle(cycle)) = found {
            f(cycle);
        }
    };
    watch::start(|asked| asked.listeners.push(Arc::new(listener)))
}

/// Aborts the process, with a report on the standard error, when a deadlock is found that nothing known can end ([`Cycle::is_certain`]).
///
/// For tests and CI, where a deadlock would hang until a timeout that reports nothing. Not for production: there a report helps, and an
/// aborted process is no better than a stuck one. The process is checked once per second. [`on_deadlock`] also reports cycles that may end; those abort nothing.
///
/// A program that sends borrowed guards to other threads may be aborted without a deadlock: that such a guard was sent is not known before
/// another thread has released a guard that was acquired at the same line. Owned guards (`lock_owned`) may be sent, and are never part of a
/// certain deadlock. The printed text says so, too.
///
/// # Errors
/// If the system cannot start the thread.
///
/// ```
/// waitword_observe::abort_on_deadlock()?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn abort_on_deadlock() -> io::Result<()> {
    enable();
    watch::start(|asked| (asked.prints, asked.aborts) = (true, true))
}
