//! The readers-writer lock: the public API, and the value that it protects.
//!
//! The word and its transitions are in `raw_rwlock`. This folder adds the value: here is the type, `grid.rs` has the methods that
//! acquire, `guard.rs` and `mapped.rs` the guards and the futures that end with them, `upgrade.rs` the upgrade from reading to writing,
//! `read_ref.rs` why a reader's guard is covariant. Each is written once for the three modes, borrowed and owned. The invariants of the
//! unsafe code are in `guards/mod.rs`.

mod grid;
pub(crate) mod guard;
pub(crate) mod mapped;
mod read_ref;
pub(crate) mod upgrade;

use std::cell::UnsafeCell;
use std::fmt;

use crate::acquire::Acquire as _;
use crate::guards::owns_its_value;
use crate::raw_rwlock::RawRwLock;

/// A value that many can read at a time, or one can change.
///
/// Threads [`read`](Self::read) and [`write`](Self::write), tasks [`read_async`](Self::read_async) and
/// [`write_async`](Self::write_async), on the same lock and in one queue. One of the readers at a time may be *upgradable*
/// ([`upgradable_read`](Self::upgradable_read)): it can [become the writer](crate::RwLockUpgradableReadGuard::upgrade) without
/// letting go. A writer can [become a reader](crate::RwLockWriteGuard::downgrade).
///
/// | | shared | exclusive | upgradable |
/// |---|---|---|---|
/// | blocks the thread | [`read`](Self::read), [`read_recursive`](Self::read_recursive) | [`write`](Self::write) | [`upgradable_read`](Self::upgradable_read) |
/// | never waits | [`try_read`](Self::try_read), [`try_read_recursive`](Self::try_read_recursive) | [`try_write`](Self::try_write) | [`try_upgradable_read`](Self::try_upgradable_read) |
/// | a future | [`read_async`](Self::read_async) | [`write_async`](Self::write_async) | [`upgradable_read_async`](Self::upgradable_read_async) |
/// | … with a timeout | `read_async().timeout(d)` | `write_async().timeout(d)` | `upgradable_read_async().timeout(d)` |
/// | blocks until a deadline | [`read_for`](Self::read_for), [`read_until`](Self::read_until) | [`write_for`](Self::write_for), [`write_until`](Self::write_until) | [`upgradable_read_for`](Self::upgradable_read_for), [`upgradable_read_until`](Self::upgradable_read_until) |
/// | over an `Arc` | [`read_owned`](Self::read_owned), [`try_read_owned`](Self::try_read_owned), [`read_owned_async`](Self::read_owned_async) | [`write_owned`](Self::write_owned), [`try_write_owned`](Self::try_write_owned), [`write_owned_async`](Self::write_owned_async) | [`upgradable_read_owned`](Self::upgradable_read_owned), [`try_upgradable_read_owned`](Self::try_upgradable_read_owned), [`upgradable_read_owned_async`](Self::upgradable_read_owned_async) |
///
/// It takes 16 bytes besides the value, and allocates nothing: neither a new lock nor a wait. Guards may be
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
/// Neither readers nor writers are preferred. Waiters, threads and tasks alike, are served in FIFO order; readers that are next to each
/// other in the queue get in together.
///
/// Readers may barge while others read, and any acquirer may barge before a signalled waiter runs. That is bounded: when the head waiter
/// was signalled and still finds the lock taken, or after a barging window of 200 µs, the lock is reserved for the queue, and every new
/// acquirer enqueues, readers too. The head then waits for the present holders alone, so neither a stream of readers nor one of writers
/// starves it. Plain readers pass an upgradable reader that waits for another one; a writer that is queued as well stops them, as
/// described, and so does a pending upgrade. The [guide](crate::guide::what_holds#barging-and-starvation) has the exact bounds.
///
/// [`RwLockWriteGuard::unlock_fair`](crate::RwLockWriteGuard::unlock_fair) reserves the lock for the head waiter at once.
///
/// # Recursion
/// A thread that reads already must not wait to read again while writers may come. The second read barges past a queued writer only until
/// the lock is reserved for that one: then it waits behind the writer, and the writer for the first read. In a quick test it gets in; in a
/// program that runs for long, it deadlocks one day. [`try_read_recursive`](Self::try_read_recursive) does not wait, and always succeeds
/// then.
///
/// # Futures that nobody polls
/// A waiter that is signalled and not polled holds nothing, and keeps nobody out for good: the next waiter is signalled in its place
/// after one to two times [`STALL_TIMEOUT`](crate::STALL_TIMEOUT). It keeps its position, and gets in when it is polled again. The
/// same holds for the future of a writer that was polled once and waits for readers to leave: readers behind it get in.
///
/// A *guard* in a task that is not polled does keep others out; and so does the future of an
/// [upgrade](crate::RwLockUpgradableReadGuard::upgrade_async), which has a guard.
///
/// # How many readers
/// 2^29 (536,870,912) at a time. Only guards that are leaked come to that. The next one panics, and nothing is lost. (Room for one more is kept
/// for the downgrade of an upgradable reader: no release or downgrade panics.)
///
/// # No poisoning
/// As with [`Mutex`](crate::Mutex#no-poisoning).
#[doc(alias("ReaderWriterLock", "ReadWriteLock", "SharedMutex", "shared_mutex", "pthread_rwlock_t"))]
#[derive(Default)]
// For `read_ref.rs`.
#[repr(C)]
pub struct RwLock<T: ?Sized> {
    pub(super) raw: RawRwLock,
    pub(super) value: UnsafeCell<T>,
}

// SAFETY: the owner of the lock is the owner of the value, and may move it out.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: readers share the value, and writers reach it one after the other, each through a `&mut` (invariants 1 and 2 of `guards/mod.rs`), as if
// it had been sent to them.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

owns_its_value!(RwLock over RawRwLock, "lock", "write");

impl<T: ?Sized> RwLock<T> {
    /// Whether there is a guard at this moment, of whatever kind. The answer may be outdated when it arrives.
    #[inline]
    pub fn is_locked(&self) -> bool {
        self.raw.is_held()
    }

    /// Whether there is a writer at this moment. The answer may be outdated when it arrives.
    #[doc(alias = "is_locked_exclusive")]
    #[inline]
    pub fn is_write_locked(&self) -> bool {
        self.raw.is_written()
    }
}

/// Shows the value if there is no writer, reading it meanwhile. Does not wait.
impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read_recursive() {
            Some(guard) => shown.field("data", &&*guard),
            None => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
