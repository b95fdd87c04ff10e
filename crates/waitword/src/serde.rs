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

/// Serializes as the value. Locks the mutex, blocking this thread until it can, and holds it until the serializer is done.
///
/// # Errors
/// Those of the serializer; and one that says so, if the mutex is held and this thread must not block
/// ([`forbid_blocking`](crate::forbid_blocking)). A task locks with [`lock_async`](Mutex::lock_async), and serializes what the
/// guard shows.
///
/// # Deadlocks
/// A thread that holds the mutex already waits for itself.
impl<T: ?Sized + Serialize> Serialize for Mutex<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let guard = if may_block() { Some(self.lock()) } else { self.try_lock() };
        guard.ok_or_else(must_not_wait)?.serialize(serializer)
    }
}

/// Serializes as the value. Reads, blocking this thread until it can, and until the serializer is done.
///
/// # Errors
/// Those of the serializer; and one that says so, if a writer holds the lock and this thread must not block
/// ([`forbid_blocking`](crate::forbid_blocking)). A task reads with [`read_async`](RwLock::read_async), and serializes what the guard
/// shows.
///
/// # Deadlocks
/// A thread that writes already waits for itself; one that reads already may, if a writer is queued ([recursion](RwLock#recursion)).
impl<T: ?Sized + Serialize> Serialize for RwLock<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let guard = if may_block() { Some(self.read()) } else { self.try_read() };
        guard.ok_or_else(must_not_wait)?.serialize(serializer)
    }
}

fn must_not_wait<E: Error>() -> E {
    E::custom("would block, and blocking is forbidden on this thread (`forbid_blocking`)")
}

/// Serializes as an `Option` of the value. Does not wait: while an initialiser runs it is `None`.
impl<T: Serialize> Serialize for OnceLock<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

/// Serializes as the value.
///
/// # Errors
/// Those of the serializer; and one that says so, if the value is poisoned.
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
    /// From the value, as a mutex that nobody holds.
    Mutex: |value: T| Self::new(value);
    /// From the value, as a lock that nobody holds.
    RwLock: |value: T| Self::new(value);
    /// From an `Option` of the value, as a cell that is set or not.
    OnceLock: |value: Option<T>| value.map_or_else(Self::new, Self::with_value);
    /// From the value, which is not poisoned.
    Poison: |value: T| Self::new(value);
}
