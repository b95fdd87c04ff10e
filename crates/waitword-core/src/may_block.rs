//! Whether a thread may block at all.
//!
//! A browser's main thread, a UI loop or an executor's worker may take what is free but must not sleep. The
//! article's main thread gets a TypeError from `Atomics.wait`; here a thread forbids itself to block.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem;

use crate::sync::can_block;

thread_local! {
    /// How many guards forbid it. Negative beside [`AllowBlocking`] if a guard that is older was dropped meanwhile.
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
///
/// The guard is of this thread, and not `Send`. Do not hold it across an `.await`: the other tasks of the thread run meanwhile, and would be
/// forbidden to block, too.
#[must_use = "blocking is allowed again as soon as the guard is dropped; to forbid it for good, call `forever` on it"]
pub fn forbid_blocking() -> ForbidBlocking {
    FORBIDDEN.set(FORBIDDEN.get() + 1);
    ForbidBlocking { _this_thread: PhantomData }
}

/// Allows this thread to block for as long as the returned guard lives, also if [`forbid_blocking`] forbids it otherwise.
///
/// For the parts of a program that have been given a thread to block on: a closure of tokio's `spawn_blocking`, which runs on a thread that
/// the runtime has started like its workers, or one of `block_in_place`; and for a destructor that has to lock. A later [`forbid_blocking`]
/// applies.
///
/// ```
/// use waitword_core::{allow_blocking, forbid_blocking, may_block};
///
/// forbid_blocking().forever();
/// let allowed = allow_blocking();
/// assert!(may_block());
/// drop(allowed);
/// assert!(!may_block());
/// ```
///
/// The guard is of this thread, and not `Send`. Do not hold it across an `.await`: the other tasks of the thread run meanwhile, and could
/// block unnoticed.
#[must_use = "blocking is forbidden again as soon as the guard is dropped: `let _allowed = allow_blocking();`"]
pub fn allow_blocking() -> AllowBlocking {
    AllowBlocking { forbidden: FORBIDDEN.replace(0), _this_thread: PhantomData }
}

/// Whether this thread may block: no [`forbid_blocking`] guard of it is alive, or an [`allow_blocking`] guard is newer.
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
    ///     let pool = tokio::task::spawn_blocking(|| {
    ///         assert!(!may_block());
    ///         let _allowed = allow_blocking();
    ///         may_block()
    ///     });
    ///     assert!(pool.await.unwrap());
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

/// While it lives, the thread that made it may block. See [`allow_blocking`].
#[derive(Debug)]
pub struct AllowBlocking {
    /// What was forbidden before.
    forbidden: isize,
    _this_thread: PhantomData<*const ()>,
}

impl Drop for AllowBlocking {
    fn drop(&mut self) {
        // Added, not set: guards that forbid may have been made or dropped meanwhile.
        FORBIDDEN.set(FORBIDDEN.get() + self.forbidden);
    }
}
