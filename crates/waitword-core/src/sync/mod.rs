//! The one door to atomics, locks and threads: the standard library's, or a model checker's under `--cfg loom` or
//! `--cfg shuttle`.
//!
//! Nobody in this crate imports them from anywhere else, so that the checker sees every step.

#[cfg(not(any(loom, shuttle, tsan)))]
#[path = "std.rs"]
mod imp;

#[cfg(all(tsan, not(any(loom, shuttle))))]
#[path = "tsan.rs"]
#[allow(unsafe_code)]
mod imp;

#[cfg(loom)]
#[path = "loom.rs"]
mod imp;

#[cfg(all(shuttle, not(loom)))]
#[path = "shuttle.rs"]
mod imp;

pub use imp::atomic;
#[cfg(any(loom, shuttle))]
pub(crate) use imp::lazy_static;
pub(crate) use imp::{Condvar, Mutex, OnceLock, UnsafeCell, announced, thread};

/// Whether this is built for a model checker: there is no clock, and few waiters have to do for many.
pub(crate) const MODEL: bool = cfg!(any(loom, shuttle));

/// Whether the step of this name is left out or weakened, to see that the models notice (`docs/loom.md`).
macro_rules! broken {
    ($step:tt) => {
        $crate::sync::is_broken($step)
    };
}
pub(crate) use broken;

/// Never, but in a model that is run with the step's name in `WAITWORD_MUTANT`.
#[cfg(not(any(loom, shuttle)))]
#[inline(always)]
pub const fn is_broken(_step: &str) -> bool {
    false
}

/// Never, but in a model that is run with the step's name in `WAITWORD_MUTANT`.
#[cfg(any(loom, shuttle))]
pub fn is_broken(step: &str) -> bool {
    static MUTANT: OnceLock<Option<String>> = OnceLock::new();
    MUTANT.get_or_init(|| std::env::var("WAITWORD_MUTANT").ok()).as_deref() == Some(step)
}
