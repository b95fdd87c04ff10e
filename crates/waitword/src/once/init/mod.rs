//! The initialisers of a cell that block, with and without errors. Async ones (`tasks.rs`) run on the same object.
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

mod tasks;

use std::convert::Infallible;
use waitword_core::time::{Duration, Instant};

use waitword_core::observe::Caller;

use crate::condition::{block, block_until};
use crate::error::LockError;
use crate::once::OnceLock;
use crate::once::slot::SlotTurn;

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
            None => never(self.init(initialiser_that_cannot_fail(initialiser), "get_or_init_async")),
        }
    }

    /// As [`get_or_init`](Self::get_or_init); another's initialiser is waited for until `timeout` is over.
    ///
    /// The caller's own `initialiser` is not interrupted. A timeout that goes beyond what [`Instant`] can hold waits without
    /// an end.
    ///
    /// # Errors
    /// As [`get_or_init_until`](Self::get_or_init_until).
    ///
    /// # Panics
    /// When `initialiser` does; the turn is forwarded.
    #[track_caller]
    pub fn get_or_init_for(
        &self,
        timeout: Duration,
        initialiser: impl FnOnce() -> T,
    ) -> Result<&T, LockError> {
        self.get_or_try_init_for(timeout, initialiser_that_cannot_fail(initialiser)).map(never)
    }

    /// As [`get_or_init`](Self::get_or_init); another's initialiser is waited for until `deadline`.
    ///
    /// The caller's own `initialiser` is not interrupted, and is run also after the deadline if its turn is free then.
    ///
    /// # Errors
    /// [`TimedOut`](LockError::TimedOut), never before the deadline; [`BlockingForbidden`](LockError::BlockingForbidden)
    /// at once, if it would have to wait on a thread that must not. `initialiser` has not run then.
    ///
    /// # Panics
    /// When `initialiser` does; the turn is forwarded.
    #[track_caller]
    pub fn get_or_init_until(
        &self,
        deadline: Instant,
        initialiser: impl FnOnce() -> T,
    ) -> Result<&T, LockError> {
        self.get_or_try_init_until(deadline, initialiser_that_cannot_fail(initialiser)).map(never)
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

    /// As [`get_or_init_for`](Self::get_or_init_for), with an initialiser that may fail.
    ///
    /// # Errors
    /// Outside, those of [`get_or_init_until`](Self::get_or_init_until); inside, that of `initialiser`.
    ///
    /// # Panics
    /// When `initialiser` does; the turn is forwarded.
    #[track_caller]
    pub fn get_or_try_init_for<E>(
        &self,
        timeout: Duration,
        initialiser: impl FnOnce() -> Result<T, E>,
    ) -> Result<Result<&T, E>, LockError> {
        self.init_until(Instant::now().checked_add(timeout), initialiser)
    }

    /// As [`get_or_init_until`](Self::get_or_init_until), with an initialiser that may fail.
    ///
    /// # Errors
    /// Outside, those of [`get_or_init_until`](Self::get_or_init_until); inside, that of `initialiser`.
    ///
    /// # Panics
    /// When `initialiser` does; the turn is forwarded.
    #[track_caller]
    pub fn get_or_try_init_until<E>(
        &self,
        deadline: Instant,
        initialiser: impl FnOnce() -> Result<T, E>,
    ) -> Result<Result<&T, E>, LockError> {
        self.init_until(Some(deadline), initialiser)
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
}

fn initialiser_that_cannot_fail<T>(
    initialiser: impl FnOnce() -> T,
) -> impl FnOnce() -> Result<T, Infallible> {
    || Ok(initialiser())
}

fn never<T>(result: Result<T, Infallible>) -> T {
    let Ok(value) = result;
    value
}
