//! The mutex: what you call, and the value that it protects.
//!
//! The word and all that happens to it is in `raw_mutex.rs`. Here it meets a value: `grid.rs` has the ways to lock,
//! `guard.rs` and `mapped.rs` the guards through which the value is reached, `owned.rs` the same over an `Arc`, `futures.rs`
//! what the `_async` methods return.
//!
//! # Invariants
//! The unsafe code of this folder rests on these:
//!
//! 1. There is a guard, of whatever kind, only for as long as the raw mutex is held on its behalf. It is made from an
//!    acquisition that nobody else has made a guard from, and whoever makes another guard from it forgets it. Its drop
//!    releases, once. So there is one at a time.
//! 2. The value is reached only through the guard, or by somebody who has the mutex for itself (`&mut`, or by value), and
//!    then there is no guard.
//! 3. The value stays where it is while there is a guard, because the guard borrows the mutex or has an `Arc` of it.

mod futures;
mod grid;
mod guard;
mod mapped;
mod owned;

use std::cell::UnsafeCell;
use std::fmt;
use std::panic::RefUnwindSafe;
use std::time::Instant;

use crate::acquire::{self, Acquire, HasRaw};
use crate::error::LockError;
use crate::poison::Poison;
use crate::raw_mutex::RawMutex;
use crate::sync::const_fn;

pub use futures::{MutexLock, MutexLockOwned, MutexLockOwnedUntil, MutexLockUntil};
pub use guard::MutexGuard;
pub use mapped::{MappedMutexGuard, OwnedMappedMutexGuard};
pub use owned::OwnedMutexGuard;

/// A value that one thread or task at a time can reach.
///
/// Threads take it with [`lock`](Self::lock) and tasks with [`lock_async`](Self::lock_async), on the same mutex and from
/// one line. Either returns a guard, through which the value is reached, and which releases the mutex when it is
/// dropped. A guard may be dropped on another thread than the one that locked, and held across an `await`.
///
/// It takes 4 bytes besides the value, and allocates nothing, neither when it is made nor when somebody waits.
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
/// Those who wait stand in one line, threads and tasks alike, and get the mutex in the order in which they came. A release
/// does not hand it to the first of them, but calls it: until it comes, the mutex is free for whoever runs, and nobody
/// sleeps while nobody holds it. That is bounded: when the one who was called comes and finds somebody inside, or after a
/// quantum of 200 µs at the most, the mutex is kept for those in line. A place in line is kept, however often its owner is overtaken.
/// The [guide](crate::guide::what_holds#how-long-one-can-be-overtaken) has the bound with all its digits.
///
/// Whoever wants the next in line to come now says [`MutexGuard::unlock_fair`].
///
/// # Futures that nobody polls
/// A task in line that is called and not polled takes nothing, and keeps nobody from the mutex for good. Whoever runs
/// takes it meanwhile, for a quantum as above; those behind are called in its place once it has not come for
/// [`STALL_TIMEOUT`](crate::STALL_TIMEOUT), or twice that: 10 to 20 ms. It keeps its place, and gets the mutex when it is polled again. So a
/// lock future may lie in a `select!`, in a set of futures or in a struct, half awaited, for as long as it pleases.
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
/// A release calls the next in line. If the waker of that one panics, so does the drop of the guard; the mutex is free then.
/// So it does if it is the first in the process to leave somebody behind whom it called, and the system cannot start the
/// thread that keeps the time.
#[doc(alias("AsyncMutex", "FairMutex", "pthread_mutex_t", "timed_mutex", "BiLock"))]
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    pub(crate) raw: RawMutex,
    value: UnsafeCell<T>,
}

#[cfg(not(any(waitword_loom, waitword_shuttle)))]
const _: () =
    assert!(size_of::<Mutex<()>>() == 4 && size_of::<Mutex<u32>>() == 8, "4 bytes besides the value");

// SAFETY: whoever has the mutex has the value, and may move it out.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: those who share the mutex reach the value one after the other, each through a `&mut` (invariants 1 and 2), as if
// it had been sent to them.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// Whoever comes to the value after a panic is told of it.
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

    /// The value. Nobody has to be waited for: whoever has the mutex for itself is alone.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// The value. Nobody has to be waited for: whoever has the mutex for itself is alone.
    ///
    /// ```
    /// let mut mutex = waitword::Mutex::new(1);
    /// *mutex.get_mut() += 1;
    /// assert_eq!(mutex.into_inner(), 2);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// A pointer to the value, which is good for as long as the mutex stays where it is. Whoever reads or writes through it sees to it
    /// that nobody else does, for instance by having the guard.
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
    fn acquire(&self, instead: &str) {
        if !self.raw.take(()) {
            acquire::block(&self.raw, (), instead);
        }
    }

    /// The clock is not read if there is no need to wait.
    #[inline]
    fn acquire_until(&self, deadline: impl FnOnce() -> Option<Instant>) -> Result<(), LockError> {
        if self.raw.take(()) { Ok(()) } else { acquire::block_until(&self.raw, (), deadline()) }
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// Shows the value if the mutex is free, for which it is locked meanwhile. Does not wait.
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
