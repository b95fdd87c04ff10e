//! Whether a thread may block at all.
//!
//! A browser's main thread, a UI loop or an executor's worker may take what is free but must not sleep. The
//! article's main thread gets a TypeError from `Atomics.wait`; here a thread forbids itself to block.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem;

use crate::sync::can_block;

thread_local! {
    /// How many guards forbid it. Negative within [`allow_blocking`] if a guard from outside was dropped there.
    static FORBIDDEN: Cell<isize> = const { Cell::new(0) };
}

/// Forbids this thread to block for as long as the returned guard lives.
///
/// A blocking call that would have to wait then panics and names the `_async` method to use instead; one that need not
/// (a free lock, a word that differs) goes through. Guards nest.
///
/// ```
/// let ui_thread = waitword_core::forbid_blocking();
/// assert!(!waitword_core::may_block());
/// drop(ui_thread);
/// assert!(waitword_core::may_block());
/// ```
///
/// A thread that must never block keeps no guard: [`forbid_blocking().forever()`](ForbidBlocking::forever).
#[must_use = "blocking is allowed again as soon as the guard is dropped; to forbid it for good, call `forever` on it"]
pub fn forbid_blocking() -> ForbidBlocking {
    FORBIDDEN.set(FORBIDDEN.get() + 1);
    ForbidBlocking { _this_thread: PhantomData }
}

/// Allows this thread to block while `callback` runs, also if [`forbid_blocking`] forbids it otherwise.
///
/// For the parts of a program that have been given a thread to block on: a closure of tokio's `spawn_blocking`, which runs on a thread that
/// the runtime has started like its workers, or one of `block_in_place`. A [`forbid_blocking`] within `callback` applies.
///
/// It is a closure and not a guard, so that it ends before the next `.await`: then other tasks run on this thread.
///
/// ```
/// use waitword_core::{allow_blocking, forbid_blocking, may_block};
///
/// forbid_blocking().forever();
/// assert!(allow_blocking(|| may_block()));
/// assert!(!may_block());
/// ```
pub fn allow_blocking<T>(callback: impl FnOnce() -> T) -> T {
    let _outside = Outside { forbidden: FORBIDDEN.replace(0) };
    callback()
}

/// Whether this thread may block: no [`forbid_blocking`] guard of it is alive, or [`allow_blocking`] says otherwise.
///
/// Always `false` in a browser's page, and in an agent of `wasm32-unknown-unknown` that was not started (`waitword-web`).
pub fn may_block() -> bool {
    can_block() && FORBIDDEN.get() <= 0
}

/// While it lives, the thread that made it must not block. See [`forbid_blocking`].
#[derive(Debug)]
pub struct ForbidBlocking {
    _this_thread: PhantomData<*const ()>,
}

impl ForbidBlocking {
    /// Forbids this thread to block until it ends.
    ///
    /// In one line for all threads that a runtime starts, here tokio's:
    ///
    /// ```
    /// use waitword_core::{allow_blocking, forbid_blocking, may_block};
    ///
    /// let runtime = tokio::runtime::Builder::new_multi_thread()
    ///     .on_thread_start(|| forbid_blocking().forever())
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(async {
    ///     let worker = tokio::spawn(async { may_block() });
    ///     assert!(!worker.await.unwrap());
    ///     // The threads of `spawn_blocking` are started in the same way.
    ///     let pool = tokio::task::spawn_blocking(|| (may_block(), allow_blocking(may_block)));
    ///     assert_eq!(pool.await.unwrap(), (false, true));
    /// });
    /// // The thread that calls `block_on` was there before.
    /// assert!(may_block());
    /// ```
    pub fn forever(self) {
        mem::forget(self);
    }
}

impl Drop for ForbidBlocking {
    fn drop(&mut self) {
        FORBIDDEN.set(FORBIDDEN.get() - 1);
    }
}

/// What was forbidden before the closure is forbidden after it, also if it panics.
struct Outside {
    forbidden: isize,
}

impl Drop for Outside {
    fn drop(&mut self) {
        // Added, not set: a guard may have been made in the closure and returned from it, or the other way round.
        FORBIDDEN.set(FORBIDDEN.get() + self.forbidden);
    }
}
