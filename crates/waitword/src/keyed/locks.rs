//! A mutex and a readers-writer lock per key.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

use waitword_core::time::{Duration, Instant};

use crate::acquire::{attempts, block, held};
use crate::error::LockError;
use crate::keyed::guard::{Access, Exclusive, KeyedAcquire, KeyedGuard, Shared};
use crate::keyed::key::Key;
use crate::keyed::map::map;
use crate::keyed::uses::{Lead, Locks, Use, Uses, Value};
use crate::raw_mutex::RawMutex;
use crate::raw_rwlock::{Mode, RawRwLock};

/// The attempts of a user, by whatever method: blocking, until a deadline, and at once.
impl<P: Lead<Value: Locks>> Use<P> {
    #[track_caller]
    fn block<A: Access<P::Value>>(self, instead: &'static str) -> KeyedGuard<P, A> {
        let Ok(hold) = block::acquire(self.entry(), || A::ASK, || instead);
        KeyedGuard::new(self, hold)
    }

    #[track_caller]
    fn block_until<A: Access<P::Value>>(
        self,
        deadline: Option<Instant>,
    ) -> Result<KeyedGuard<P, A>, LockError> {
        let acquired = block::acquire_until(self.entry(), || A::ASK, || deadline);
        acquired.map(|Ok(hold)| KeyedGuard::new(self, hold))
    }

    #[track_caller]
    fn attempt<A: Access<P::Value>>(self) -> Option<KeyedGuard<P, A>> {
        let hold = held::try_take(&self.entry().value, A::ASK)?;
        Some(KeyedGuard::new(self, hold))
    }
}

/// A map whose values are locks.
macro_rules! locks {
    ($Lock:ident over $Raw:ident, $ask:expr) => {
        map! { $Lock<K> of $Raw }

        impl Value for $Raw {}

        impl Locks for $Raw {
            const NAME: &str = stringify!($Lock);
        }

        impl<K, S: BuildHasher> $Lock<K, S> {
            fn at<P: Lead<Key = K, Value = $Raw>>(&self, lead: P, key: impl Key<K>) -> Use<P> {
                let at = Use::enter(lead, key.hash_by(&self.hasher), key, || Some($Raw::new()), |_| ());
                at.expect("there is an entry")
            }

            /// For tests: how many waiters of this key are queued at this moment.
            #[doc(hidden)]
            pub fn waiters(&self, key: impl Key<K>) -> usize {
                let at = Use::enter(self, key.hash_by(&self.hasher), key, || None, |_| ());
                at.map_or(0, |at| attempts::waiters(&at.entry().value, $ask))
            }
        }
    };
}

/// The methods that acquire a key in one mode.
macro_rules! acquires {
    (
        $Access:ident;
        $(#[$plain_docs:meta])* $plain:ident;
        $(#[$try_docs:meta])* $try:ident;
        $(#[$async_docs:meta])* $async:ident;
        $(#[$for_docs:meta])* $for:ident;
        $(#[$until_docs:meta])* $until:ident;
        $(#[$owned_docs:meta])* $owned:ident;
        $(#[$try_owned_docs:meta])* $try_owned:ident;
        $(#[$owned_async_docs:meta])* $owned_async:ident;
    ) => {
        $(#[$plain_docs])*
        ///
        /// # Panics
        /// - If it would have to wait and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)).
        /// - If the key's `hash`, `eq` or `clone` panics.
        ///
        /// In both cases nothing is held.
        #[track_caller]
        pub fn $plain(&self, key: impl Key<K>) -> KeyedGuard<&Self, $Access> {
            self.at(self, key).block(stringify!($async))
        }

        $(#[$try_docs])*
        #[track_caller]
        pub fn $try(&self, key: impl Key<K>) -> Option<KeyedGuard<&Self, $Access>> {
            self.at(self, key).attempt()
        }

        $(#[$async_docs])*
        ///
        /// # Cancellation
        /// This call creates the entry, if there is none; the first poll enqueues. The future is cancel-safe: dropping it dequeues it,
        /// forwards a signal that it received, and removes the entry if nobody else uses it.
        #[track_caller]
        pub fn $async(&self, key: impl Key<K>) -> KeyedAcquire<&Self, $Access> {
            KeyedAcquire::new(self.at(self, key))
        }

        $(#[$for_docs])*
        ///
        /// # Errors
        /// - [`TimedOut`](LockError::TimedOut), never before the deadline.
        /// - [`BlockingForbidden`](LockError::BlockingForbidden), at once, if it would have to wait and this thread must not block.
        #[track_caller]
        pub fn $for(&self, key: impl Key<K>, timeout: Duration) -> Result<KeyedGuard<&Self, $Access>, LockError> {
            self.at(self, key).block_until(Instant::now().checked_add(timeout))
        }

        $(#[$until_docs])*
        ///
        /// # Errors
        #[doc = concat!("As with [`", stringify!($for), "`](Self::", stringify!($for), ").")]
        #[track_caller]
        pub fn $until(&self, key: impl Key<K>, deadline: Instant) -> Result<KeyedGuard<&Self, $Access>, LockError> {
            self.at(self, key).block_until(Some(deadline))
        }

        $(#[$owned_docs])*
        #[track_caller]
        pub fn $owned(self: &Arc<Self>, key: impl Key<K>) -> KeyedGuard<Arc<Self>, $Access> {
            self.at(Arc::clone(self), key).block(stringify!($owned_async))
        }

        $(#[$try_owned_docs])*
        #[track_caller]
        pub fn $try_owned(self: &Arc<Self>, key: impl Key<K>) -> Option<KeyedGuard<Arc<Self>, $Access>> {
            self.at(Arc::clone(self), key).attempt()
        }

        $(#[$owned_async_docs])*
        #[track_caller]
        pub fn $owned_async(self: &Arc<Self>, key: impl Key<K>) -> KeyedAcquire<Arc<Self>, $Access> {
            KeyedAcquire::new(self.at(Arc::clone(self), key))
        }
    };
}

/// A mutex per key, for threads and tasks.
///
/// Only holders of equal keys exclude each other. The mutexes protect no values: keep the data elsewhere. Acquire several keys in one
/// order everywhere, because otherwise two holders can wait for each other. Threads lock a key with [`lock`](Self::lock), tasks with
/// [`lock_async`](Self::lock_async). Each key has one FIFO queue, with the guarantees of [`Mutex`](crate::Mutex). A key has an entry
/// only while it is held or waited for: nothing has to be cleaned up, and a million keys that were locked leave
/// nothing behind but the memory of 32 entries at most, which later entries use. An entry is one allocation; a wait allocates nothing.
///
/// Pass a key by value, or as a [`ByRef`](crate::keyed::ByRef), which is cloned only for a new entry. `eq`, and `clone` of a `ByRef`, run
/// under an internal lock of this map, and must not use the map.
///
/// ```
/// use std::thread;
/// use waitword::keyed::{ByRef, KeyedMutex};
///
/// static USERS: std::sync::LazyLock<KeyedMutex<String>> = std::sync::LazyLock::new(KeyedMutex::new);
///
/// # smol::block_on(async {
/// let ada = USERS.lock("ada".to_owned());
/// // Another key does not wait.
/// let bob = USERS.lock_async(ByRef("bob")).await;
/// assert!(USERS.try_lock(ByRef("ada")).is_none());
///
/// let thread = thread::spawn(|| drop(USERS.lock(ByRef("ada"))));
/// drop(ada);
/// thread.join().unwrap();
/// drop(bob);
/// assert!(USERS.is_empty());
/// # });
/// ```
#[doc(alias("LockMap", "KeyLock", "NamedLock"))]
pub struct KeyedMutex<K, S = RandomState> {
    uses: Uses<K, RawMutex>,
    hasher: S,
}

locks! { KeyedMutex over RawMutex, () }

impl<K, S: BuildHasher> KeyedMutex<K, S> {
    acquires! {
        Exclusive;
        /// Locks the key, blocking this thread until it is acquired.
        lock;
        /// Attempts to lock the key without waiting.
        try_lock;
        /// Locks the key without blocking this thread: the task waits until it is acquired.
        lock_async;
        /// Locks the key, blocking this thread for at most `timeout`.
        lock_for;
        /// Locks the key, blocking this thread until `deadline` at the latest.
        lock_until;
        /// Locks the key with a guard that holds an `Arc` of the map, blocking this thread until it is acquired.
        lock_owned;
        /// Attempts to lock the key without waiting, with a guard that holds an `Arc` of the map.
        try_lock_owned;
        /// Locks the key without blocking this thread, with a future and a guard that hold an `Arc` of the map.
        lock_owned_async;
    }
}

/// A readers-writer lock per key, for threads and tasks.
///
/// It is like [`KeyedMutex`], with shared and exclusive access to each key, and with the guarantees of [`RwLock`](crate::RwLock).
///
/// ```
/// use waitword::keyed::{ByRef, KeyedRwLock};
///
/// let files = KeyedRwLock::<String>::new();
/// let one = files.read(ByRef("log"));
/// let other = files.read(ByRef("log"));
/// assert!(files.try_write(ByRef("log")).is_none());
/// drop((one, other));
/// assert!(files.try_write(ByRef("log")).is_some());
/// assert!(files.is_empty());
/// ```
pub struct KeyedRwLock<K, S = RandomState> {
    uses: Uses<K, RawRwLock>,
    hasher: S,
}

locks! { KeyedRwLock over RawRwLock, Mode::Read }

impl<K, S: BuildHasher> KeyedRwLock<K, S> {
    acquires! {
        Shared;
        /// Acquires shared access to the key, blocking this thread while a writer holds it or it is reserved for an earlier waiter.
        read;
        /// Attempts to acquire shared access to the key without waiting.
        try_read;
        /// Acquires shared access to the key without blocking this thread: the task waits while a writer holds it or it is reserved for an
        /// earlier waiter.
        read_async;
        /// Acquires shared access to the key, blocking this thread for at most `timeout`.
        read_for;
        /// Acquires shared access to the key, blocking this thread until `deadline` at the latest.
        read_until;
        /// Acquires shared access to the key with a guard that holds an `Arc` of the map, blocking this thread as [`read`](Self::read) does.
        read_owned;
        /// Attempts to acquire shared access to the key without waiting, with a guard that holds an `Arc` of the map.
        try_read_owned;
        /// Acquires shared access to the key without blocking this thread, with a future and a guard that hold an `Arc` of the map.
        read_owned_async;
    }

    acquires! {
        Exclusive;
        /// Acquires exclusive access to the key, blocking this thread while anyone else holds it or it is reserved for an earlier waiter.
        write;
        /// Attempts to acquire exclusive access to the key without waiting.
        try_write;
        /// Acquires exclusive access to the key without blocking this thread: the task waits while anyone else holds it or it is reserved
        /// for an earlier waiter.
        write_async;
        /// Acquires exclusive access to the key, blocking this thread for at most `timeout`.
        write_for;
        /// Acquires exclusive access to the key, blocking this thread until `deadline` at the latest.
        write_until;
        /// Acquires exclusive access to the key with a guard that holds an `Arc` of the map, blocking this thread as [`write`](Self::write) does.
        write_owned;
        /// Attempts to acquire exclusive access to the key without waiting, with a guard that holds an `Arc` of the map.
        try_write_owned;
        /// Acquires exclusive access to the key without blocking this thread, with a future and a guard that hold an `Arc` of the map.
        write_owned_async;
    }
}
