//! The clock.

use waitword_core::observe::{start_clock, stop_clock};

use super::watch;
use crate::observer::{ask, start_blame, start_holders, stop_blame, stop_holders};
use crate::process::begin;
use crate::{order, tasks};

/// From now on waits have ages, holders are recorded, and charged with the waits of others ([`blame`](crate::blame())).
///
/// Each wait, and each release of a lock with waiters, reads the clock once more, some 20 to 40 ns. Each acquisition and its release make
/// and erase a record, some 65 instructions. Locks that are held already have no record. Waiters are seen in any case, with their sites.
pub fn enable() {
    begin();
    start_clock();
    start_holders();
    start_blame();
}

/// Waits that begin from now on have no ages and are charged to nobody, holders are not recorded any more, the order of locks is
/// not checked, and the thread of
/// `WAITWORD_OBSERVE=1` ends. Sockets and signals still give reports.
pub fn disable() {
    ask(|asked| asked.order = false);
    order::stop();
    stop_blame();
    stop_clock();
    stop_holders();
    watch::stop();
}

/// From now on the order in which threads and tasks take locks is checked: see [`lock_order`](crate::lock_order) and [`assert_lock_order`](crate::assert_lock_order). For tests.
///
/// Records holders, as [`enable`] does, until [`disable`]. Each acquisition and each release takes a lock of the
/// process and costs some hundred nanoseconds. Locks that are held already are not seen. Nothing happens if it is on.
///
/// A task is known by its waker, which another task may get after it has ended; and a `lock()` in a task counts as its thread's. Call
/// [`identify`](identify()) first, and both are known by the number of the task.
pub fn check_lock_order() {
    begin();
    start_holders();
    order::start();
    ask(|asked| asked.order = true);
}

/// From now on reports have tasks by the numbers that `identify` gives: those of the executor, which its other tools show too. Without
/// this, a task is a number in order of first appearance.
///
/// `identify` is called on the task's thread, in the poll in which it begins to wait or, while holders are recorded, acquires a lock, so it is short and takes no lock of `waitword`'s. It returns
/// `None` where no task runs (in `block_on`, say): such a waiter is `task 3 "not identified"`. The first call counts, for the rest of the
/// process; returns whether this is it.
///
/// Of tokio:
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
    ask(|asked| asked.tasks = true);
    is_first
}
