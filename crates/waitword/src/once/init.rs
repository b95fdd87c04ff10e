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
//! However an initialiser ends, its turn ends, too, by the destructor of the turn.

use std::convert::{Infallible, identity};
use std::future::Future;

use waitword_core::observe::Caller;

use crate::condition::{WaitFor, block};
use crate::coop;
use crate::once::OnceLock;
use crate::once::slot::SlotTurn;

impl<T> OnceLock<T> {
    /// Returns the value, or sets the cell to the result of `initialiser` if it is empty. Blocks this thread while another initialiser runs.
    ///
    /// ```
    /// let cell = waitword::OnceLock::new();
    /// assert_eq!(*cell.get_or_init(|| 1), 1);
    /// assert_eq!(*cell.get_or_init(|| 2), 1);
    /// ```
    ///
    /// # Panics
    /// - If `initialiser` panics. The turn is forwarded.
    /// - If another initialiser runs and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
    ///   [`get_or_init_async`](Self::get_or_init_async) there.
    ///
    /// # Deadlocks
    /// An `initialiser` that calls a method of this cell that waits, waits for itself.
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

    /// Returns the value, or sets the cell to the result of `initialiser`, which may fail, if it is empty. Blocks this thread while another
    /// initialiser runs.
    ///
    /// # Errors
    /// The error of `initialiser`. The turn is forwarded.
    ///
    /// ```
    /// let cell = waitword::OnceLock::new();
    /// assert_eq!(cell.get_or_try_init(|| "x".parse::<i32>()).is_ok(), false);
    /// assert_eq!(cell.get_or_try_init(|| "7".parse::<i32>()), Ok(&7));
    /// ```
    ///
    /// # Panics, deadlocks
    /// As with [`get_or_init`](Self::get_or_init).
    #[inline]
    #[track_caller]
    pub fn get_or_try_init<E>(&self, initialiser: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        match self.get() {
            Some(value) => Ok(value),
            None => self.init(initialiser, "get_or_try_init_async"),
        }
    }

    /// Returns the value, or sets the cell to the result of the async `initialiser` if it is empty. Waits while another initialiser runs,
    /// without blocking this thread.
    ///
    /// # Cancellation
    /// If the future is dropped while `initialiser` awaits, `initialiser` is dropped as well, and the turn is forwarded.
    ///
    /// # Panics
    /// If `initialiser` panics; the turn is forwarded. When polled again after it was ready.
    ///
    /// # Deadlocks
    /// As with [`get_or_init`](Self::get_or_init).
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
        self.make(Caller::here(), initialiser, Ok::<_, Infallible>, |Ok(value)| value)
    }

    /// Returns the value, or sets the cell to the result of the async `initialiser`, which may fail, if it is empty. Waits while another
    /// initialiser runs, without blocking this thread.
    ///
    /// # Errors
    /// The error of `initialiser`. The turn is forwarded.
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
    /// # Cancellation, panics, deadlocks
    /// As with [`get_or_init_async`](Self::get_or_init_async).
    #[track_caller]
    pub fn get_or_try_init_async<E>(
        &self,
        initialiser: impl AsyncFnOnce() -> Result<T, E>,
    ) -> impl Future<Output = Result<&T, E>> {
        self.make(Caller::here(), initialiser, identity, identity)
    }

    #[cold]
    #[track_caller]
    fn init<E>(&self, initialiser: impl FnOnce() -> Result<T, E>, instead: &str) -> Result<&T, E> {
        match block(&mut SlotTurn(&self.slot), instead) {
            Ok(value) => Ok(value),
            Err(turn) => Ok(turn.runs_in_thread(Caller::here()).fill(initialiser()?)),
        }
    }

    /// The body of both futures: `result` and `output` convert between the forms with errors and without. (A future that awaited this
    /// one to do so would be twice as large.)
    async fn make<'a, M, E, O>(
        &'a self,
        caller: Caller,
        initialiser: impl AsyncFnOnce() -> M,
        result: impl FnOnce(M) -> Result<T, E>,
        output: impl FnOnce(Result<&'a T, E>) -> O,
    ) -> O {
        output(match self.get() {
            Some(value) if !coop::TAKES_PART => Ok(value),
            _ => match WaitFor::from_caller(caller, SlotTurn(&self.slot)).await {
                Ok(Ok(value)) => Ok(value),
                Ok(Err(turn)) => {
                    let turn = turn.runs_in_task(caller).await;
                    result(initialiser().await).map(|value| turn.fill(value))
                }
            },
        })
    }
}

fn initialiser_that_cannot_fail<T>(
    initialiser: impl FnOnce() -> T,
) -> impl FnOnce() -> Result<T, Infallible> {
    || Ok(initialiser())
}
