//! The mutex: its value, its guards and the ways to lock.
//!
//! The word and its state transitions are in `raw_mutex/`. This folder adds the value: here is the type, in `grid.rs` the ways to lock,
//! in `guard.rs` the guards, and the futures that end with them. The invariants of the unsafe code are in `guards/mod.rs`.

// Before the other modules: rustdoc shows the methods of modules in their order, and a page begins with `new`.
owns_its_value!(Mutex over RawMutex, "mutex", "lock");

mod grid;
pub(crate) mod guard;

use std::cell::UnsafeCell;
use std::fmt;

use crate::acquire::Acquire as _;
use crate::guards::owns_its_value;
use crate::raw_mutex::RawMutex;

/// A mutual exclusion lock around a value, for threads and tasks.
///
/// Threads lock it with [`lock`](Self::lock) and tasks with [`lock_async`](Self::lock_async). Both wait in the same queue, and both
/// return a guard, which gives access to the value and releases the mutex when it is dropped. A guard may be held across an
/// `await`, and dropped on another thread than the one that locked the mutex.
///
/// | | borrows | over an `Arc` |
/// |---|---|---|
/// | blocks the thread | [`lock`](Self::lock) | [`lock_owned`](Self::lock_owned) |
/// | never waits | [`try_lock`](Self::try_lock) | [`try_lock_owned`](Self::try_lock_owned) |
/// | a future | [`lock_async`](Self::lock_async) | [`lock_owned_async`](Self::lock_owned_async) |
/// | … with a timeout | `lock_async().timeout(d)` | `lock_owned_async().timeout(d)` |
/// | blocks until a deadline | [`lock_for`](Self::lock_for), [`lock_until`](Self::lock_until) | – |
///
/// It takes 4 bytes besides the value. Neither `new` nor a wait allocates.
///
/// ```
/// use std::sync::Arc;
/// use std::thread;
/// use waitword::Mutex;
///
/// # smol::block_on(async {
/// let log = Arc::new(Mutex::new(Vec::new()));
///
/// let thread = thread::spawn({
///     let log = Arc::clone(&log);
///     move || log.lock().push("a thread")
/// });
/// log.lock_async().await.push("a task");
/// thread.join().unwrap();
///
/// assert_eq!(log.lock().len(), 2);
/// # });
/// ```
///
/// # Fairness
/// All waiters, threads and tasks alike, are in one queue, and acquire the mutex in FIFO order. A release is a signal to the head
/// waiter, not a handoff: until that waiter runs, the mutex is free for barging acquirers, so that the mutex is not idle while
/// a running thread could use it. Barging is bounded and starves no waiter. The mutex is *reserved* for the queue, and new acquirers
/// enqueue, as soon as the signalled waiter runs and finds the mutex held; otherwise after a barging window of at most 200 µs, at the next
/// reading of the clock (every 16th release). A waiter keeps its position, however many
/// acquirers barge past it. The [guide](crate::guide::what_holds#barging-and-starvation) has the exact bounds.
///
/// [`MutexGuard::unlock_fair`](crate::MutexGuard::unlock_fair) reserves the mutex for the head waiter at once.
///
/// # Futures that nobody polls
/// A queued task that was signalled and is not polled does not hold the mutex, and delays other waiters for a bounded time only (no
/// futurelock). Other acquirers may barge for one barging window. After one to two times
/// [`STALL_TIMEOUT`](crate::STALL_TIMEOUT) (10 to 20 ms) without a response, the next waiter is signalled in its place. The
/// unresponsive task keeps its position, and acquires the mutex when it is polled again. So a future that was polled may stay in
/// a `select!`, in a set of futures or in a struct for any length of time.
///
/// A *guard* in a task that is not polled does hold the mutex, without a bound.
///
/// # No poisoning
/// If a thread panics while it holds a guard, or a task that holds one is dropped, the mutex is released, and the next holder finds the
/// value as it was left. The `Mutex` of the standard library would be poisoned by the panic. Poisoning does not suit tasks: a task that is
/// dropped halfway leaves the same incomplete change as a panic, but poisoning reports only the panic. Most critical sections cannot panic,
/// or leave no incomplete change if they do. With poisoning, each of them would still need an `unwrap`. For the others there is
/// [`Poison`](crate::Poison): a `Mutex<Poison<T>>` records that a holder panicked, or left a change incomplete.
#[doc(alias("AsyncMutex", "FairMutex", "pthread_mutex_t", "timed_mutex", "BiLock"))]
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    pub(crate) raw: RawMutex,
    pub(super) value: UnsafeCell<T>,
}

#[cfg(not(waitword_loom))]
const _: () =
    assert!(size_of::<Mutex<()>>() == 4 && size_of::<Mutex<u32>>() == 8, "4 bytes besides the value");

// SAFETY: the owner of the mutex owns the value, and may move it out.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: threads that share the mutex reach the value one after the other, each through a `&mut` (invariants 1 and 2 of `guards/mod.rs`), as if
// it had been sent to them.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T: ?Sized> Mutex<T> {
    /// Returns `true` if the mutex is held at this moment. The answer may be outdated when the caller sees it.
    #[inline]
    pub fn is_locked(&self) -> bool {
        self.raw.is_locked()
    }
}

/// Shows the value if the mutex is free, and holds the mutex while it does. Never waits.
impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.try_lock() {
            Some(guard) => shown.field("data", &&*guard),
            None => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
