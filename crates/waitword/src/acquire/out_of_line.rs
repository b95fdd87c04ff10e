//! A value whose drop is out of line, for owners that seldom contain one when they are dropped.
//!
//! The compiler inlines the drop of a large value into that of its owner, which becomes too large to be inlined itself. Then the drop
//! of each future of a lock that was free is two calls, to find out that there is nothing to drop.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::pin::Pin;

pub(super) struct OutOfLine<T>(ManuallyDrop<T>);

impl<T> OutOfLine<T> {
    pub(super) fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }

    pub(super) fn as_pin_mut(self: Pin<&mut Self>) -> Pin<&mut T> {
        // SAFETY: the value is pinned with the whole: nothing moves it, and it is dropped where it lies.
        unsafe { self.map_unchecked_mut(|this| &mut *this.0) }
    }

    #[inline(never)]
    fn drop_value(&mut self) {
        // SAFETY: once, by the drop of the whole.
        unsafe { ManuallyDrop::drop(&mut self.0) }
    }
}

impl<T> Deref for OutOfLine<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for OutOfLine<T> {
    #[inline]
    fn drop(&mut self) {
        self.drop_value();
    }
}
