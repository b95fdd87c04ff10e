//! The semaphore. Its word and all transitions are in `raw_semaphore`; this folder has its permits: here the type, in `acquire.rs` the
//! methods that acquire, in `futures.rs` what the `_async` ones return, in `permit.rs` what they acquire, in `error.rs` their errors.

// Before the other modules: rustdoc shows the methods of modules in their order, and a page begins with `new`.
mod new {
    use super::{MAX_PERMITS, RawSemaphore, Semaphore, const_fn};

    impl Semaphore {
        const_fn! {
            /// Creates a semaphore with `permits` permits.
            ///
            /// ```
            /// static JOBS: waitword::Semaphore = waitword::Semaphore::new(4);
            /// assert_eq!(JOBS.available_permits(), 4);
            /// ```
            ///
            /// # Panics
            /// If `permits` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
            #[doc(alias = "const_new")]
            #[track_caller]
            pub const fn new(permits: usize) -> Self {
                assert!(permits <= MAX_PERMITS, "a semaphore has at most `Semaphore::MAX_PERMITS` permits");
                Self { raw: RawSemaphore::new(permits) }
            }
        }
    }
}

mod acquire;
pub(crate) mod error;
pub(crate) mod futures;
pub(crate) mod permit;

use std::fmt;

use crate::acquire::{Acquire as _, held};
use crate::handle::has_raw;
use crate::holders::{Hold, HoldId, permits_added};
use crate::raw_semaphore::{MAX_PERMITS, RawSemaphore};
use crate::sync::const_fn;

/// A counting semaphore, for threads and tasks: a number of permits that are acquired and released.
///
/// Threads acquire permits with [`acquire`](Self::acquire) and tasks with [`acquire_async`](Self::acquire_async), one or
/// [many](Self::acquire_many) at a time. Both wait in the same queue, and both receive a [`SemaphorePermit`](crate::SemaphorePermit),
/// which releases the permits when it is dropped.
///
/// | | borrows | over an `Arc` |
/// |---|---|---|
/// | blocks the thread | [`acquire`](Self::acquire), [`acquire_many`](Self::acquire_many) | [`acquire_owned`](Self::acquire_owned), [`acquire_many_owned`](Self::acquire_many_owned) |
/// | never waits | [`try_acquire`](Self::try_acquire), [`try_acquire_many`](Self::try_acquire_many) | [`try_acquire_owned`](Self::try_acquire_owned), [`try_acquire_many_owned`](Self::try_acquire_many_owned) |
/// | a future | [`acquire_async`](Self::acquire_async), [`acquire_many_async`](Self::acquire_many_async) | [`acquire_owned_async`](Self::acquire_owned_async), [`acquire_many_owned_async`](Self::acquire_many_owned_async) |
/// | … with a timeout | `acquire_async().timeout(d)` | `acquire_owned_async().timeout(d)` |
/// | blocks until a deadline | [`acquire_for`](Self::acquire_for), [`acquire_until`](Self::acquire_until) | – |
///
/// A semaphore limits how many run at the same time, or counts items: permits can also be
/// [added](Self::add_permits) without having been acquired, and [forgotten](crate::SemaphorePermit::forget) by their holder.
///
/// It takes 16 bytes. Neither `new` nor a wait allocates.
///
/// ```
/// use std::sync::Arc;
/// use std::thread;
/// use waitword::Semaphore;
///
/// # smol::block_on(async {
/// // No more than two at a time, threads or tasks.
/// let connections = Arc::new(Semaphore::new(2));
///
/// let thread = thread::spawn({
///     let connections = Arc::clone(&connections);
///     move || {
///         let _connection = connections.acquire().unwrap();
///         "a thread's answer"
///     }
/// });
/// let connection = connections.acquire_async().await.unwrap();
/// assert!(connections.available_permits() < 2);
/// drop(connection);
/// assert_eq!(thread.join().unwrap(), "a thread's answer");
/// assert_eq!(connections.available_permits(), 2);
/// # });
/// ```
///
/// # Fairness
/// Waiters, threads and tasks alike, for one permit or for many, are in one FIFO queue. A release signals the head waiter. Until that
/// waiter runs, any acquirer that finds enough permits may barge, so that no permit is idle while an acquirer could use it. This ends when
/// the head runs, or at the first release that reads the clock after a barging window of 200 µs (the
/// [guide](crate::guide::what_holds#barging-and-starvation) has the exact bounds). If the head finds too few, all permits that are released
/// are reserved for it until there are enough. So requests for few permits do not starve a request for many: they wait behind it, even if
/// enough permits for them are available.
///
/// [`add_permits`](Self::add_permits) signals one waiter, however many permits it adds. Each waiter that acquires its permits signals the
/// next one while permits are left, so every waiter for whom the permits suffice acquires them. A waiter for many is signalled each time
/// that permits are released, unless a signal is pending, and rechecks until there are enough.
///
/// # Futures that nobody polls
/// A queued task that is not polled keeps its position, but delays others for a bounded time only, whether it was signalled or permits are
/// reserved for it: the next waiter is signalled in its place after one to three times [`STALL_TIMEOUT`](crate::STALL_TIMEOUT). It acquires
/// its permits when it is polled again, if there are enough. While it is alone in the queue, permits stay reserved for it, and
/// repeated calls of [`try_acquire`](Self::try_acquire) fail for up to three times [`STALL_TIMEOUT`](crate::STALL_TIMEOUT) (30 ms).
#[doc(alias("counting_semaphore", "sem_t", "permit"))]
pub struct Semaphore {
    pub(super) raw: RawSemaphore,
}

#[cfg(not(waitword_loom))]
const _: () = assert!(size_of::<Semaphore>() == 16);

has_raw!(Semaphore, RawSemaphore);

impl Semaphore {
    /// The maximum number of permits of a semaphore: 2⁶¹ − 1, on 32-bit targets 2²⁹ − 1.
    pub const MAX_PERMITS: usize = MAX_PERMITS;

    /// Returns the number of available permits at this moment, including those that are reserved for a waiter. The answer may be outdated
    /// when the caller sees it.
    #[doc(alias("permits", "count"))]
    pub fn available_permits(&self) -> usize {
        self.raw.available()
    }

    /// Adds `permits` new permits to the semaphore, and signals the head waiter.
    ///
    /// ```
    /// let items = waitword::Semaphore::new(0);
    /// assert!(items.try_acquire().is_err());
    /// items.add_permits(2);
    /// items.acquire().unwrap().forget();
    /// assert_eq!(items.available_permits(), 1);
    /// ```
    ///
    /// # Panics
    /// If more than [`MAX_PERMITS`](Self::MAX_PERMITS) would be available; none is added then. (A release does not panic: permits that
    /// would exceed the maximum are lost.)
    #[doc(alias("release", "post", "signal", "sem_post", "up"))]
    #[track_caller]
    pub fn add_permits(&self, permits: usize) {
        assert!(
            self.raw.add(permits),
            "a semaphore has at most `Semaphore::MAX_PERMITS` permits: none of the {permits} was added"
        );
        permits_added(self.held_at(), permits);
    }

    /// Removes up to `permits` available permits from the semaphore, and returns how many it removed. Never waits.
    ///
    /// To remove permits that are in use, acquire them and then [forget](crate::SemaphorePermit::forget) them.
    ///
    /// ```
    /// let semaphore = waitword::Semaphore::new(3);
    /// let permit = semaphore.acquire().unwrap();
    /// assert_eq!(semaphore.forget_permits(5), 2);
    /// drop(permit);
    /// assert_eq!(semaphore.available_permits(), 1);
    /// ```
    #[doc(alias("reduce_permits", "remove_permits"))]
    pub fn forget_permits(&self, permits: usize) -> usize {
        self.raw.reduce(permits)
    }

    /// Closes the semaphore: all waiters and all later acquirers receive the error [`Closed`](crate::Closed).
    ///
    /// Permits in use stay valid, and can be released. A closed semaphore cannot be opened again.
    ///
    /// ```
    /// use waitword::{Closed, Semaphore, TryAcquireError};
    ///
    /// let semaphore = Semaphore::new(1);
    /// let permit = semaphore.acquire().unwrap();
    /// semaphore.close();
    /// assert_eq!(semaphore.acquire().unwrap_err(), Closed);
    /// assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::Closed);
    /// drop(permit);
    /// assert_eq!(semaphore.available_permits(), 1);
    /// ```
    pub fn close(&self) {
        self.raw.close();
    }

    /// Returns `true` if the semaphore was [closed](Self::close).
    pub fn is_closed(&self) -> bool {
        self.raw.is_closed()
    }

    /// The address under which its holders are recorded.
    #[inline(always)]
    pub(super) fn held_at(&self) -> usize {
        self.raw.held_at()
    }

    /// Permits come back. There is room for them unless too many were added; losing some of so many is no reason to panic in a drop.
    #[inline]
    pub(super) fn give_back(&self, permits: usize, hold: HoldId) {
        let how = || Hold::Permits;
        match permits {
            1 => held::release(&self.raw, hold, how, |raw| raw.add(1)),
            _ => held::release(&self.raw, hold, how, move |raw| raw.add(permits)),
        }
    }
}

/// Shows the state at this moment. Never waits.
impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore")
            .field("available_permits", &self.available_permits())
            .field("is_closed", &self.is_closed())
            .finish()
    }
}
