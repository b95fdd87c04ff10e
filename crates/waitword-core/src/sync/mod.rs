//! The only source of atomics, locks and threads: the standard library, or the model checker loom under `--cfg waitword_loom`.
//!
//! Only the packages in `verify/models/` depend on loom, so the flag is set for them alone. It is not plain `loom`, because a program that depends
//! on this crate and checks itself under `--cfg loom` must get the standard library here.
//!
//! No other file of this crate imports them from anywhere else, so that loom sees every step.

/// What differs in a browser. loom does not model it.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
#[path = "native.rs"]
mod platform;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[path = "web.rs"]
mod platform;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[allow(unsafe_code)]
pub(crate) mod host;

#[allow(unsafe_code)]
pub(crate) mod fork;

#[cfg_attr(waitword_loom, allow(dead_code))]
pub(crate) mod by_address;
#[cfg(not(waitword_loom))]
#[allow(unsafe_code)]
mod once;

#[cfg(not(waitword_loom))]
#[path = "std.rs"]
mod imp;

#[cfg(waitword_loom)]
#[path = "loom.rs"]
mod imp;

pub use imp::Mutex;
pub use imp::OnceLock;
pub use imp::atomic;
pub(crate) use imp::{Condvar, UnsafeCell, announced, thread};
#[cfg(waitword_loom)]
pub(crate) use imp::{lazy_static, thread_local};
pub use platform::Instant;
#[cfg(not(waitword_loom))]
pub(crate) use platform::Timekeeper;
pub use platform::lock;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use platform::spins;
pub(crate) use platform::{RandomState, can_block, give_way, take_without_sleep};

/// The clock that deadlines are counted on.
pub mod time {
    pub use std::time::Duration;

    /// A moment: the standard library's `Instant`.
    ///
    /// On `wasm32-unknown-unknown` the standard library has no clock. There it is a type of this crate with the same methods,
    /// that reads the host's clock (`waitword-web`) and counts from one origin in all agents.
    pub use super::Instant;
}

/// Whether this is built for a model checker: there is no clock, and a few waiters have to stand for many.
pub(crate) const MODEL: bool = cfg!(waitword_loom);

/// A mutant: what runs in place of the named step, to see that the models notice (`verify/README.md`), or the tests under `--cfg
/// waitword_mutants`. Empty in any other build. It has a line of its own, which a reader can skip.
macro_rules! mutant {
    ($step:tt => $instead:stmt) => {
        #[cfg(any(waitword_loom, waitword_mutants))]
        if $crate::sync::is_broken($step) {
            $instead
        }
    };
}
pub(crate) use mutant;

/// An ordering; a weaker one in a model that runs with this mutant.
macro_rules! order {
    ($order:ident, $step:tt) => {
        $crate::sync::order!($order, $step => Relaxed)
    };
    ($order:ident, $step:tt => $weaker:ident) => {
        if $crate::sync::is_broken($step) {
            $crate::sync::atomic::Ordering::$weaker
        } else {
            $crate::sync::atomic::Ordering::$order
        }
    };
}
pub(crate) use order;

/// Whether the named step is broken: only in a model or a test that runs with its name in `WAITWORD_MUTANT`.
#[cfg(not(any(waitword_loom, waitword_mutants)))]
#[inline(always)]
pub const fn is_broken(_step: &str) -> bool {
    false
}

/// Whether the named step is broken: only in a model or a test that runs with its name in `WAITWORD_MUTANT`.
#[cfg(any(waitword_loom, waitword_mutants))]
pub fn is_broken(step: &str) -> bool {
    static MUTANT: OnceLock<Option<String>> = OnceLock::new();
    MUTANT.get_or_init(|| std::env::var("WAITWORD_MUTANT").ok()).as_deref() == Some(step)
}
