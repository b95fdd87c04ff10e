//! The initialisers of a cell, blocking and async, with and without errors.
//!
//! ```text
//!   A (a thread)                B (a task)                        C (a thread)
//!   ────────────────────        ──────────────────────────        ─────────────────────
//!   nothing → RUNNING           queued
//!   initialiser: an error       woken
//!   → nothing; wake all         nothing → RUNNING                 RUNNING + WAITERS
//!                               initialiser, over some polls      queued
//!                               SET; wake all                     woken: the value
//! ```
//! However an initialiser ends, its turn ends too: the destructor of the turn sees to that.

use std::convert::{Infallible, identity};
use std::future::Future;
use waitword_core::time::{Duration, Instant};

use waitword_core::observe::Caller;

use crate::condition::{WaitFor, block, block_until};
use crate::coop;
use crate::deadline::{Deadline, NoDeadline, Until};
use crate::error::LockError;
use crate::once::OnceLock;
use crate::once::slot::SlotTurn;

/// The methods beside `$get` that wait for another's initialiser for a time and until a time.
macro_rules! timed_initialisers {
    (
        $self:ident, $get:ident$(<$E:ident>)?: $for:ident, $until:ident -> $Output:ty;
        $initialiser:ident: $Initialiser:ident() -> $Made:ty, $deadline:ident => $init:expr;
        $(#[$errors:meta])*
    ) => {
        #[doc = concat!("As [`", stringify!($get), "`](Self::", stringify!($get), "), but waits for the initialiser of another for at most `timeout`,")]
        /// counted from this call.
        ///
        /// The caller's own `initialiser` is not interrupted. A timeout beyond what [`Instant`] can hold never expires.
        ///
        /// # Errors, panics
        #[doc = concat!("As [`", stringify!($until), "`](Self::", stringify!($until), ").")]
        #[track_caller]
        pub fn $for$(<$E>)?(&$self, timeout: Duration, $initialiser: impl $Initialiser() -> $Made) -> $Output {
            let $deadline = Instant::now().checked_add(timeout);
            $init
        }

        #[doc = concat!("As [`", stringify!($get), "`](Self::", stringify!($get), "), but waits for the initialiser of another until `deadline` at the latest.")]
        ///
        /// The caller's own `initialiser` is not interrupted, and is run also after the deadline if its turn is free then.
        ///
        /// # Errors
        $(#[$errors])*
        #[track_caller]
        pub fn $until$(<$E>)?(&$self, deadline: Instant, $initialiser: impl $Initialiser() -> $Made) -> $Output {
            let $deadline = Some(deadline);
            $init
        }
    };
}

impl<T> OnceLock<T> {
    /// The value. If there is none, `initialiser` makes it; if another initialiser runs already, waits for it, blocking this
    /// thread.
    ///
    /// ```
    /// let cell = waitword::OnceLock::new();
    /// assert_eq!(*cell.get_or_init(|| 1), 1);
    /// assert_eq!(*cell.get_or_init(|| 2), 1);
    /// ```
    ///
    /// # Panics
    /// When `initialiser` does; the turn is forwarded. If another initialiser runs and this thread must not block
    /// ([`forbid_blocking`](crate::forbid_blocking)): use [`get_or_init_async`](Self::get_or_init_async) there.
    ///
    /// # Deadlocks
    /// If `initialiser` asks for this cell's value with a method that waits, it waits for itself.
    #[doc(alias("call_once", "get_or_init_blocking", "init_once"))]
    #[inline]
    #[track_caller]
    pub fn get_or_init(&self, initialiser: impl FnOnce() -> T) -> &T {
        match self.get() {
            Some(value) => value,
            None => {
                let Ok(value) = self.init(initialiser_that_cannot_fail(initialiser), "get_or_init_async");
                value
            }
        }
    }

    timed_initialisers! {
        self, get_or_init: get_or_init_for, get_or_init_until -> Result<&T, LockError>;
        initialiser: FnOnce() -> T, until => {
            self.init_until(until, initialiser_that_cannot_fail(initialiser)).map(|Ok(value)| value)
        };
        /// [`TimedOut`](LockError::TimedOut), never before the deadline; [`BlockingForbidden`](LockError::BlockingForbidden)
        /// at once, if it would have to wait and this thread must not block. `initialiser` has not run then.
        ///
        /// # Panics
        /// When `initialiser` does; the turn is forwarded.
    }

    /// As [`get_or_init`](Self::get_or_init), with an initialiser that may fail.
    ///
    /// # Errors
    /// That of `initialiser`; the turn is forwarded.
    ///
    /// ```
    /// let cell = waitword::OnceLock::new();
    /// assert_eq!(cell.get_or_try_init(|| "x".parse::<i32>()).is_ok(), false);
    /// assert_eq!(cell.get_or_try_init(|| "7".parse::<i32>()), Ok(&7));
    /// ```
    ///
    /// # Panics
    /// As [`get_or_init`](Self::get_or_init).
    #[inline]
    #[track_caller]
    pub fn get_or_try_init<E>(&self, initialiser: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        match self.get() {
            Some(value) => Ok(value),
            None => self.init(initialiser, "get_or_try_init_async"),
        }
    }

    timed_initialisers! {
        self, get_or_try_init<E>: get_or_try_init_for, get_or_try_init_until -> Result<Result<&T, E>, LockError>;
        initialiser: FnOnce() -> Result<T, E>, until => self.init_until(until, initialiser);
        /// Outside, those of [`get_or_init_until`](Self::get_or_init_until); inside, that of `initialiser`.
        ///
        /// # Panics
        /// When `initialiser` does; the turn is forwarded.
    }

    /// The value. If there is none, `initialiser` makes it; if another initialiser runs already, waits for it. Does not block
    /// this thread.
    ///
    /// # Cancellation
    /// If the future is dropped while `initialiser` awaits, `initialiser` is dropped, too, and the turn is forwarded.
    ///
    /// # Panics
    /// When `initialiser` does; the turn is forwarded. When polled again after it was ready.
    ///
    /// # Deadlocks
    /// As [`get_or_init`](Self::get_or_init).
    ///
    /// ```
    /// # smol::block_on(async {
    /// let cell = waitword::OnceLock::new();
    /// let value = cell.get_or_init_async(async || {
    ///     smol::future::yield_now().await;
    ///     42
    /// });
    /// assert_eq!(*value.await, 42);
    /// assert_eq!(*cell.get_or_init(|| unreachable!("it is set")), 42);
    /// # });
    /// ```
    #[track_caller]
    pub fn get_or_init_async(&self, initialiser: impl AsyncFnOnce() -> T) -> impl Future<Output = &T> {
        self.make(Caller::here(), || NoDeadline, initialiser, Ok::<_, Infallible>, |Ok(Ok(value))| value)
    }

    timed_initialisers! {
        self, get_or_init_async: get_or_init_async_for, get_or_init_async_until -> impl Future<Output = Result<&T, LockError>>;
        initialiser: AsyncFnOnce() -> T, until => {
            let infallible = Ok::<_, Infallible>;
            self.make(Caller::here(), move || Until::new(until), initialiser, infallible, |made| made.map(|Ok(value)| value))
        };
        /// [`TimedOut`](LockError::TimedOut), never before the deadline; `initialiser` has not run then.
        ///
        /// # Cancellation
        /// As [`get_or_init_async`](Self::get_or_init_async).
        ///
        /// # Panics
        /// As [`get_or_init_async`](Self::get_or_init_async); and when it has to wait, if it is the first in the process to wait
        /// with a deadline and the system cannot start the timer thread.
    }

    /// As [`get_or_init_async`](Self::get_or_init_async), with an initialiser that may fail.
    ///
    /// # Errors
    /// That of `initialiser`; the turn is forwarded.
    ///
    /// ```
    /// # smol::block_on(async {
    /// let cell = waitword::OnceLock::new();
    /// let failed = cell.get_or_try_init_async(async || "x".parse::<i32>()).await;
    /// assert!(failed.is_err());
    /// let made = cell.get_or_try_init_async(async || "7".parse::<i32>()).await;
    /// assert_eq!(made, Ok(&7));
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// As [`get_or_init_async`](Self::get_or_init_async).
    ///
    /// # Panics
    /// As [`get_or_init_async`](Self::get_or_init_async).
    #[track_caller]
    pub fn get_or_try_init_async<E>(
        &self,
        initialiser: impl AsyncFnOnce() -> Result<T, E>,
    ) -> impl Future<Output = Result<&T, E>> {
        self.make(Caller::here(), || NoDeadline, initialiser, identity, |Ok(made)| made)
    }

    timed_initialisers! {
        self, get_or_try_init_async<E>: get_or_try_init_async_for, get_or_try_init_async_until
            -> impl Future<Output = Result<Result<&T, E>, LockError>>;
        initialiser: AsyncFnOnce() -> Result<T, E>, until => {
            self.make(Caller::here(), move || Until::new(until), initialiser, identity, identity)
        };
        /// Outside, those of [`get_or_init_async_until`](Self::get_or_init_async_until); inside, that of `initialiser`.
        ///
        /// # Cancellation
        /// As [`get_or_init_async`](Self::get_or_init_async).
        ///
        /// # Panics
        /// As [`get_or_init_async_until`](Self::get_or_init_async_until).
    }

    #[cold]
    #[track_caller]
    fn init<E>(&self, initialiser: impl FnOnce() -> Result<T, E>, instead: &str) -> Result<&T, E> {
        match block(&mut SlotTurn(&self.slot), instead) {
            Ok(value) => Ok(value),
            Err(turn) => Ok(turn.runs_in_thread(Caller::here()).fill(initialiser()?)),
        }
    }

    #[track_caller]
    fn init_until<E>(
        &self,
        deadline: Option<Instant>,
        initialiser: impl FnOnce() -> Result<T, E>,
    ) -> Result<Result<&T, E>, LockError> {
        match block_until(&mut SlotTurn(&self.slot), deadline)? {
            Ok(value) => Ok(Ok(value)),
            Err(turn) => {
                let turn = turn.runs_in_thread(Caller::here());
                Ok(initialiser().map(|value| turn.fill(value)))
            }
        }
    }

    /// The body of all four futures: `result` and `output` convert between the forms with errors and without. (A future that awaited this
    /// one to do so would be twice as large.)
    async fn make<'a, M, E, D: Deadline, O>(
        &'a self,
        caller: Caller,
        deadline: impl FnOnce() -> D,
        initialiser: impl AsyncFnOnce() -> M,
        result: impl FnOnce(M) -> Result<T, E>,
        output: impl FnOnce(Result<Result<&'a T, E>, D::Error>) -> O,
    ) -> O {
        output(match self.get() {
            Some(value) if !D::IS_TIMED && !coop::TAKES_PART => Ok(Ok(value)),
            _ => match WaitFor::from_caller(caller, SlotTurn(&self.slot), deadline()).await {
                Ok(Ok(value)) => Ok(Ok(value)),
                Ok(Err(turn)) => {
                    let turn = turn.runs_in_task(caller).await;
                    Ok(result(initialiser().await).map(|value| turn.fill(value)))
                }
                Err(error) => Err(error),
            },
        })
    }
}

fn initialiser_that_cannot_fail<T>(
    initialiser: impl FnOnce() -> T,
) -> impl FnOnce() -> Result<T, Infallible> {
    || Ok(initialiser())
}
