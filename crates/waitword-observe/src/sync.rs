//! The door to atomics and locks, for this crate as for the core: the standard library's, or a model checker's, for the files that `models/` builds.

pub(crate) use waitword_core::Mutex;
pub(crate) use waitword_core::atomic;

/// Whether this is built for a model checker: one has to do for many.
pub(crate) const MODEL: bool = cfg!(waitword_loom);

/// On a line of its own: what is done with the step of this name left out, to see that the models notice (`docs/checks.md`). It is
/// nothing in a build without a model checker, and a reader can pass over it.
macro_rules! mutant {
    ($step:tt => $instead:stmt) => {
        #[cfg(waitword_loom)]
        if waitword_core::is_broken($step) {
            $instead
        }
    };
}
pub(crate) use mutant;

/// An ordering that is weakened with the step of this name.
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
