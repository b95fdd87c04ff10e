//! The type: a state word and a value.

use std::cell::UnsafeCell;
use std::panic::RefUnwindSafe;
use std::time::Instant;

use crate::acquire::{self, Acquire, HasRaw};
use crate::error::LockError;
use crate::poison::Poison;
use crate::raw_mutex::RawMutex;
use crate::sync::const_fn;

/// A value that one thread or task at a time can reach.
///
/// Threads lock it with [`lock`](Self::lock) and tasks with [`lock_async`](Self::lock_async), on the same mutex and from
/// one wait queue. Either returns a guard, through which the value is reached, and which releases the mutex when it is
/// dropped. A guard may be dropped on another thread than the one that locked, and held across an `await`.
///
/// It takes 4 bytes besides the value, and allocates nothing: neither a new mutex nor a wait.
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
/// All waiters, threads and tasks alike, are in one queue, and get the mutex in its order. A release
/// is not a handoff to the head waiter, but a signal: until that waiter runs, the mutex is free for barging acquirers, and no thread
/// sleeps at a free mutex. Barging is bounded, so it starves no waiter: when the signalled waiter runs and finds the mutex held, or
/// after a window of 200 µs at the most, the mutex is reserved for the queue. A waiter keeps its position, however many barge past it.
/// The [guide](crate::guide::what_holds#barging-and-starvation) has the bound with all its digits.
///
/// [`MutexGuard::unlock_fair`](crate::MutexGuard::unlock_fair) reserves the mutex for the head waiter at once.
///
/// # Futures that nobody polls
/// A queued task that is signalled and not polled takes nothing, and keeps nobody from the mutex for good (no futurelock). Others
/// barge meanwhile, for a window as above; the waiter behind it is signalled in its place once it has not responded for
/// [`STALL_TIMEOUT`](crate::STALL_TIMEOUT), or twice that: 10 to 20 ms. It keeps its position, and gets the mutex when it is polled again. So
/// a lock future may lie in a `select!`, in a set of futures or in a struct, half awaited, for any time.
///
/// A *guard* that is kept by a task which nobody polls is another matter: the mutex is held then, and nobody can know
/// whether for good.
///
/// # No poisoning
/// If a thread panics while it has a guard, or a task is dropped, the mutex is released, and the next one finds the value
/// as it was left. The `Mutex` of the standard library would be poisoned. That does not go together with tasks: a task that is
/// dropped halfway leaves the same half of a change behind, without a panic; one would be reported, the other not. And most
/// critical sections either cannot panic or leave nothing half done, and would have an `unwrap` each all the same. For
/// those that can, there is [`Poison`](crate::Poison): a `Mutex<Poison<T>>` knows when it was left in a panic.
///
/// # Panics
/// A release signals the next waiter. If the waker of that one panics, so does the drop of the guard; the mutex is free then.
/// So it does at the first release of the process that leaves a waiter queued behind the signalled one, if the system cannot
/// start the thread that keeps the time.
#[doc(alias("AsyncMutex", "FairMutex", "pthread_mutex_t", "timed_mutex", "BiLock"))]
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    pub(crate) raw: RawMutex,
    pub(super) value: UnsafeCell<T>,
}

#[cfg(not(any(waitword_loom, waitword_shuttle)))]
const _: () =
    assert!(size_of::<Mutex<()>>() == 4 && size_of::<Mutex<u32>>() == 8, "4 bytes besides the value");

// SAFETY: the owner of the mutex owns the value, and may move it out.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: threads that share the mutex reach the value one after the other, each through a `&mut` (invariants 1 and 2), as if
// it had been sent to them.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// After a panic, [`Poison`] reports it to the next holder.
impl<T: ?Sized> RefUnwindSafe for Mutex<Poison<T>> {}

// SAFETY: it is a field, and the word is a field of that. Nothing panics.
unsafe impl<T: ?Sized> HasRaw for Mutex<T> {
    type Raw = RawMutex;

    fn raw(&self) -> &RawMutex {
        &self.raw
    }
}

impl<T> Mutex<T> {
    const_fn! {
        /// A mutex that nobody holds.
        ///
        /// ```
        /// static NAMES: waitword::Mutex<Vec<&str>> = waitword::Mutex::new(Vec::new());
        /// NAMES.lock().push("Ada");
        /// ```
        pub const fn new(value: T) -> Self {
            Self { raw: RawMutex::new(), value: UnsafeCell::new(value) }
        }
    }

    /// The value. No wait is needed: the owner of the mutex is alone with it.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// The value. No wait is needed: the owner of the mutex is alone with it.
    ///
    /// ```
    /// let mut mutex = waitword::Mutex::new(1);
    /// *mutex.get_mut() += 1;
    /// assert_eq!(mutex.into_inner(), 2);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// A pointer to the value, which is good for as long as the mutex stays where it is. Accesses through it must exclude others, for
    /// instance by having the guard.
    ///
    /// ```
    /// let mutex = waitword::Mutex::new(1);
    /// let guard = mutex.lock();
    /// // SAFETY: there is the guard, and it is not used meanwhile.
    /// unsafe { *mutex.data_ptr() += 1 };
    /// assert_eq!(*guard, 2);
    /// ```
    #[inline]
    pub const fn data_ptr(&self) -> *mut T {
        self.value.get()
    }

    /// Whether somebody has the guard at this moment. By the time it returns the answer may be another.
    #[inline]
    pub fn is_locked(&self) -> bool {
        self.raw.is_locked()
    }

    /// The blocking half of the grid. `instead` is for threads that must not block.
    #[inline]
    #[track_caller]
    pub(super) fn acquire(&self, instead: &str) {
        if !self.raw.take(()) {
            acquire::block(&self.raw, (), instead);
        }
    }

    /// The clock is not read if there is no need to wait.
    #[inline]
    pub(super) fn acquire_until(&self, deadline: impl FnOnce() -> Option<Instant>) -> Result<(), LockError> {
        if self.raw.take(()) { Ok(()) } else { acquire::block_until(&self.raw, (), deadline()) }
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
