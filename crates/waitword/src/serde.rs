//! Locks and cells as the values that are in them, for `serde`. What is read back is a new, free lock.
//!
//! A lock is serialized under a guard, so no other holder changes the value meanwhile.

use ::serde::de::{Deserialize, Deserializer};
use ::serde::ser::{Error, Serialize, Serializer};

use crate::mutex::Mutex;
use crate::once::OnceLock;
use crate::poison::Poison;
use crate::rwlock::RwLock;
use waitword_core::may_block;

/// Serializes as the value. Locks the mutex, blocking this thread until it is acquired, and holds it until the serializer is done.
///
/// # Errors
/// - Those of the serializer.
/// - "would block", if the mutex is held and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)). In a task, lock with
///   [`lock_async`](Mutex::lock_async) and serialize the value of the guard.
///
/// # Deadlocks
/// A thread that already holds the mutex waits for itself.
impl<T: ?Sized + Serialize> Serialize for Mutex<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let guard = if may_block() { Some(self.lock()) } else { self.try_lock() };
        guard.ok_or_else(must_not_wait)?.serialize(serializer)
    }
}

/// Serializes as the value. Acquires shared access, blocking this thread until it is acquired, and holds it until the serializer is done.
///
/// # Errors
/// - Those of the serializer.
/// - "would block", if the attempt to acquire shared access fails and this thread must not block
///   ([`forbid_blocking`](crate::forbid_blocking)). In a task, use [`read_async`](RwLock::read_async) and serialize the value of the guard.
///
/// # Deadlocks
/// A thread that holds a write guard waits for itself. A thread that holds a read guard may wait for itself if a writer is queued
/// ([recursion](RwLock#recursion)).
impl<T: ?Sized + Serialize> Serialize for RwLock<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let guard = if may_block() { Some(self.read()) } else { self.try_read() };
        guard.ok_or_else(must_not_wait)?.serialize(serializer)
    }
}

fn must_not_wait<E: Error>() -> E {
    E::custom(
        "would block, and blocking is forbidden on this thread (`forbid_blocking`): await a guard, and serialize that",
    )
}

/// Serializes as an `Option` of the value. Never waits: while an initialiser runs it is `None`.
impl<T: Serialize> Serialize for OnceLock<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

/// Serializes as the value.
///
/// # Errors
/// - Those of the serializer.
/// - The message of [`Poisoned`](crate::Poisoned), if the value is poisoned.
impl<T: ?Sized + Serialize> Serialize for Poison<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().map_err(Error::custom)?.serialize(serializer)
    }
}

macro_rules! deserialize {
    ($(#[$docs:meta] $Type:ident: |$value:ident: $Value:ty| $made:expr;)+) => {$(
        #[$docs]
        impl<'de, T: Deserialize<'de>> Deserialize<'de> for $Type<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$Value>::deserialize(deserializer).map(|$value| $made)
            }
        }
    )+};
}

deserialize! {
    /// Deserializes from the value, to a mutex that nobody holds.
    Mutex: |value: T| Self::new(value);
    /// Deserializes from the value, to a lock that nobody holds.
    RwLock: |value: T| Self::new(value);
    /// Deserializes from an `Option` of the value, to a cell that is set or empty.
    OnceLock: |value: Option<T>| value.map_or_else(Self::new, Self::with_value);
    /// Deserializes from the value, which is not poisoned.
    Poison: |value: T| Self::new(value);
}
