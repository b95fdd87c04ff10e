//! The type: a state word and a value.

use std::cell::UnsafeCell;
use std::panic::RefUnwindSafe;
use waitword_core::time::Instant;

use waitword_core::observe::LockType;
use waitword_core::observe::holders::HoldId;

use crate::acquire::{self, Blocks, HasRaw};
use crate::error::LockError;
use crate::poison::Poison;
use crate::raw_mutex::RawMutex;
use crate::sync::const_fn;

/// A value that one thread or task at a time can reach.
///
/// Threads lock it with [`lock`](Self::lock) and tasks with [`lock_async`](Self::lock_async), on the same mutex and from
/// one wait queue. Both return a guard, which gives access to the value, and releases the mutex when it is dropped. A guard
/// may be dropped on another thread than the one that locked, and held across an `await`.
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
/// All waiters, threads and tasks alike, are in one queue, and get the mutex in FIFO order. A release is a signal to the head
/// waiter, not a handoff: until that waiter runs, the mutex is free for barging acquirers, and no thread sleeps at a free
/// mutex. Barging is bounded, so it starves no waiter: when the signalled waiter runs and finds the mutex held, or after a
/// barging window of 200 µs at the most, the mutex is reserved for the queue. A waiter keeps its position, however many
/// acquirers barge past it. The [guide](crate::guide::what_holds#barging-and-starvation) has the exact bounds.
///
/// [`MutexGuard::unlock_fair`](crate::MutexGuard::unlock_fair) reserves the mutex for the head waiter at once.
///
/// # Futures that nobody polls
/// A queued task that is signalled and not polled does not hold the mutex, and does not block other waiters for good (no
/// futurelock). Other acquirers barge meanwhile, for one barging window. After one to two times
/// [`STALL_TIMEOUT`](crate::STALL_TIMEOUT) (10 to 20 ms) without a response, the next waiter is signalled in its place. The
/// unresponsive task keeps its position, and gets the mutex when it is polled again. So a lock future may stay half awaited in
/// a `select!`, in a set of futures or in a struct, for any time.
///
/// A *guard* in a task that is not polled does hold the mutex, and the lock cannot know for how long.
///
/// # No poisoning
/// If a thread panics while it has a guard, or a task is dropped, the mutex is released, and the next holder finds the value
/// as it was left. The `Mutex` of the standard library would be poisoned. Poisoning does not suit tasks: a task that is dropped
/// halfway leaves the same incomplete change as a panic, but poisoning would report only the panic. And most critical sections
/// either cannot panic or leave nothing half done, and would need an `unwrap` each all the same. For the others there is
/// [`Poison`](crate::Poison): a `Mutex<Poison<T>>` records that a holder panicked.
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
// SAFETY: threads that share the mutex reach the value one after the other, each through a `&mut` (invariants 1 and 2), as if
// it had been sent to them.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// After a panic, [`Poison`] reports it to the next holder.
impl<T: ?Sized> RefUnwindSafe for Mutex<Poison<T>> {}

// SAFETY: the raw mutex is a field, and the word is a field of that. Nothing panics (invariant 1 of `HasRaw`).
unsafe impl<T: ?Sized> HasRaw for Mutex<T> {
    type Raw = RawMutex;

    const TYPE: Option<&'static LockType> = Some(&LockType::new::<T>("Mutex"));

    #[inline]
    fn raw(&self) -> &RawMutex {
        &self.raw
    }
}

impl<T: ?Sized> Blocks for Mutex<T> {}

impl<T> Mutex<T> {
    const_fn! {
        /// A free mutex.
        ///
        /// ```
        /// static NAMES: waitword::Mutex<Vec<&str>> = waitword::Mutex::new(Vec::new());
        /// NAMES.lock().push("Ada");
        /// ```
        pub const fn new(value: T) -> Self {
            Self { raw: RawMutex::new(), value: UnsafeCell::new(value) }
        }
    }

    /// The value. Does not wait: the owner of the mutex has exclusive access.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// The value. Does not wait: the owner of the mutex has exclusive access.
    ///
    /// ```
    /// let mut mutex = waitword::Mutex::new(1);
    /// *mutex.get_mut() += 1;
    /// assert_eq!(mutex.into_inner(), 2);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// A pointer to the value, which is valid for as long as the mutex stays where it is. Accesses through the pointer must
    /// exclude other accesses, for instance by having the guard.
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

    /// Whether the mutex is held at this moment. The answer may be outdated when it arrives.
    #[inline]
    pub fn is_locked(&self) -> bool {
        self.raw.is_locked()
    }

    /// The blocking half of the grid. `instead` names the method for threads that must not block.
    #[inline]
    #[track_caller]
    pub(super) fn acquire(&self, instead: impl Fn() -> &'static str + Copy) -> HoldId {
        let Ok(hold) = acquire::acquire(self, || (), instead);
        hold
    }

    /// The clock is not read if there is no need to wait.
    #[inline]
    #[track_caller]
    pub(super) fn acquire_until(
        &self,
        deadline: impl FnOnce() -> Option<Instant>,
    ) -> Result<HoldId, LockError> {
        match acquire::take::<{ acquire::TIMED }, _>(&self.raw, || ()) {
            Some(hold) => Ok(hold),
            None => acquire::block_until_for(self, (), deadline()).map(|Ok(hold)| hold),
        }
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
