//! The methods of the exclusive owner of the cell: no initialiser runs meanwhile, so none has to be waited for.

use crate::once::OnceLock;

impl<T> OnceLock<T> {
    /// Returns a mutable reference to the value if the cell is set. Never waits, because the `&mut self` excludes all others.
    ///
    /// ```
    /// let mut cell = waitword::OnceLock::from(1);
    /// *cell.get_mut().unwrap() += 1;
    /// assert_eq!(cell.into_inner(), Some(2));
    /// ```
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.slot.get_mut()
    }

    /// The value, for the exclusive owner. If there is none, `initialiser` makes it.
    #[inline]
    pub(super) fn get_mut_or_init(&mut self, initialiser: impl FnOnce() -> T) -> &mut T {
        if self.get().is_none() {
            *self = Self::from(initialiser());
        }
        self.slot.get_mut().expect(SET)
    }

    /// Takes the value out of the cell, which can be set again. Never waits, because the `&mut self` excludes all others.
    ///
    /// ```
    /// let mut cell = waitword::OnceLock::from(1);
    /// assert_eq!((cell.take(), cell.take()), (Some(1), None));
    /// assert_eq!(cell.set(2), Ok(()));
    /// ```
    pub fn take(&mut self) -> Option<T> {
        self.slot.take()
    }

    /// Consumes the cell, and returns the value if it was set. Never waits.
    pub fn into_inner(mut self) -> Option<T> {
        self.slot.take()
    }
}

const SET: &str = "it was set just now, if not before";
