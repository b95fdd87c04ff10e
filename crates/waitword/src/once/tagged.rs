//! A value and the word that says whether it is there, as one enum: the word is the enum's tag.
//!
//! So the value drops itself, as that of any enum does, and this type needs no destructor. A type with a destructor of its own,
//! which checks the word and drops the value or not, could not be dropped after what the value borrows: the compiler has to assume
//! that a destructor reads it. (The standard library uses `may_dangle` against that, which is unstable.) And an `Option` beside the
//! word, which needs none either, has a tag of its own: 4 bytes for a `u32`, 8 for a `u64`.
//!
//! T1. The tag is one of `NOTHING`, `RUNNING`, `SET`, `NOTHING | WAITERS` and `RUNNING | WAITERS`, each of which is a variant:
//!     the transitions in `raw.rs` lead to no other.
//! T2. `#[repr(u32)]` lays the enum out as a union of `repr(C)` structs, each of which begins with the tag, a `u32`. So its address
//!     is that of the tag, and `Full` is the variant with the value.
//! T3. While the cell is shared the tag is changed atomically only, and there is no reference to the enum: it is in an
//!     `UnsafeCell`. An `AtomicU32` has the layout of a `u32`, except that its alignment may be stricter, which `_aligned`
//!     provides.

use std::cell::UnsafeCell;
use std::mem;

use crate::holders::Gone;
use crate::once::raw::{NOTHING, RUNNING, RawOnce, SET, WAITERS};
use crate::sync::atomic::AtomicU32;

/// See [the module](self).
#[repr(C)]
pub(super) struct Tagged<T> {
    // First, as it has the address of the tag.
    _gone: Gone,
    state: UnsafeCell<State<T>>,
    _aligned: [AtomicU32; 0],
}

#[repr(u32)]
#[allow(dead_code, reason = "the tag is also written as a word")]
enum State<T> {
    Nothing = NOTHING,
    Running = RUNNING,
    Set(T) = SET,
    NothingAwaited = NOTHING | WAITERS,
    RunningAwaited = RUNNING | WAITERS,
}

/// [`State::Set`].
#[repr(C)]
struct Full<T> {
    _tag: u32,
    value: T,
}

impl<T> Tagged<T> {
    /// Without a value.
    pub(super) const fn new() -> Self {
        Self::of(State::Nothing)
    }

    /// With one.
    pub(super) const fn set_to(value: T) -> Self {
        Self::of(State::Set(value))
    }

    const fn of(state: State<T>) -> Self {
        Self { _gone: Gone, state: UnsafeCell::new(state), _aligned: [] }
    }

    /// The tag, as the word that `raw.rs` changes.
    #[inline]
    pub(super) fn raw(&self) -> &RawOnce {
        // SAFETY: the tag is at this address (T2), and is accessed as an atomic as long as `self` is shared (T3), and `RawOnce` is
        // transparent. Its alignment is that of an `AtomicU32` at least (T3).
        unsafe { &*self.state.get().cast::<RawOnce>() }
    }

    /// # Safety
    /// There is a value, whose writing happens before this, and it is only read as long as the reference lives.
    #[inline]
    pub(super) unsafe fn get(&self) -> &T {
        // SAFETY: the value is at this place (T2). By the contract of `get`, it is initialised and not written.
        unsafe { &(*self.state.get().cast::<Full<T>>()).value }
    }

    /// Writes the value. The caller sets the tag afterwards.
    ///
    /// # Safety
    /// There is no value, and no other thread reads or writes one.
    pub(super) unsafe fn write(&self, value: T) {
        // SAFETY: the value has this place (T2). By the contract of `write`, no other thread accesses it. No reference to it is
        // made, because it may not be initialised.
        unsafe { (&raw mut (*self.state.get().cast::<Full<T>>()).value).write(value) };
    }

    /// The value, for the exclusive owner.
    pub(super) fn as_mut(&mut self) -> Option<&mut T> {
        match self.state.get_mut() {
            State::Set(value) => Some(value),
            _ => None,
        }
    }

    /// Takes the value out. The cell is as it was when it was new.
    pub(super) fn take(&mut self) -> Option<T> {
        match mem::replace(self.state.get_mut(), State::Nothing) {
            State::Set(value) => Some(value),
            _ => None,
        }
    }
}

const _: () = {
    assert!(size_of::<Tagged<()>>() == 4 && size_of::<Tagged<u32>>() == 8);
    assert!(size_of::<Tagged<u64>>() == 8 + align_of::<u64>());
    assert!(align_of::<Tagged<u8>>() == align_of::<AtomicU32>());
    assert!(mem::offset_of!(Tagged<u64>, _gone) == mem::offset_of!(Tagged<u64>, state));
};
