//! The condition variable. The ways to wait in `threads.rs` and `tasks.rs`, their futures in `futures.rs`, the word and its races in `raw.rs`.

// Before the other modules: rustdoc shows the methods of modules in their order, and a page begins with `new`.
mod new {
    use super::{Condvar, RawCondvar, const_fn};

    impl Condvar {
        const_fn! {
            /// Creates a condition variable without waiters.
            pub const fn new() -> Self {
                Self { raw: RawCondvar::new() }
            }
        }
    }
}

pub(crate) mod futures;
pub(crate) mod guard;
mod raw;
mod threads;

// After `threads`: those methods come first on the page.
mod tasks;

use std::fmt;

use crate::condvar::raw::RawCondvar;
use crate::handle::has_raw;
use crate::holders::{noted, tells_its_drop};
use crate::sync::const_fn;

/// A condition variable, for threads and tasks: a wait releases a [`Mutex`](crate::Mutex), and locks it again once notified.
///
/// Threads and tasks wait in one queue, in FIFO order, and a notifier need not know which they are. A wait needs the guard of the
/// mutex, a [`MutexGuard`](crate::MutexGuard) or an [`OwnedMutexGuard`](crate::OwnedMutexGuard). A blocking wait borrows it
/// (`&mut guard`); a future takes it by value and returns it.
///
/// | | once | while a condition holds |
/// |---|---|---|
/// | blocks the thread, borrows the guard | [`wait`](Self::wait) | [`wait_while`](Self::wait_while) |
/// | a future, takes the guard | [`wait_async`](Self::wait_async) | [`wait_while_async`](Self::wait_while_async) |
/// | … with a timeout | `wait_async(guard).timeout(d)` | `wait_while_async(guard, f).timeout(d)` |
/// | blocks until a deadline | [`wait_for`](Self::wait_for), [`wait_until`](Self::wait_until) | [`wait_while_for`](Self::wait_while_for), [`wait_while_until`](Self::wait_while_until) |
/// | a future over an `Arc` | [`wait_owned_async`](Self::wait_owned_async) | [`wait_while_owned_async`](Self::wait_while_owned_async) |
///
/// There are no spurious wakeups: a wait ends because a notify counted it, or at its deadline. But between the notify
/// and the end of the wait, other holders of the mutex may change its value. So wait in a loop, or use
/// [`wait_while`](Self::wait_while) and its variants, which contain that loop.
///
/// ```
/// use std::thread;
/// use waitword::{Condvar, Mutex};
///
/// static FRAMES: Mutex<Vec<u32>> = Mutex::new(Vec::new());
/// static ARRIVED: Condvar = Condvar::new();
///
/// let decoder = thread::spawn(|| {
///     FRAMES.lock().push(7);
///     ARRIVED.notify_one();
/// });
/// // A task ...
/// let frame = smol::block_on(async {
///     let mut frames = ARRIVED.wait_while_async(FRAMES.lock_async().await, |frames| frames.is_empty()).await;
///     frames.pop()
/// });
/// assert_eq!(frame, Some(7));
/// decoder.join().unwrap();
/// // ... or a thread.
/// FRAMES.lock().push(8);
/// let mut frames = FRAMES.lock();
/// ARRIVED.wait_while(&mut frames, |frames| frames.is_empty());
/// assert_eq!(frames.pop(), Some(8));
/// ```
///
/// # Herds
/// [`notify_all`](Self::notify_all) wakes threads at once, and they lock the mutex in the order in which they run. It moves tasks to the
/// tail of the mutex's queue (wait morphing): at most one of them is signalled, and the others follow one by one as the mutex is released.
/// So an executor does not poll a hundred tasks for one mutex.
///
/// # No wakeup is missed
/// A wait is enqueued before it releases the mutex. So a notifier that changes the value while it holds the mutex, and notifies
/// then or later, reaches every wait that began before the change.
///
/// # Fairness
/// Waiters are notified in FIFO order. A thread, and a task that `notify_one` notified, locks the mutex when it runs, like any acquirer.
/// The tasks of a `notify_all` are queued for the mutex in FIFO order. The bounds are those of the mutex ([`Mutex`](crate::Mutex)). For the
/// one task that `notify_all` signals, the bounds count from its next poll or from when another waiter is queued behind it, whichever comes
/// first.
///
/// # One mutex at a time
/// All concurrent waiters have to use the same mutex. While there is no waiter, the next wait may use another mutex.
#[doc(alias("Condition", "Monitor", "condition_variable", "pthread_cond_t"))]
pub struct Condvar {
    pub(super) raw: RawCondvar,
}

has_raw!(Condvar, RawCondvar);

impl Condvar {
    /// Notifies the head waiter, the one that has waited longest. Returns `true` if there was a waiter. Without a waiter, it has no effect.
    ///
    /// The caller may hold the mutex or not. A notified waiter returns from its wait once it has locked the mutex. If its future is
    /// dropped before that, the notify is forwarded to the next waiter.
    ///
    /// ```
    /// assert!(!waitword::Condvar::new().notify_one());
    /// ```
    ///
    /// Never panics: a panic of a task's waker is caught, after the panic hook has reported it.
    #[doc(alias("signal", "notify", "pthread_cond_signal"))]
    #[inline]
    #[track_caller]
    pub fn notify_one(&self) -> bool {
        noted(self.raw.word_at(), || self.raw.notify(1), |notified| *notified) != 0
    }

    /// Notifies all present waiters, and returns how many it notified.
    ///
    /// Threads are woken at once. At most one task is woken at once; the others follow as the mutex is released. A wait that begins later is
    /// not notified, even if the future of a notified wait is dropped.
    ///
    /// ```
    /// use waitword::{Condvar, Mutex};
    ///
    /// let (open, changed) = (Mutex::new(false), Condvar::new());
    /// std::thread::scope(|scope| {
    ///     for _ in 0..3 {
    ///         scope.spawn(|| changed.wait_while(&mut open.lock(), |open| !*open));
    ///     }
    ///     *open.lock() = true;
    ///     // The present waiters; later threads find it open.
    ///     assert!(changed.notify_all() <= 3);
    /// });
    /// ```
    #[doc(alias("broadcast", "notify_waiters", "pthread_cond_broadcast"))]
    #[inline]
    #[track_caller]
    pub fn notify_all(&self) -> usize {
        noted(self.raw.word_at(), || self.raw.notify(usize::MAX), |notified| *notified)
    }
}

tells_its_drop! { Condvar: this => this.raw.word_at(), false }

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
