//! Whether a thread may block at all.
//!
//! A browser's main thread, a UI loop or a worker of an executor may acquire a free lock, but must not sleep. In a browser, `Atomics.wait`
//! throws a TypeError on the main thread. Here, a thread forbids itself to block.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem;

use crate::sync::can_block;

thread_local! {
    /// The number of guards that forbid it. Negative while an [`AllowBlocking`] lives, if an older guard was dropped meanwhile.
    static FORBIDDEN: Cell<isize> = const { Cell::new(0) };
}

/// Forbids this thread to block for as long as the returned guard lives.
///
/// A blocking call that would have to wait then panics, and names the `_async` method to use instead. A call that need not wait (a free
/// lock, a word that differs) succeeds. Guards nest.
///
/// ```
/// let ui_thread = waitword_core::forbid_blocking();
/// assert!(!waitword_core::may_block());
/// drop(ui_thread);
/// assert!(waitword_core::may_block());
/// ```
///
/// For a thread that must never block, call [`forbid_blocking().forever()`](ForbidBlocking::forever) instead of keeping the guard.
///
/// The guard belongs to this thread, and is not `Send`. Do not hold it across an `.await`: other tasks run on the thread meanwhile, and
/// would be forbidden to block, too.
#[must_use = "blocking is allowed again as soon as the guard is dropped; to forbid it for good, call `forever` on it"]
pub fn forbid_blocking() -> ForbidBlocking {
    FORBIDDEN.set(FORBIDDEN.get() + 1);
    ForbidBlocking { _this_thread: PhantomData }
}

/// Allows this thread to block for as long as the returned guard lives, even if [`forbid_blocking`] was called before.
///
/// For code that may block its thread: a closure of tokio's `spawn_blocking`, which runs on a thread that the runtime has started like
/// its workers, or a closure of `block_in_place`. Also for a destructor that has to lock. A later [`forbid_blocking`] takes precedence.
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
/// The guard belongs to this thread, and is not `Send`. Do not hold it across an `.await`: other tasks run on the thread meanwhile, and
/// could block unnoticed.
#[must_use = "blocking is forbidden again as soon as the guard is dropped: `let _allowed = allow_blocking();`"]
pub fn allow_blocking() -> AllowBlocking {
    AllowBlocking { forbidden: FORBIDDEN.replace(0), _this_thread: PhantomData }
}

/// Returns whether this thread may block: it has no live [`forbid_blocking`] guard, or its newest guard is one of [`allow_blocking`].
///
/// Always `false` in a browser's page, and in an agent of `wasm32-unknown-unknown` that was not started (`waitword-web`).
pub fn may_block() -> bool {
    can_block() && FORBIDDEN.get() <= 0
}

/// The guard of [`forbid_blocking`]. While it lives, the thread that created it must not block.
#[derive(Debug)]
pub struct ForbidBlocking {
    _this_thread: PhantomData<*const ()>,
}

impl ForbidBlocking {
    /// Forbids this thread to block until the thread ends.
    ///
    /// For all threads that a runtime starts, here tokio's:
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
    /// // The runtime has not started the thread that calls `block_on`.
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

/// The guard of [`allow_blocking`]. While it lives, the thread that created it may block.
#[derive(Debug)]
pub struct AllowBlocking {
    /// The number of guards that forbade it before.
    forbidden: isize,
    _this_thread: PhantomData<*const ()>,
}

impl Drop for AllowBlocking {
    fn drop(&mut self) {
        // Added, not set: guards that forbid may have been made or dropped meanwhile.
        FORBIDDEN.set(FORBIDDEN.get() + self.forbidden);
    }
}
