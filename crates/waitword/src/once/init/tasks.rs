//! The initialisers of a cell that are async, with and without errors. The race between initialisers is in `mod.rs`.

use std::future::Future;
use waitword_core::observe::Caller;
use waitword_core::time::{Duration, Instant};

use crate::condition::WaitFor;
use crate::coop;
use crate::deadline::{NoDeadline, Until};
use crate::error::LockError;
use crate::once::OnceLock;
use crate::once::slot::SlotTurn;

impl<T> OnceLock<T> {
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
        let caller = Caller::here();
        async move {
            match self.get() {
                Some(value) if !coop::TAKES_PART => value,
                _ => match WaitFor::from_caller(caller, SlotTurn(&self.slot), NoDeadline).await {
                    Ok(Ok(value)) => value,
                    Ok(Err(turn)) => turn.runs_in_task(caller).await.fill(initialiser().await),
                },
            }
        }
    }

    /// As [`get_or_init_async`](Self::get_or_init_async); another's initialiser is waited for until `timeout` is over,
    /// counted from this call.
    ///
    /// The caller's own `initialiser` is not interrupted. A timeout that goes beyond what [`Instant`] can hold waits without
    /// an end.
    ///
    /// # Errors
    /// As [`get_or_init_async_until`](Self::get_or_init_async_until).
    ///
    /// # Cancellation
    /// As [`get_or_init_async`](Self::get_or_init_async).
    ///
    /// # Panics
    /// As [`get_or_init_async_until`](Self::get_or_init_async_until).
    #[track_caller]
    pub fn get_or_init_async_for(
        &self,
        timeout: Duration,
        initialiser: impl AsyncFnOnce() -> T,
    ) -> impl Future<Output = Result<&T, LockError>> {
        self.init_async_until(Caller::here(), Instant::now().checked_add(timeout), initialiser)
    }

    /// As [`get_or_init_async`](Self::get_or_init_async); another's initialiser is waited for until `deadline`.
    ///
    /// The caller's own `initialiser` is not interrupted, and is run also after the deadline if its turn is free then.
    ///
    /// # Errors
    /// [`TimedOut`](LockError::TimedOut), never before the deadline; `initialiser` has not run then.
    ///
    /// # Cancellation
    /// As [`get_or_init_async`](Self::get_or_init_async).
    ///
    /// # Panics
    /// As [`get_or_init_async`](Self::get_or_init_async); and when it has to wait, if it is the first in the process to wait
    /// with a deadline and the system cannot start the thread that keeps the time.
    #[track_caller]
    pub fn get_or_init_async_until(
        &self,
        deadline: Instant,
        initialiser: impl AsyncFnOnce() -> T,
    ) -> impl Future<Output = Result<&T, LockError>> {
        self.init_async_until(Caller::here(), Some(deadline), initialiser)
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
        let caller = Caller::here();
        async move {
            match self.get() {
                Some(value) if !coop::TAKES_PART => Ok(value),
                _ => match WaitFor::from_caller(caller, SlotTurn(&self.slot), NoDeadline).await {
                    Ok(Ok(value)) => Ok(value),
                    Ok(Err(turn)) => Ok(turn.runs_in_task(caller).await.fill(initialiser().await?)),
                },
            }
        }
    }

    /// As [`get_or_init_async_for`](Self::get_or_init_async_for), with an initialiser that may fail.
    ///
    /// # Errors
    /// Outside, those of [`get_or_init_async_until`](Self::get_or_init_async_until); inside, that of `initialiser`.
    ///
    /// # Cancellation
    /// As [`get_or_init_async`](Self::get_or_init_async).
    ///
    /// # Panics
    /// As [`get_or_init_async_until`](Self::get_or_init_async_until).
    #[track_caller]
    pub fn get_or_try_init_async_for<E>(
        &self,
        timeout: Duration,
        initialiser: impl AsyncFnOnce() -> Result<T, E>,
    ) -> impl Future<Output = Result<Result<&T, E>, LockError>> {
        self.try_init_async_until(Caller::here(), Instant::now().checked_add(timeout), initialiser)
    }

    /// As [`get_or_init_async_until`](Self::get_or_init_async_until), with an initialiser that may fail.
    ///
    /// # Errors
    /// Outside, those of [`get_or_init_async_until`](Self::get_or_init_async_until); inside, that of `initialiser`.
    ///
    /// # Cancellation
    /// As [`get_or_init_async`](Self::get_or_init_async).
    ///
    /// # Panics
    /// As [`get_or_init_async_until`](Self::get_or_init_async_until).
    #[track_caller]
    pub fn get_or_try_init_async_until<E>(
        &self,
        deadline: Instant,
        initialiser: impl AsyncFnOnce() -> Result<T, E>,
    ) -> impl Future<Output = Result<Result<&T, E>, LockError>> {
        self.try_init_async_until(Caller::here(), Some(deadline), initialiser)
    }

    async fn init_async_until(
        &self,
        caller: Caller,
        deadline: Option<Instant>,
        initialiser: impl AsyncFnOnce() -> T,
    ) -> Result<&T, LockError> {
        match WaitFor::from_caller(caller, SlotTurn(&self.slot), Until::new(deadline)).await? {
            Ok(value) => Ok(value),
            Err(turn) => Ok(turn.runs_in_task(caller).await.fill(initialiser().await)),
        }
    }

    async fn try_init_async_until<E>(
        &self,
        caller: Caller,
        deadline: Option<Instant>,
        initialiser: impl AsyncFnOnce() -> Result<T, E>,
    ) -> Result<Result<&T, E>, LockError> {
        match WaitFor::from_caller(caller, SlotTurn(&self.slot), Until::new(deadline)).await? {
            Ok(value) => Ok(Ok(value)),
            Err(turn) => {
                let turn = turn.runs_in_task(caller).await;
                Ok(initialiser().await.map(|value| turn.fill(value)))
            }
        }
    }
}
