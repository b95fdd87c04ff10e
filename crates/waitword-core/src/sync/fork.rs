//! Forks. The child has the parent's memory, but only the forking thread: a lock that another thread held stays taken, and what another
//! thread was about to do is not done.
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
//! So the state that the timer's threads share is whole in the child, which notices that it has none of them. Nothing else pays for this.

/// From now on each `fork` calls `prepare` before it, and after it `parent` or `child`, all on the forking thread. A `prepare` that is
/// registered later runs earlier.
#[cfg(unix)]
pub(crate) fn at_fork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    use std::ffi::c_int;

    type Handler = Option<extern "C" fn()>;

    unsafe extern "C" {
        /// From the C library, which the standard library links.
        fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
    }

    // If there is no memory to register them, forks go unnoticed.
    // SAFETY: the functions are there for ever, and unwind into no caller.
    unsafe { pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}

/// No `fork` here.
#[cfg(not(unix))]
pub(crate) fn at_fork(_prepare: extern "C" fn(), _parent: extern "C" fn(), _child: extern "C" fn()) {}
