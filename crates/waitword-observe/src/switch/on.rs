//! Observation by hand, and what happens when a deadlock is found.

use std::io;
use std::sync::Arc;

use waitword_core::observe::{AWAITED, TASKS, start_clock, stop_clock};

use super::watch::{self, Found};
use crate::finding::{Cycle, Finding};
use crate::observer::{ask, start_blame, start_holders, stop_blame, stop_holders};
use crate::{order, tasks};

/// From now on waits have ages, and holders are recorded and charged with the waits of others ([`blame`](crate::blame())).
///
/// Each wait, and each release of a lock with waiters, reads the clock once more, some 20 to 40 ns. Each acquisition and its release make
/// and erase a record, some 90 instructions. Locks that are held already have no record. Waiters are seen in any case, with their sites.
pub fn enable() {
    start_clock();
    start_holders();
    start_blame();
}

/// Waits that begin from now on have no ages and are charged to nobody, holders are not recorded any more, the order of locks is not
/// checked, and the thread of `WAITWORD_OBSERVE=1` ends. Sockets and signals still give reports.
pub fn disable() {
    ask(0, AWAITED);
    order::stop();
    stop_blame();
    stop_clock();
    stop_holders();
    watch::stop();
}

/// From now on the order in which threads and tasks acquire locks is checked: see [`lock_order`](crate::lock_order) and
/// [`assert_lock_order`](crate::assert_lock_order). For tests.
///
/// Records holders, as [`enable`] does, until [`disable`]. Each acquisition and each release takes a lock of the
/// process and costs some hundred nanoseconds. Locks that are held already are not seen. Nothing happens if it is on.
///
/// A task is known by its waker, which another task may get after it has ended; and a `lock()` in a task counts as its thread's. To have
/// both known by the number of the task, call [`identify`](identify()) first.
pub fn check_lock_order() {
    start_holders();
    order::start();
    ask(AWAITED, 0);
}

/// From now on reports name tasks by the numbers that `identify` returns: those of the executor, which its other tools show too. Without
/// this, a task is a number in order of first appearance.
///
/// `identify` is called on the task's thread, in the poll in which the task begins to wait; while holders are recorded, also when it acquires
/// or releases a lock, and then on threads that run no task, too. So it has to be short, and must take no lock of `waitword`'s. A panic of it
/// is caught, and counts as `None`; on a thread that panics it is not called, and a task there releases its own locks. It returns `None` where no
/// task runs (in `block_on`, say): such a waiter is `task 3 "not identified"`. Only the first call counts, for the rest of the process; returns
/// whether this is it.
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

/// Calls `f` with each cycle that is found, once while it lasts; not only with deadlocks: [`Cycle::is_certain`] says whether anything is
/// known that could end it.
///
/// [`enable`]s observation, and starts a thread that checks once per second, so a cycle is found one to two seconds after it is complete.
/// `f` runs on that thread, and may take locks and make a [`report`](crate::report); while it waits, nothing else is found. A panic of `f` is caught.
/// [`disable`] forgets `f`.
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

/// Aborts the process when a deadlock is found that nothing known can end ([`Cycle::is_certain`]), with a report on the standard error: for
/// tests and CI, where a deadlock would hang until a timeout that says nothing. [`on_deadlock`] also tells of other cycles.
///
/// A program that sends borrowed guards to other threads may be aborted without a deadlock: that such a guard was sent is not known before
/// a guard that was acquired at the same line was released there. Owned guards (`lock_owned`) are made to be sent, and make no certain
/// deadlock. The printed text says so, too.
///
/// Otherwise as [`on_deadlock`]. Not for production: a report is what helps there, and an aborted process is no better than a stuck one.
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
