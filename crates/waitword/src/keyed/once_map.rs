//! One computation per key.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use crate::keyed::key::Key;
use crate::keyed::map::map;
use crate::keyed::uses::{Use, Uses, Value};
use crate::once::OnceLock;
use crate::sync::atomic::{AtomicBool, Ordering};

/// The value of a key, which is there or is being computed.
pub struct Slot<V> {
    value: OnceLock<V>,
    /// Somebody has asked for a value that stays. Set under the lock of the shard, so that none is forgotten after that.
    keeps: AtomicBool,
}

impl<V> Value for Slot<V> {
    fn stays(&self) -> bool {
        self.keeps.load(Ordering::Relaxed) && self.value.is_set()
    }
}

/// A map whose values are computed once, for all threads and tasks that ask at the same time.
///
/// The first who asks for a key computes its value; the others wait for it, threads and tasks alike. If the computation fails,
/// panics, or is dropped, the next waiter computes. What [`get_or_init`](Self::get_or_init) and its kin have computed stays until
/// [`remove`](Self::remove); what [`share`](Self::share) has computed goes to those who have waited for it, and is forgotten
/// (*single flight*). A key whose value is neither there nor being computed has no entry.
///
/// Values are cloned to those who ask: put a large one in an [`Arc`](std::sync::Arc). A key is given by value, or as a
/// [`ByRef`](crate::keyed::ByRef), which is cloned only for a new entry. `eq`, and `clone` of a `ByRef`, run under a lock of this map, and must
/// not use it.
///
/// ```
/// use waitword::keyed::{ByRef, OnceMap};
///
/// # smol::block_on(async {
/// let lengths = OnceMap::<String, usize>::new();
/// assert_eq!(lengths.get_or_init(ByRef("one"), || "one".len()), 3);
/// assert_eq!(lengths.get_or_init_async(ByRef("one"), async || unreachable!("it is there")).await, 3);
/// assert_eq!(lengths.remove(ByRef("one")), Some(3));
/// assert_eq!(lengths.get(ByRef("one")), None);
/// # });
/// ```
#[doc(alias("cache", "singleflight", "get_with", "Group"))]
pub struct OnceMap<K, V, S = RandomState> {
    uses: Uses<K, Slot<V>>,
    hasher: S,
}

map! { OnceMap<K, V> of Slot<V> }

impl<K, V: Clone, S: BuildHasher> OnceMap<K, V, S> {
    /// Returns the value, if it is there. Does not wait for a computation.
    pub fn get(&self, key: impl Key<K>) -> Option<V> {
        self.old(key)?.entry().value.value.get().cloned()
    }

    /// Returns the value; computes it with `init` if it is not there. If it is being computed, waits for it, blocking this thread.
    ///
    /// # Panics
    /// When `init` does, and when the key's `hash`, `eq` or `clone` does: then nothing is held, and the next waiter computes. If it would have
    /// to wait and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)).
    ///
    /// # Deadlocks
    /// If `init` asks for the same key, it waits for itself.
    #[track_caller]
    pub fn get_or_init(&self, key: impl Key<K>, init: impl FnOnce() -> V) -> V {
        self.at(key, true).entry().value.value.get_or_init(init).clone()
    }

    /// As [`get_or_init`](Self::get_or_init), with a computation that may fail.
    ///
    /// # Errors
    /// That of `init`. The next waiter computes.
    #[track_caller]
    pub fn get_or_try_init<E>(&self, key: impl Key<K>, init: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        self.at(key, true).entry().value.value.get_or_try_init(init).cloned()
    }

    /// Returns the value; computes it with `init` if it is not there. If it is being computed, waits for it without blocking this thread.
    ///
    /// # Cancellation
    /// If the future is dropped while `init` awaits, `init` is dropped, too, and the next waiter computes. Nothing happens before the first
    /// poll.
    ///
    /// # Panics
    /// As [`get_or_init`](Self::get_or_init), but that it does not block.
    pub async fn get_or_init_async(&self, key: impl Key<K>, init: impl AsyncFnOnce() -> V) -> V {
        let at = self.at(key, true);
        at.entry().value.value.get_or_init_async(init).await.clone()
    }

    /// As [`get_or_init_async`](Self::get_or_init_async), with a computation that may fail.
    ///
    /// # Errors
    /// That of `init`. The next waiter computes.
    pub async fn get_or_try_init_async<E>(
        &self,
        key: impl Key<K>,
        init: impl AsyncFnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        let at = self.at(key, true);
        at.entry().value.value.get_or_try_init_async(init).await.cloned()
    }

    /// Returns the value of a computation that all share who ask while it is under way; it is forgotten when it has ended. Who asks first
    /// computes it with `init`, the others wait, blocking their threads. A value that [`get_or_init`](Self::get_or_init) has stored is
    /// returned as it is.
    ///
    /// An error can be shared like any value: `share(key, || -> Result<..> { .. })`.
    ///
    /// ```
    /// use waitword::keyed::{ByRef, OnceMap};
    ///
    /// let prices = OnceMap::<String, u32>::new();
    /// assert_eq!(prices.share(ByRef("tea"), || 3), 3);
    /// assert_eq!(prices.share(ByRef("tea"), || 4), 4);
    /// assert!(prices.is_empty());
    /// ```
    ///
    /// # Panics
    /// As [`get_or_init`](Self::get_or_init).
    #[track_caller]
    pub fn share(&self, key: impl Key<K>, init: impl FnOnce() -> V) -> V {
        let at = self.at(key, false);
        let value = at.entry().value.value.get_or_init(init);
        at.unlink_unless(Slot::stays);
        value.clone()
    }

    /// As [`share`](Self::share), without blocking this thread.
    ///
    /// # Cancellation
    /// As of [`get_or_init_async`](Self::get_or_init_async).
    pub async fn share_async(&self, key: impl Key<K>, init: impl AsyncFnOnce() -> V) -> V {
        let at = self.at(key, false);
        let value = at.entry().value.value.get_or_init_async(init).await;
        at.unlink_unless(Slot::stays);
        value.clone()
    }

    /// Removes the value, and returns it if it was there. Who asks for the key from now on computes it anew; a computation that is under way
    /// goes on for those who wait for it, and is not stored.
    pub fn remove(&self, key: impl Key<K>) -> Option<V> {
        let at = self.old(key)?;
        let mut was_there = false;
        at.unlink_unless(|slot| {
            was_there = slot.value.is_set();
            false
        });
        at.entry().value.value.get().filter(|_| was_there).cloned()
    }

    /// The user that `keeps` asks for a value that stays.
    fn at(&self, key: impl Key<K>, keeps: bool) -> Use<&Self> {
        let value = || Some(Slot { value: OnceLock::new(), keeps: AtomicBool::new(false) });
        let touch = |slot: &Slot<V>| {
            if keeps {
                slot.keeps.store(true, Ordering::Relaxed);
            }
        };
        Use::enter(self, key.hash_by(&self.hasher), key, value, touch).expect("there is an entry")
    }

    fn old(&self, key: impl Key<K>) -> Option<Use<&Self>> {
        Use::enter(self, key.hash_by(&self.hasher), key, || None, |_| ())
    }
}
