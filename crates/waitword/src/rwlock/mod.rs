//! The readers-writer lock: the public API, and the value that it protects.
//!
//! The word and its transitions are in `raw_rwlock`. This folder adds the value: here is the type, `grid.rs` has the methods that
//! acquire, `guard.rs` and `mapped.rs` the guards and the futures that end with them, `upgrade.rs` the upgrade from reading to writing,
//! `read_ref.rs` why a reader's guard is covariant. Each is written once for the three modes, borrowed and owned. The invariants of the
//! unsafe code are in `guards/mod.rs`.

// Before the other modules: rustdoc shows the methods of modules in their order, and a page begins with `new`.
owns_its_value!(RwLock over RawRwLock, "lock", "write");

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

/// A readers-writer lock around a value, for threads and tasks: many readers at a time, or one writer.
///
/// Threads use [`read`](Self::read) and [`write`](Self::write), tasks [`read_async`](Self::read_async) and
/// [`write_async`](Self::write_async). All of them wait in the same queue. One reader at a time may be *upgradable*
/// ([`upgradable_read`](Self::upgradable_read)): it can [become the writer](crate::RwLockUpgradableReadGuard::upgrade) without
/// releasing the lock. A writer can [become a reader](crate::RwLockWriteGuard::downgrade).
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
/// It takes 16 bytes besides the value. Neither `new` nor a wait allocates. Guards may be held across an `await`, and
/// dropped on another thread than the one that acquired them.
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
/// Neither readers nor writers are preferred. Waiters, threads and tasks alike, are served in FIFO order. Readers that are next to each
/// other in the queue acquire the lock together.
///
/// Readers may barge while others read, and any acquirer may barge before a signalled waiter runs. This barging is bounded: when
/// the signalled head waiter runs and finds the lock held, or at the first reading of the clock after a barging window of 200 µs, the lock
/// is reserved for the queue. From then on every new acquirer enqueues, readers too. The head then waits only for the present holders, so
/// neither a stream of readers nor one of writers starves it. An upgradable reader that is queued behind another upgradable reader does not
/// wait for plain readers, which barge past it without a bound. A writer that is also queued ends that within the bound above, and a
/// pending upgrade at once. The [guide](crate::guide::what_holds#barging-and-starvation) has the exact bounds.
///
/// [`RwLockWriteGuard::unlock_fair`](crate::RwLockWriteGuard::unlock_fair) reserves the lock for the head waiter at once.
///
/// # Recursion
/// A thread that holds a read guard must not call [`read`](Self::read) again if there are writers. The second read barges past a queued
/// writer only until the lock is reserved for that writer. After that it waits behind the writer, and the writer waits for the first read: a
/// deadlock, which short tests rarely meet. [`read_recursive`](Self::read_recursive) and
/// [`try_read_recursive`](Self::try_read_recursive) do not wait for queued writers, and always succeed while the thread reads.
///
/// # Futures that nobody polls
/// A waiter that was signalled and is not polled holds nothing, and delays others for a bounded time only: the next waiter is signalled in
/// its place after one to two times [`STALL_TIMEOUT`](crate::STALL_TIMEOUT). It keeps its position, and acquires the lock when it is polled
/// again. The same holds for a writer's future that was polled once and waits for readers to release: readers behind it acquire the lock.
///
/// A *guard* in a task that is not polled does hold the lock, without a bound. So does the future of an
/// [upgrade](crate::RwLockUpgradableReadGuard::upgrade_async), which holds a guard.
///
/// # How many readers
/// 2^29 (536,870,912) at a time, a number that only leaked guards can reach. The next read panics, and the lock is unchanged. (One more is
/// reserved for the downgrade of an upgradable reader, so that no release or downgrade panics.)
///
/// # No poisoning
/// The same as for [`Mutex`](crate::Mutex#no-poisoning).
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

impl<T: ?Sized> RwLock<T> {
    /// Returns `true` if the lock is held in any mode at this moment. The answer may be outdated when the caller sees it.
    #[inline]
    pub fn is_locked(&self) -> bool {
        self.raw.is_held()
    }

    /// Returns `true` if a writer holds the lock at this moment. The answer may be outdated when the caller sees it.
    #[doc(alias = "is_locked_exclusive")]
    #[inline]
    pub fn is_write_locked(&self) -> bool {
        self.raw.is_written()
    }
}

/// Shows the value if no writer holds the lock, and holds shared access while it does. Never waits.
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
