//! The thread that must not block.
//!
//! A browser's main thread, a UI loop or an executor's worker may take what is free but must not sleep. The
//! article's main thread gets a TypeError from `Atomics.wait`; here a thread forbids itself to block.

use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    static FORBIDDEN: Cell<usize> = const { Cell::new(0) };
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
#[must_use = "blocking is allowed again as soon as the guard is dropped"]
pub fn forbid_blocking() -> ForbidBlocking {
    FORBIDDEN.set(FORBIDDEN.get() + 1);
    ForbidBlocking { _this_thread: PhantomData }
}

/// Whether this thread may block: no [`forbid_blocking`] guard of it is alive.
pub fn may_block() -> bool {
    FORBIDDEN.get() == 0
}

/// While it lives, the thread that made it must not block. See [`forbid_blocking`].
#[derive(Debug)]
pub struct ForbidBlocking {
    _this_thread: PhantomData<*const ()>,
}

impl Drop for ForbidBlocking {
    fn drop(&mut self) {
        FORBIDDEN.set(FORBIDDEN.get() - 1);
    }
}
