//! Temporary release: a holder releases the lock, and acquires it again. A bump does that for the head waiter, and runs nothing
//! in between; `unlocked` runs a function.
//!
//! A thread lends its guard, which exists all the while, and whose drop releases the lock. So the lock is acquired again however
//! this ends, also by a panic of the function that runs in between. (That this thread must not block is checked before the release.)
//!
//! A task may be dropped halfway, and could not acquire the lock again for a borrowed guard; so a future takes the guard by
//! value, and gives it back.

use std::convert::Infallible;
use std::{mem, process};

use waitword_core::may_block;
use waitword_core::observe::Caller;

use crate::acquire::held::WasSent;
use crate::acquire::{self, Acquire, OnUnwind};
use crate::error::would_block;
use crate::holders::HoldId;

/// Releases what the caller holds, and acquires it again, if there are waiters. If this thread must not block, panics and names `instead`;
/// without `instead`, does nothing.
#[cold]
#[track_caller]
pub(crate) fn bump<R: Acquire<Closed = Infallible>>(
    raw: &R,
    ask: R::Ask,
    hold: &mut HoldId,
    instead: Option<&str>,
    has_waiters: impl FnOnce() -> bool,
    release_fair: impl FnOnce(HoldId),
) {
    if !has_waiters() {
        return;
    }
    if !may_block() {
        let Some(instead) = instead else { return };
        would_block(&format!("unlock_fair`, and then `{instead}"));
    }
    let_go(raw, ask, hold, release_fair, || ());
}

/// As [`bump`], and calls `run` meanwhile. The lock may be held afterwards, so this checks in any case whether this thread may
/// block.
#[track_caller]
pub(crate) fn unlocked<R: Acquire<Closed = Infallible>, U>(
    raw: &R,
    ask: R::Ask,
    hold: &mut HoldId,
    instead: &str,
    release: impl FnOnce(HoldId),
    run: impl FnOnce() -> U,
) -> U {
    if !may_block() {
        would_block(instead);
    }
    let_go(raw, ask, hold, release, run)
}

#[track_caller]
fn let_go<R: Acquire<Closed = Infallible>, U>(
    raw: &R,
    ask: R::Ask,
    hold: &mut HoldId,
    release: impl FnOnce(HoldId),
    run: impl FnOnce() -> U,
) -> U {
    let (held, sent) = (*hold, WasSent::look(raw, ask, *hold));
    let guard = AcquireAgain { raw, ask, hold, sent, caller: Caller::here() };
    release(held);
    let result = run();
    drop(guard);
    result
}

/// Acquires the lock of a guard again before that guard is used or dropped, also if its holder unwinds. Aborts if it cannot: there may be
/// too many readers meanwhile.
struct AcquireAgain<'a, R: Acquire<Closed = Infallible>> {
    raw: &'a R,
    ask: R::Ask,
    /// What the guard keeps.
    hold: &'a mut HoldId,
    sent: WasSent,
    caller: Caller,
}

impl<R: Acquire<Closed = Infallible>> Drop for AcquireAgain<'_, R> {
    fn drop(&mut self) {
        // Otherwise safe code would use the guard, and release a lock that it does not hold.
        let no_guard_without_lock = OnUnwind(|| process::abort());
        *self.hold = match acquire::attempts::take(self.raw, self.ask) {
            true => acquire::held::held_by_thread(self.raw, self.ask, self.caller, false),
            false => {
                let Ok(hold) = acquire::block::block_for_guard(self.caller, self.raw, self.ask);
                hold
            }
        };
        self.sent.say(self.raw, self.ask, *self.hold);
        mem::forget(no_guard_without_lock);
    }
}

/// The four methods of a guard.
macro_rules! unlocked_methods {
    (
        $guard:ident<$($life:lifetime,)? T> of $Lock:ident by $acquire:literal, written to by $write:literal:
        $ask:expr, $release:expr, $release_fair:expr, $future:ty
    ) => {
        /// # Temporary release
        impl<$($life,)? T: ?Sized> $guard<$($life,)? T> {
            /// Runs `f` with the lock released, and acquires it again for this guard, blocking this thread until it is acquired.
            ///
            /// Other holders may have changed the value in between. Use this for an `f` that takes long, or waits, in the middle of work
            /// that needs the lock before and after.
            ///
            /// ```
            #[doc = concat!("use waitword::{", stringify!($Lock), ", ", stringify!($guard), " as Guard};")]
            /// # use std::sync::Arc;
            ///
            #[doc = concat!("let lock = Arc::new(", stringify!($Lock), "::new(1));")]
            #[doc = concat!("let mut guard = lock.", $acquire, "();")]
            /// Guard::unlocked(&mut guard, || {
            ///     // Others can acquire the lock now.
            #[doc = concat!("    *lock.", $write, "() += 1;")]
            /// });
            /// assert_eq!(*guard, 2);
            /// assert!(lock.is_locked());
            /// ```
            ///
            /// # Fairness
            /// The release is an ordinary one. Then this thread is a new acquirer, and enqueues if it has to wait.
            ///
            /// # Panics
            /// - If `f` panics. The lock is acquired again first.
            /// - If this thread must not block ([`forbid_blocking`](crate::forbid_blocking)), whether there are waiters or not: use
            ///   [`unlocked_async`](Self::unlocked_async) there. It panics before it releases the lock.
            ///
            /// # Deadlocks
            /// If `f` returns or leaks a guard of this lock, this thread may wait for itself.
            #[track_caller]
            pub fn unlocked<U>(this: &mut Self, f: impl FnOnce() -> U) -> U {
                let raw = &this.lock.raw;
                $crate::unlocked::unlocked(raw, $ask, &mut this.hold, "unlocked_async", |held| $release(raw, held), f)
            }

            /// Runs `f` with the lock released as by [`unlock_fair`](Self::unlock_fair), and acquires it again for this guard, blocking
            /// this thread until it is acquired.
            ///
            /// No acquirer barges past the head waiter. Otherwise it is like [`unlocked`](Self::unlocked).
            ///
            /// # Panics, deadlocks
            /// As with [`unlocked`](Self::unlocked). Where this thread must not block, use
            /// [`unlocked_fair_async`](Self::unlocked_fair_async).
            #[track_caller]
            pub fn unlocked_fair<U>(this: &mut Self, f: impl FnOnce() -> U) -> U {
                let raw = &this.lock.raw;
                $crate::unlocked::unlocked(raw, $ask, &mut this.hold, "unlocked_fair_async", |held| $release_fair(raw, held), f)
            }

            /// Runs `f` with the lock released, and acquires it again for this guard, without blocking this thread. Returns the guard and
            /// what `f` returned.
            ///
            /// The future takes the guard by value. The lock stays held until the first poll.
            ///
            /// ```
            #[doc = concat!("use waitword::{", stringify!($Lock), ", ", stringify!($guard), " as Guard};")]
            /// # use std::sync::Arc;
            ///
            /// # smol::block_on(async {
            #[doc = concat!("let lock = Arc::new(", stringify!($Lock), "::new(1));")]
            #[doc = concat!("let guard = lock.", $acquire, "_async().await;")]
            /// let unlocked = Guard::unlocked_async(guard, async || {
            ///     // Others can acquire the lock now.
            #[doc = concat!("    *lock.", $write, "_async().await += 1;")]
            ///     "done"
            /// });
            /// let (guard, result) = unlocked.await;
            /// assert_eq!((*guard, result), (2, "done"));
            /// # });
            /// ```
            ///
            /// # Cancellation
            /// If the future is dropped, the lock is released, and the guard is gone. If `f` has ended by then, its result is dropped.
            ///
            /// # Fairness
            /// As with [`unlocked`](Self::unlocked). A future that waits for the lock again and is not polled delays others for a bounded time
            #[doc = concat!("only ([`", stringify!($Lock), "`](crate::", stringify!($Lock), "#futures-that-nobody-polls)).")]
            ///
            /// # Panics
            /// If `f` panics; the lock is released then. When polled again after it was ready.
            pub async fn unlocked_async<U>(this: Self, f: impl AsyncFnOnce() -> U) -> (Self, U) {
                let held = this.hold;
                let lock = Self::forget(this);
                $release(&lock.raw, held);
                let result = f().await;
                (<$future>::new(lock.into()).await, result)
            }

            /// Runs `f` with the lock released as by [`unlock_fair`](Self::unlock_fair), and acquires it again for this guard, without
            /// blocking this thread. Returns the guard and what `f` returned.
            ///
            /// No acquirer barges past the head waiter. Otherwise it is like [`unlocked_async`](Self::unlocked_async).
            ///
            /// # Cancellation, fairness, panics
            /// As with [`unlocked_async`](Self::unlocked_async).
            pub async fn unlocked_fair_async<U>(this: Self, f: impl AsyncFnOnce() -> U) -> (Self, U) {
                let held = this.hold;
                let lock = Self::forget(this);
                $release_fair(&lock.raw, held);
                let result = f().await;
                (<$future>::new(lock.into()).await, result)
            }
        }
    };
}

pub(crate) use unlocked_methods;
