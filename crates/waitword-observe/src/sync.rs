//! The source of atomics, for this crate as for the core: the standard library, or a model checker for the files that `verify/models/` builds.

pub(crate) use waitword_core::atomic;

/// A mutant: what runs in place of the named step, to see that the models notice (`verify/README.md`). Empty in a build without a model
/// checker. It has a line of its own, which a reader can skip.
macro_rules! mutant {
    ($step:tt => $instead:stmt) => {
        #[cfg(waitword_loom)]
        if waitword_core::is_broken($step) {
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
        if waitword_core::is_broken($step) {
            $crate::sync::atomic::Ordering::$weaker
        } else {
            $crate::sync::atomic::Ordering::$order
        }
    };
}
pub(crate) use order;
