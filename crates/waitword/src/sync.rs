//! The door to atomics, for this crate as for the core: the standard library's, or a model checker's under `--cfg loom` or
//! `--cfg shuttle`.

pub(crate) use waitword_core::atomic;

/// Whether this is built for a model checker: there is no clock, and once has to do for many times.
pub(crate) const MODEL: bool = cfg!(any(loom, shuttle));

/// A `const fn`, but for loom, whose atomics are made at run time.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visible:vis const fn $($rest:tt)*) => {
        #[cfg(not(loom))]
        $(#[$attribute])*
        $visible const fn $($rest)*

        #[cfg(loom)]
        $(#[$attribute])*
        $visible fn $($rest)*
    };
}
pub(crate) use const_fn;
