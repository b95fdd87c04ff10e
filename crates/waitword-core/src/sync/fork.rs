//! A process that forks. Its child has the memory, and of the threads only the one that forked: a lock that another held stays taken there,
//! and what another thread was to do is not done.
//!
//! ```text
//!   forking thread                           another
//!   ───────────────────────────────          ───────────────────────────────
//!   prepare: takes the locks                 waits for them, outside their critical sections
//!   fork
//!   parent: gives them back                  goes on
//!   child: gives them back; sets anew        is not there
//!   what the threads that are gone had
//! ```
//! So what the threads of the timer share is whole in the child, which notices that it has none of them, at no cost elsewhere.

/// From now on each `fork` calls `prepare` before it, and after it `parent` or `child`, all on the forking thread. What is registered
/// later prepares earlier.
#[cfg(unix)]
pub(crate) fn at_fork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    use std::ffi::c_int;

    type Handler = Option<extern "C" fn()>;

    unsafe extern "C" {
        /// Of the C library, which the standard library links.
        fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
    }

    // Without memory for it, forks are not noticed.
    // SAFETY: the functions are there for ever, and unwind into no caller.
    unsafe { pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}

/// There is no `fork`.
#[cfg(not(unix))]
pub(crate) fn at_fork(_prepare: extern "C" fn(), _parent: extern "C" fn(), _child: extern "C" fn()) {}
