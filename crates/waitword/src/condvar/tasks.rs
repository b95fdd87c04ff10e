//! The ways to wait for tasks: once and while a condition holds, without a deadline and with one. For threads: `threads.rs`.

use std::sync::Arc;
use waitword_core::time::{Duration, Instant};

use crate::condvar::Condvar;
use crate::condvar::futures::{
    CondvarWait, CondvarWaitOwned, CondvarWaitOwnedUntil, CondvarWaitUntil, CondvarWaitWhile,
    CondvarWaitWhileOwned, CondvarWaitWhileOwnedUntil, CondvarWaitWhileUntil, WaitOnce, WaitWhile,
};
use crate::condvar::guard::CondvarGuard;
use crate::deadline::{NoDeadline, Until};
use crate::handle::{OwnedAt, Waited as _};

/// The methods that return futures, which wait at `$at`.
macro_rules! tasks {
    (
        $self:ident: $Receiver:ty => $at:expr;
        $(#[$wait_docs:meta])*
        $wait:ident -> $Wait:ident$(<$lifetime:lifetime>)?;
        $(#[$for_docs:meta])*
        $wait_for:ident;
        $(#[$until_docs:meta])*
        $wait_until:ident -> $WaitUntil:ident;
        $(#[$while_docs:meta])*
        $wait_while:ident -> $While:ident, $wait_while_for:ident;
        $(#[$while_until_docs:meta])*
        $wait_while_until:ident -> $WhileUntil:ident;
    ) => {
        $(#[$wait_docs])*
        #[track_caller]
        pub fn $wait<G: CondvarGuard>($self: $Receiver, guard: G) -> $Wait<$($lifetime,)? G> {
            $Wait::of(WaitOnce::new($at, guard, NoDeadline))
        }

        #[doc = concat!(
            "As [`", stringify!($wait), "`](Self::", stringify!($wait), "), for at most `timeout`, counted from this call."
        )]
        ///
        #[doc = concat!(
            "Its output, its cancellation and its panics are as with [`", stringify!($wait_until), "`](Self::", stringify!($wait_until), ")."
        )]
        /// A timeout beyond what [`Instant`] can hold never expires.
        $(#[$for_docs])*
        #[track_caller]
        pub fn $wait_for<G: CondvarGuard>($self: $Receiver, guard: G, timeout: Duration) -> $WaitUntil<$($lifetime,)? G> {
            $Wait::of(WaitOnce::new($at, guard, Until::after(timeout)))
        }

        #[doc = concat!(
            "As [`", stringify!($wait), "`](Self::", stringify!($wait), "), until `deadline` at the latest; \
            and then for as long as it takes to lock the mutex."
        )]
        ///
        /// Ready with the guard in any case, and beside it with [`TimedOut`](crate::LockError::TimedOut) if no notify has counted this
        /// wait.
        $(#[$until_docs])*
        ///
        /// # Cancellation
        #[doc = concat!("As [`", stringify!($wait), "`](Self::", stringify!($wait), ").")]
        ///
        /// # Panics
        #[doc = concat!("As [`", stringify!($wait), "`](Self::", stringify!($wait), ");")]
        /// and when it has to wait, if it is the first in the process and the system cannot start the timer thread.
        #[track_caller]
        pub fn $wait_until<G: CondvarGuard>($self: $Receiver, guard: G, deadline: Instant) -> $WaitUntil<$($lifetime,)? G> {
            $Wait::of(WaitOnce::new($at, guard, Until::new(Some(deadline))))
        }

        $(#[$while_docs])*
        #[track_caller]
        pub fn $wait_while<G: CondvarGuard, C: FnMut(&mut G::Target) -> bool>(
            $self: $Receiver,
            guard: G,
            condition: C,
        ) -> $While<$($lifetime,)? G, C> {
            $While::of(WaitWhile::new($at, guard, condition, NoDeadline))
        }

        #[doc = concat!(
            "As [`", stringify!($wait_while), "`](Self::", stringify!($wait_while),
            "), for at most `timeout`, counted from this call."
        )]
        ///
        #[doc = concat!(
            "Its output, its cancellation and its panics are as with [`",
            stringify!($wait_while_until), "`](Self::", stringify!($wait_while_until), ")."
        )]
        /// A timeout beyond what [`Instant`] can hold never expires.
        #[track_caller]
        pub fn $wait_while_for<G: CondvarGuard, C: FnMut(&mut G::Target) -> bool>(
            $self: $Receiver,
            guard: G,
            timeout: Duration,
            condition: C,
        ) -> $WhileUntil<$($lifetime,)? G, C> {
            $While::of(WaitWhile::new($at, guard, condition, Until::after(timeout)))
        }

        #[doc = concat!("As [`", stringify!($wait_while), "`](Self::", stringify!($wait_while), "), until `deadline` at the latest.")]
        ///
        /// Ready with the guard in any case, and beside it with [`TimedOut`](crate::LockError::TimedOut) if `condition` still held after
        /// the deadline.
        $(#[$while_until_docs])*
        ///
        /// # Cancellation
        #[doc = concat!("As [`", stringify!($wait), "`](Self::", stringify!($wait), ").")]
        ///
        /// # Panics
        #[doc = concat!("As [`", stringify!($wait_until), "`](Self::", stringify!($wait_until), "),")]
        /// and when `condition` does; the mutex is released then.
        #[track_caller]
        pub fn $wait_while_until<G: CondvarGuard, C: FnMut(&mut G::Target) -> bool>(
            $self: $Receiver,
            guard: G,
            deadline: Instant,
            condition: C,
        ) -> $WhileUntil<$($lifetime,)? G, C> {
            $While::of(WaitWhile::new($at, guard, condition, Until::new(Some(deadline))))
        }
    };
}

impl Condvar {
    tasks! {
        self: &Self => self.raw.at(());
        /// Releases the mutex, waits without blocking this thread until it is notified, and is ready with the mutex locked again.
        ///
        /// The future takes the guard, and the mutex stays locked until the first poll. That poll enqueues the wait, and then
        /// releases the mutex.
        ///
        /// ```
        /// # smol::block_on(async {
        /// use waitword::{Condvar, Mutex};
        ///
        /// let (ready, changed) = (Mutex::new(false), Condvar::new());
        /// let wait = async {
        ///     let mut guard = ready.lock_async().await;
        ///     while !*guard {
        ///         guard = changed.wait_async(guard).await;
        ///     }
        /// };
        /// let notify = async {
        ///     *ready.lock_async().await = true;
        ///     changed.notify_one();
        /// };
        /// smol::future::zip(wait, notify).await;
        /// # });
        /// ```
        ///
        /// # Cancellation
        /// If the future is dropped, the mutex is not held. The wait is cancel-safe: a [`notify_one`](Self::notify_one) that had counted it is
        /// forwarded to the next waiter. (A [`notify_all`](Self::notify_all) has counted all others that were there.)
        ///
        /// # Fairness
        /// See [the type](Self#fairness). A future that was notified and is not polled does not block the mutex for good
        /// ([`Mutex`](crate::Mutex#futures-that-nobody-polls)). But it keeps the notify: until it is dropped, no other waiter gets the
        /// wakeup of that [`notify_one`](Self::notify_one). The next notify goes to the next waiter.
        ///
        /// # Panics
        /// At the first poll, if other waiters use another mutex; the guard's mutex is released then. When polled again after it was
        /// ready.
        #[doc(alias = "async_wait")]
        wait_async -> CondvarWait<'_>;
        #[doc(alias = "wait_timeout_async")]
        wait_async_for;
        ///
        /// ```
        /// # smol::block_on(async {
        /// use std::time::Duration;
        /// use waitword::{Condvar, LockError, Mutex};
        ///
        /// let (mutex, changed) = (Mutex::new(1), Condvar::new());
        /// let guard = mutex.lock_async().await;
        /// let (guard, result) = changed.wait_async_for(guard, Duration::from_millis(1)).await;
        /// assert_eq!((*guard, result), (1, Err(LockError::TIMED_OUT)));
        /// # });
        /// ```
        wait_async_until -> CondvarWaitUntil;
        /// Waits, without blocking this thread, while `condition` holds for the value in the mutex. If it does not hold, the future is
        /// ready at the first poll.
        ///
        /// ```
        /// use waitword::{Condvar, Mutex};
        ///
        /// static LETTERS: Mutex<Vec<&str>> = Mutex::new(Vec::new());
        /// static ARRIVED: Condvar = Condvar::new();
        ///
        /// # smol::block_on(async {
        /// let thread = std::thread::spawn(|| {
        ///     LETTERS.lock().push("a letter");
        ///     ARRIVED.notify_one();
        /// });
        /// let letters = LETTERS.lock_async().await;
        /// let letters = ARRIVED.wait_while_async(letters, |letters| letters.is_empty()).await;
        /// assert_eq!(*letters, ["a letter"]);
        /// # drop(letters);
        /// # thread.join().unwrap();
        /// # });
        /// ```
        ///
        /// # Cancellation
        /// As [`wait_async`](Self::wait_async).
        ///
        /// # Panics
        /// As [`wait_async`](Self::wait_async), and when `condition` does; the mutex is released then.
        wait_while_async -> CondvarWaitWhile, wait_while_async_for;
        ///
        /// ```
        /// # smol::block_on(async {
        /// use std::time::Duration;
        /// use waitword::{Condvar, LockError, Mutex};
        ///
        /// let (letters, arrived) = (Mutex::new(Vec::<&str>::new()), Condvar::new());
        /// let letters = letters.lock_async().await;
        /// let timeout = Duration::from_millis(1);
        /// let (letters, result) =
        ///     arrived.wait_while_async_for(letters, timeout, |letters| letters.is_empty()).await;
        /// assert_eq!((letters.len(), result), (0, Err(LockError::TIMED_OUT)));
        /// # });
        /// ```
        wait_while_async_until -> CondvarWaitWhileUntil;
    }
}

/// # Over an `Arc`
/// The futures of these methods have a share in the condition variable. With an
/// [`OwnedMutexGuard`](crate::OwnedMutexGuard), which has a share in the mutex, they are `'static`: they can be moved into a
/// task, or stored in a struct beside the two and polled by a hand-written `poll_*`.
///
/// The methods take the `Arc` by reference. Each wait holds one share, and one more while it is queued.
impl Condvar {
    tasks! {
        self: &Arc<Self> => OwnedAt::new(self, ());
        /// As [`wait_async`](Self::wait_async), with a future that has a share in the condition variable.
        ///
        /// ```
        /// # smol::block_on(async {
        /// use std::sync::Arc;
        /// use waitword::{Condvar, Mutex};
        ///
        /// let (ready, changed) = (Arc::new(Mutex::new(false)), Arc::new(Condvar::new()));
        /// let waiting = changed.wait_owned_async(ready.lock_owned());
        /// let waiter = smol::spawn(waiting);
        /// // The mutex is released by the first poll.
        /// *ready.lock_async().await = true;
        /// changed.notify_one();
        /// assert!(*waiter.await);
        /// # });
        /// ```
        ///
        /// # Cancellation
        /// As [`wait_async`](Self::wait_async).
        ///
        /// # Panics
        /// As [`wait_async`](Self::wait_async).
        #[doc(alias("wait_async_owned", "wait_arc"))]
        wait_owned_async -> CondvarWaitOwned;
        wait_owned_async_for;
        wait_owned_async_until -> CondvarWaitOwnedUntil;
        /// As [`wait_while_async`](Self::wait_while_async), with a future that has a share in the condition variable.
        ///
        /// ```
        /// # smol::block_on(async {
        /// use std::sync::Arc;
        /// use waitword::{Condvar, Mutex};
        ///
        /// let (letters, arrived) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Condvar::new()));
        /// let waiter = smol::spawn({
        ///     let guard = letters.lock_owned();
        ///     arrived.wait_while_owned_async(guard, |letters| letters.is_empty())
        /// });
        /// letters.lock_async().await.push("a letter");
        /// arrived.notify_one();
        /// assert_eq!(waiter.await.pop(), Some("a letter"));
        /// # });
        /// ```
        ///
        /// # Cancellation
        /// As [`wait_async`](Self::wait_async).
        ///
        /// # Panics
        /// As [`wait_while_async`](Self::wait_while_async).
        wait_while_owned_async -> CondvarWaitWhileOwned, wait_while_owned_async_for;
        wait_while_owned_async_until -> CondvarWaitWhileOwnedUntil;
    }
}
