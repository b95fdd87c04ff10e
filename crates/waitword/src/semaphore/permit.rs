//! Acquired permits: a number of permits of one semaphore, released when dropped.

use std::sync::Arc;
use std::{fmt, mem};

use crate::holders::{Change, Hold, HoldId, changed, merged};
use crate::semaphore::Semaphore;

/// The methods of permits, and their drop. `$of_the_same` is another `Arc` of, or reference to, the semaphore of `$this`.
macro_rules! permits {
    (
        $(#[$docs:meta])*
        $Permit:ident$(<$life:lifetime>)? of $Shared:ty, $acquire:literal, $this:ident => $semaphore:expr, $of_the_same:expr;
        $Returned:ty $(, sent as $hold:ident)?
    ) => {
        $(#[$docs])*
        #[must_use = "dropping the permit releases it: keep it with `let permit = ...`, or call `forget` to remove it from the semaphore"]
        #[clippy::has_significant_drop]
        pub struct $Permit$(<$life>)? {
            semaphore: $Shared,
            permits: usize,
            hold: HoldId,
        }

        impl$(<$life>)? $Permit$(<$life>)? {
            #[inline]
            pub(super) fn new(semaphore: $Shared, permits: usize, hold: HoldId) -> Self {
                $(changed(semaphore.held_at(), Hold::$hold, hold, Change::Sent);)?
                Self { semaphore, permits, hold }
            }

            /// Returns the number of permits.
            pub fn num_permits(&self) -> usize {
                self.permits
            }

            /// Returns the semaphore that the permits belong to.
            pub fn semaphore(&self) -> $Returned {
                let $this = self;
                $semaphore
            }

            /// Removes the permits from the semaphore permanently, instead of releasing them. The opposite of
            /// [`add_permits`](Semaphore::add_permits).
            ///
            /// ```
            /// let semaphore = std::sync::Arc::new(waitword::Semaphore::new(3));
            #[doc = concat!("semaphore.acquire_many", $acquire, "(2).unwrap().forget();")]
            /// assert_eq!(semaphore.available_permits(), 1);
            /// ```
            pub fn forget(mut self) {
                changed(0, Hold::Permits, mem::take(&mut self.hold), Change::Forgotten);
                self.permits = 0;
            }

            /// Merges the permits of `other` into this guard.
            ///
            /// ```
            /// let semaphore = std::sync::Arc::new(waitword::Semaphore::new(3));
            #[doc = concat!("let mut permits = semaphore.acquire", $acquire, "().unwrap();")]
            #[doc = concat!("permits.merge(semaphore.acquire", $acquire, "().unwrap());")]
            /// assert_eq!(permits.num_permits(), 2);
            /// drop(permits);
            /// assert_eq!(semaphore.available_permits(), 3);
            /// ```
            ///
            /// # Panics
            /// If `other` has permits of another semaphore, or both together have more than [`MAX_PERMITS`](Semaphore::MAX_PERMITS).
            /// `other` is released then.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                self.permits = both(&self.semaphore, self.permits, &other.semaphore, other.permits);
                self.hold = merged(self.semaphore.held_at(), self.hold, mem::take(&mut other.hold), self.permits);
                other.permits = 0;
            }

            /// Splits `permits` permits off into a guard of their own. Returns `None` and changes nothing if there are fewer.
            ///
            /// ```
            /// let semaphore = std::sync::Arc::new(waitword::Semaphore::new(3));
            #[doc = concat!("let mut three = semaphore.acquire_many", $acquire, "(3).unwrap();")]
            /// let one = three.split(1).unwrap();
            /// assert_eq!((one.num_permits(), three.num_permits()), (1, 2));
            /// assert!(three.split(3).is_none());
            /// ```
            pub fn split(&mut self, permits: usize) -> Option<Self> {
                self.permits = self.permits.checked_sub(permits)?;
                let hold = changed(0, Hold::Permits, self.hold, Change::Split { left: self.permits, permits });
                let $this = self;
                Some(Self { semaphore: $of_the_same, permits, hold })
            }
        }

        impl$(<$life>)? Drop for $Permit$(<$life>)? {
            #[inline]
            fn drop(&mut self) {
                self.semaphore.give_back(self.permits, self.hold);
            }
        }

        impl$(<$life>)? fmt::Debug for $Permit$(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Permit)).field("permits", &self.permits).finish_non_exhaustive()
            }
        }
    };
}

permits! {
    /// A guard of one or several permits of a [`Semaphore`]. Dropping the guard releases the permits.
    ///
    /// It may be held across an `await`, and dropped on another thread than the one that acquired the permits.
    #[doc(alias = "SemaphoreGuard")]
    SemaphorePermit<'a> of &'a Semaphore, "", this => this.semaphore, this.semaphore; &'a Semaphore
}

permits! {
    /// A guard of one or several permits of a [`Semaphore`] that holds an `Arc` of the semaphore. Dropping the guard releases the permits.
    ///
    /// It is like [`SemaphorePermit`], but borrows nothing.
    #[doc(alias = "SemaphoreGuardArc")]
    OwnedSemaphorePermit of Arc<Semaphore>, "_owned", this => &this.semaphore, Arc::clone(&this.semaphore); &Arc<Semaphore>,
    sent as Permits
}

#[track_caller]
fn both(semaphore: &Semaphore, permits: usize, other: &Semaphore, others: usize) -> usize {
    assert!(
        std::ptr::eq(semaphore, other),
        "permits of different semaphores cannot be merged: keep both guards, in a tuple or a `Vec`"
    );
    let both = permits.checked_add(others).filter(|both| *both <= Semaphore::MAX_PERMITS);
    both.expect("more than `Semaphore::MAX_PERMITS` permits cannot be merged, because none could be released: keep both guards")
}
