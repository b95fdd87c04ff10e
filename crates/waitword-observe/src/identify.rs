//! The numbers of tasks.

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
    waitword_core::observe::identify(identify)
}
