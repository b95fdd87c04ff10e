//! A future together with what it borrows from, so that the form over an `Arc` and the borrowed form of every future are one type.
//!
//! The waiting itself is a future over the raw part of a lock, borrowed for `'static`. So its code is the same for every type of value
//! and for both forms. This is the only place that makes such a borrow.
//!
//! # Invariants
//! K1. What `keeper` leads to stays where it is, and is not borrowed mutably, while the keeper lives, moved or not ([`Keeper`]).
//! K2. The borrow is given to `wait` alone. `wait` is dropped before the keeper; or the keeper leaves first ([`Kept::split`]), once `wait` has
//!     ended, and then `wait` never uses the borrow again.
//! K3. The type implements [`Drop`], so the compiler requires that a borrow in the keeper outlives the whole.
//!
//! A reference must not dangle while it is part of a function argument, and that in `wait` does for a moment when the whole is the argument
//! of `drop`. In a `MaybeUninit` the compiler does not treat it as a reference.

use std::marker::PhantomPinned;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;

use crate::handle::HasRaw;

/// What leads to a raw part and keeps it in place: a reference or an `Arc`, or a guard that holds one.
///
/// # Safety
/// While the keeper lives, moved or not, what [`target`](Self::target) returned is valid (K1).
pub(crate) unsafe trait Keeper {
    /// The lock, or the condition.
    type Target: HasRaw + ?Sized;

    fn target(&self) -> &Self::Target;
}

/// The raw part of what a keeper leads to.
pub(crate) type Raw<P> = <<P as Keeper>::Target as HasRaw>::Raw;

// SAFETY: the reference keeps it borrowed.
unsafe impl<L: HasRaw + ?Sized> Keeper for &L {
    type Target = L;

    #[inline(always)]
    fn target(&self) -> &L {
        self
    }
}

// SAFETY: the contents of an `Arc` stay where they are while it lives. No code borrows them mutably through this one, and no other `Arc`
// can do so beside it.
unsafe impl<L: HasRaw + ?Sized> Keeper for Arc<L> {
    type Target = L;

    #[inline(always)]
    fn target(&self) -> &L {
        self
    }
}

/// A future over the raw part that the keeper keeps.
pub(crate) struct Kept<P, F> {
    /// Initialised until the drop.
    wait: MaybeUninit<F>,
    /// `Some` until it leaves.
    keeper: Option<P>,
    _pinned: PhantomPinned,
}

impl<P: Keeper, F> Kept<P, F> {
    /// `wait` makes the future, which alone keeps the borrow (K2).
    #[inline]
    pub(crate) fn new(keeper: P, wait: impl FnOnce(&'static Raw<P>) -> F) -> Self {
        let raw = ptr::from_ref(keeper.target().raw());
        // SAFETY: it is valid for as long as the keeper lives (K1), and not used longer (K2).
        let wait = wait(unsafe { &*raw });
        Self { wait: MaybeUninit::new(wait), keeper: Some(keeper), _pinned: PhantomPinned }
    }
}

impl<P, F> Kept<P, F> {
    /// Both parts. The caller may take the keeper once the future has ended (K2).
    #[inline]
    pub(crate) fn split(self: Pin<&mut Self>) -> (Pin<&mut F>, &mut Option<P>) {
        // SAFETY: the future is pinned with the whole: it moves only before that, by `map`, and is dropped where it lies. The keeper is
        // never pinned.
        unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(this.wait.assume_init_mut()), &mut this.keeper)
        }
    }

    /// The future.
    #[inline]
    pub(crate) fn wait(self: Pin<&mut Self>) -> Pin<&mut F> {
        self.split().0
    }

    /// The future, for shared access.
    #[inline]
    pub(crate) fn get(&self) -> &F {
        // SAFETY: initialised until the drop.
        unsafe { self.wait.assume_init_ref() }
    }

    /// The same keeper with another future, to which the borrow is moved.
    #[inline]
    pub(crate) fn map<G>(self, map: impl FnOnce(F) -> G) -> Kept<P, G> {
        let mut this = ManuallyDrop::new(self);
        let keeper = this.keeper.take();
        // SAFETY: initialised, and neither dropped nor read again. A local, so it is dropped before the keeper if `map` panics (K2).
        let wait = map(unsafe { this.wait.assume_init_read() });
        Kept { wait: MaybeUninit::new(wait), keeper, _pinned: PhantomPinned }
    }
}

impl<P, F> Drop for Kept<P, F> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: once. The keeper is dropped after it, as a field, also if this unwinds (K2).
        unsafe { self.wait.assume_init_drop() };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::*;
    use crate::raw_mutex::RawMutex;

    struct Lock {
        raw: RawMutex,
    }

    crate::handle::has_raw!(Lock, RawMutex);

    /// Uses what it borrows when it is dropped.
    struct Uses(&'static RawMutex, Weak<Lock>);

    impl Drop for Uses {
        fn drop(&mut self) {
            assert!(!self.0.is_locked());
            assert_eq!(self.1.strong_count(), 1, "the keeper is there still");
        }
    }

    #[test]
    fn the_future_is_dropped_before_what_it_borrows() {
        let lock = Arc::new(Lock { raw: RawMutex::new() });
        let weak = Arc::downgrade(&lock);
        let kept = Kept::new(lock, |raw| Uses(raw, Weak::clone(&weak)));
        let moved = Box::new(kept.map(|uses| uses));
        assert_eq!(weak.strong_count(), 1);
        drop(moved);
        assert_eq!(weak.strong_count(), 0);
    }
}
