//! The source of atomics, for this crate as for the core: the standard library, or a model checker (`verify/models/`).

pub(crate) use waitword_core::atomic;

/// Whether this is built for a model checker: there is no clock, and limits are small.
pub(crate) const MODEL: bool = cfg!(waitword_loom);

/// A mutant: what runs in place of the named step, to see that the models notice (`verify/README.md`). Empty in a build without a model
/// checker. It has a line of its own, which a reader can skip.
macro_rules! mutant {
    ($step:tt => $instead:stmt) => {
        #[cfg(any(waitword_loom, waitword_mutants))]
        if waitword_core::is_broken($step) {
            $instead
        }
    };
}
pub(crate) use mutant;

/// An ordering; a weaker one in a model that runs with this mutant.
macro_rules! order {
    ($order:ident, $step:tt) => {
        if waitword_core::is_broken($step) {
            $crate::sync::atomic::Ordering::Relaxed
        } else {
            $crate::sync::atomic::Ordering::$order
        }
    };
}
pub(crate) use order;

/// A `const fn`, but for loom, whose atomics are made at run time.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visible:vis const fn $($rest:tt)*) => {
        #[cfg(not(waitword_loom))]
        $(#[$attribute])*
        $visible const fn $($rest)*

        #[cfg(waitword_loom)]
        $(#[$attribute])*
        $visible fn $($rest)*
    };
}
pub(crate) use const_fn;
