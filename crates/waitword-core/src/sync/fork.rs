//! Forks. The child has the parent's memory, but only the forking thread:
//! - A lock that another thread held stays locked.
//! - What another thread was about to do is never done.
//! - The stack of another thread is reused for the next thread of the child, while waiters that lie on it are still linked.
//!
//! ```text
//!   forking thread                           another
//!   ───────────────────────────────          ───────────────────────────────
//!                                            waits: its node, on its stack, is linked in a queue
//!   prepare: takes all locks                 waits for them, outside their critical sections
//!   fork
//!   parent: releases them                    continues
//!   child: unlinks what is not its own,      does not exist; its stack is as it was at the fork
//!   then releases them
//!   starts a thread, on that stack           nothing is linked there any more
//! ```
//! The state of this library has three parts, each with fork handlers of its own: the tables (`queue/fork.rs`), the timer
//! (`timer/callers.rs`) and the threads that have waited (`park.rs`). The locks of one part are never held while those of another are
//! taken, so the parts may be prepared in any order. The C library does not run a handler that is registered while it runs earlier ones. So
//! the first table registers all parts, and only a fork that is under way while the process waits for the first time goes unnoticed. No
//! thread may wait until another has initialised a value, because in the child that thread may not exist: hence
//! [`OnceLock`](super::OnceLock).

// Not the model checker's: only the owner of a node and the holder of its lock access this, so there is no race.
use std::sync::atomic::{AtomicUsize, Ordering};

/// The thread that a waiter or an alarm belongs to: the one that enqueued, set or polled it last.
///
/// In the child of a fork, what the forking thread owns stays linked: it does not lie on a stack that the child gives to its next threads.
///
/// A thread is identified by an address of its own. A thread that starts later may get the address of one that has ended. Then it owns what
/// that thread left linked, none of which lies on the ended thread's stack.
#[derive(Debug)]
pub(crate) struct Owner(AtomicUsize);

impl Owner {
    /// No thread yet.
    pub(crate) const fn nobody() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// The calling thread.
    #[inline]
    pub(crate) fn set_here(&self) {
        self.0.store(here(), Ordering::Relaxed);
    }

    /// Whether it is the calling thread.
    #[cfg(all(unix, not(waitword_loom)))]
    pub(crate) fn is_here(&self) -> bool {
        self.0.load(Ordering::Relaxed) == here()
    }
}

#[inline]
fn here() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

#[cfg(all(unix, not(waitword_loom)))]
pub(crate) use unix::{AtFork, Slot, at_fork};

#[cfg(all(unix, not(waitword_loom)))]
mod unix {
    use std::cell::Cell;
    use std::ffi::c_int;
    use std::mem::ManuallyDrop;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::LocalKey;

    /// The locks of one part, held by a thread that forks. Dropping this releases them.
    pub(crate) trait AtFork: Sized + 'static {
        /// Takes them.
        fn hold() -> Self;

        /// In the child, on its only thread.
        fn in_child(&mut self);

        /// Where the forking thread stores it meanwhile.
        fn slot() -> &'static LocalKey<Slot<Self>>;
    }

    /// Without a destructor, so that a thread that forks while its thread locals are destroyed still has it.
    pub(crate) type Slot<P> = Cell<Option<ManuallyDrop<P>>>;

    type Handler = Option<extern "C" fn()>;

    unsafe extern "C" {
        /// From the C library, which the standard library links.
        fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
    }

    /// Registers this part: from now on each `fork` holds its locks. `is_registered` is the flag of the part.
    ///
    /// Two threads that come here first may both register the part, and neither waits for the other. Of the calls of one fork, only the
    /// first finds the slot empty (before the fork) or filled (after it).
    #[inline]
    pub(crate) fn at_fork<P: AtFork>(is_registered: &AtomicBool) {
        if !is_registered.load(Ordering::Relaxed) {
            register::<P>(is_registered);
        }
    }

    #[cold]
    fn register<P: AtFork>(is_registered: &AtomicBool) {
        // If there is no memory to register them, forks go unnoticed. Miri has no forks.
        if !cfg!(miri) {
            // SAFETY: the functions exist for ever, and do not unwind.
            unsafe { pthread_atfork(Some(prepare::<P>), Some(parent::<P>), Some(child::<P>)) };
        }
        is_registered.store(true, Ordering::Relaxed);
    }

    extern "C" fn prepare<P: AtFork>() {
        P::slot().with(|slot| {
            let held = slot.take().unwrap_or_else(|| ManuallyDrop::new(P::hold()));
            slot.set(Some(held));
        });
    }

    extern "C" fn parent<P: AtFork>() {
        drop(P::slot().take().map(ManuallyDrop::into_inner));
    }

    extern "C" fn child<P: AtFork>() {
        if let Some(mut held) = P::slot().take().map(ManuallyDrop::into_inner) {
            held.in_child();
        }
    }
}
