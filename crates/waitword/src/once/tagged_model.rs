//! As `tagged.rs`, for the model checkers, whose atomics are no words: the word and the value side by side.

use std::cell::UnsafeCell;

use crate::once::raw::{NOTHING, RawOnce, SET};
use crate::sync::const_fn;

pub(super) struct Tagged<T> {
    raw: RawOnce,
    value: UnsafeCell<Option<T>>,
}

impl<T> Tagged<T> {
    const_fn! {
        pub(super) const fn new() -> Self {
            Self { raw: RawOnce::new(NOTHING), value: UnsafeCell::new(None) }
        }
    }

    const_fn! {
        pub(super) const fn set_to(value: T) -> Self {
            Self { raw: RawOnce::new(SET), value: UnsafeCell::new(Some(value)) }
        }
    }

    pub(super) fn raw(&self) -> &RawOnce {
        &self.raw
    }

    /// # Safety
    /// There is a value, whose writing happens before this, and it is only read as long as the reference lives.
    pub(super) unsafe fn get(&self) -> &T {
        // SAFETY: by the contract of `get`, the value is only read.
        unsafe { (*self.value.get()).as_ref() }.expect("the caller says that there is a value")
    }

    /// # Safety
    /// There is no value, and no other thread reads or writes one.
    pub(super) unsafe fn write(&self, value: T) {
        // SAFETY: by the contract of `write`, no other thread accesses the value.
        unsafe { *self.value.get() = Some(value) };
    }

    pub(super) fn as_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    pub(super) fn take(&mut self) -> Option<T> {
        std::mem::replace(self, Self::new()).value.into_inner()
    }
}
