//! The types of locks.
//!
//! A queue knows a word, and not that it lies in a `Mutex<Pool>`: that is known only where the mutex is locked.

use std::any::type_name;
use std::fmt;

/// What a lock is, such as `Mutex<alloc::vec::Vec<u8>>`.
#[derive(Debug)]
pub struct LockType {
    lock: &'static str,
    // What asks the compiler for the name is no constant, so this asks when a report is written.
    value: fn() -> &'static str,
}

impl LockType {
    /// A `lock`, such as `Mutex`, of a value of type `T`.
    pub const fn new<T: ?Sized>(lock: &'static str) -> Self {
        Self { lock, value: type_name::<T> }
    }
}

/// Whether both print as the same. One type may have several statics.
impl PartialEq for LockType {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || (self.lock, (self.value)()) == (other.lock, (other.value)())
    }
}

/// The lock and the type of its value, that with all paths, as [`type_name`] has it.
impl fmt::Display for LockType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<{}>", self.lock, (self.value)())
    }
}
