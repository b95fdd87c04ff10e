//! The readers-writer lock: its word and its value.

use std::cell::UnsafeCell;
use std::panic::RefUnwindSafe;

use crate::acquire::HasRaw;
use crate::poison::Poison;
use crate::raw_rwlock::RawRwLock;
use crate::sync::const_fn;

/// A value that many can read at a time, or one can change.
///
/// Threads [`read`](Self::read) and [`write`](Self::write), tasks [`read_async`](Self::read_async) and
/// [`write_async`](Self::write_async), on the same lock and from one line. One of the readers at a time may be *upgradable*
/// ([`upgradable_read`](Self::upgradable_read)): it can [become the writer](crate::RwLockUpgradableReadGuard::upgrade) without
/// letting go. A writer can [become a reader](crate::RwLockWriteGuard::downgrade).
///
/// It takes 16 bytes besides the value, and allocates nothing, neither when it is made nor when somebody waits. Guards may be
/// dropped on another thread than the one that acquired them, and held across an `await`.
///
/// ```
/// use std::sync::Arc;
/// use std::thread;
/// use waitword::RwLock;
///
/// # smol::block_on(async {
/// let limits = Arc::new(RwLock::new(vec![10, 20]));
///
/// let thread = thread::spawn({
///     let limits = Arc::clone(&limits);
///     move || limits.write().push(30)
/// });
/// let largest = limits.read_async().await.last().copied();
/// assert!(largest == Some(20) || largest == Some(30));
/// thread.join().unwrap();
/// assert_eq!(limits.read().len(), 3);
/// # });
/// ```
///
/// # Fairness
/// Neither readers nor writers are preferred. Those who wait stand in one queue, threads and tasks alike, and get in in the
/// order in which they came; readers that follow one another get in together.
///
/// Barging acquirers for which there is room may overtake the queue for a while: readers while others read, and others before the
/// signalled waiter runs. That is bounded: when the head waiter was signalled and finds somebody inside, or after a barging window of
/// 200 µs, all that come enqueue behind it, readers too. Then it waits for those who are inside to leave. Neither a stream
/// of readers nor one of writers keeps it out for longer. The
/// [guide](crate::guide::what_holds#barging-and-starvation) has the bound with all its digits.
///
/// Whoever wants the next in line to come now says [`RwLockWriteGuard::unlock_fair`](crate::RwLockWriteGuard::unlock_fair).
///
/// # Recursion
/// Whoever reads already should not wait to read again: a writer may have come meanwhile, who waits for the first read to end,
/// and the second waits behind the writer. [`try_read_recursive`](Self::try_read_recursive) does not wait, and always succeeds
/// then.
///
/// # Futures that nobody polls
/// One in line that is called and not polled takes nothing, and keeps nobody out for good: those behind it are called in its
/// place once it has not come for [`STALL_TIMEOUT`](crate::STALL_TIMEOUT), or twice that. It keeps its place, and gets in when it is polled again. That
/// holds also for a writer's future that was polled once and waits for readers to leave: readers behind it get in.
///
/// A *guard* that is kept by a task which nobody polls is another matter; and so is the future of an
/// [upgrade](crate::RwLockUpgradableReadGuard::upgrade_async), which has a guard.
///
/// # How many readers
/// 2^30 (1,073,741,824) at a time. Only guards that are leaked come to that. The next one panics, and nothing is lost.
///
/// # No poisoning
/// As with [`Mutex`](crate::Mutex#no-poisoning).
///
/// # Panics
/// Whoever makes room calls the next in line. If the waker of that one panics, so does the drop of the guard; the lock is
/// released then. A reader that got in from the line, and calls the next, leaves again.
#[doc(alias("ReaderWriterLock", "ReadWriteLock", "SharedMutex", "shared_mutex", "pthread_rwlock_t"))]
#[derive(Default)]
// For `read_ref.rs`.
#[repr(C)]
pub struct RwLock<T: ?Sized> {
    pub(super) raw: RawRwLock,
    pub(super) value: UnsafeCell<T>,
}

// SAFETY: whoever has the lock has the value, and may move it out.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: readers share the value, and writers reach it one after the other, each through a `&mut` (invariants 1 and 2), as if
// it had been sent to them.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

/// Whoever comes to the value after a panic is told of it.
impl<T: ?Sized> RefUnwindSafe for RwLock<Poison<T>> {}

// SAFETY: it is a field, and the words are fields of that. Nothing panics.
unsafe impl<T: ?Sized> HasRaw for RwLock<T> {
    type Raw = RawRwLock;

    fn raw(&self) -> &RawRwLock {
        &self.raw
    }
}

impl<T> RwLock<T> {
    const_fn! {
        /// A lock that nobody holds.
        ///
        /// ```
        /// use waitword::RwLock;
        ///
        /// static NAMES: RwLock<Vec<String>> = RwLock::new(Vec::new());
        /// NAMES.write().push("one".to_owned());
        /// assert_eq!(NAMES.read().len(), 1);
        /// ```
        pub const fn new(value: T) -> Self {
            Self { raw: RawRwLock::new(), value: UnsafeCell::new(value) }
        }
    }

    /// The value. Nobody has to be waited for: whoever has the lock for itself is alone.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// The value. Nobody has to be waited for: whoever has the lock for itself is alone.
    ///
    /// ```
    /// let mut lock = waitword::RwLock::new(1);
    /// *lock.get_mut() += 1;
    /// assert_eq!(lock.into_inner(), 2);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// A pointer to the value, which is good for as long as the lock stays where it is. Whoever reads through it sees to it that nobody
    /// writes, and whoever writes that nobody else does either, for instance by having a guard.
    ///
    /// ```
    /// let lock = waitword::RwLock::new(1);
    /// let guard = lock.write();
    /// // SAFETY: there is the writer's guard, and it is not used meanwhile.
    /// unsafe { *lock.data_ptr() += 1 };
    /// assert_eq!(*guard, 2);
    /// ```
    #[inline]
    pub const fn data_ptr(&self) -> *mut T {
        self.value.get()
    }

    /// Whether somebody has a guard at this moment, of whatever kind. By the time it returns the answer may be another.
    #[inline]
    pub fn is_locked(&self) -> bool {
        self.raw.is_held()
    }

    /// Whether somebody writes at this moment. By the time it returns the answer may be another.
    #[doc(alias = "is_locked_exclusive")]
    #[inline]
    pub fn is_write_locked(&self) -> bool {
        self.raw.is_written()
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
