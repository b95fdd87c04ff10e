//! One computation per key.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use crate::keyed::key::Key;
use crate::keyed::map::map;
use crate::keyed::uses::{Use, Uses, Value};
use crate::once::OnceLock;
use crate::sync::atomic::{AtomicBool, Ordering};

/// The value of a key, which is present or being computed.
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

/// A map whose values are computed once, for all threads and tasks that request them at the same time.
///
/// The first caller with a key computes its value; the others, threads and tasks alike, wait for it. If the computation fails,
/// panics, or is dropped, the next waiter computes. A value of [`get_or_init`](Self::get_or_init) or one of its variants is stored until
/// [`remove`](Self::remove). A value of [`share`](Self::share) is returned to all callers that have waited for it, and forgotten
/// (*single flight*). A key whose value is neither stored nor being computed has no entry.
///
/// Callers receive clones of the value: put a large one in an [`Arc`](std::sync::Arc). Pass a key by value, or as a
/// [`ByRef`](crate::keyed::ByRef), which is cloned only for a new entry. The key's `eq`, and `clone` of a `ByRef`, run under an internal
/// lock of this map, and must not use the map.
///
/// ```
/// use waitword::keyed::{ByRef, OnceMap};
///
/// # smol::block_on(async {
/// let lengths = OnceMap::<String, usize>::new();
/// assert_eq!(lengths.get_or_init(ByRef("one"), || "one".len()), 3);
/// assert_eq!(lengths.get_or_init_async(ByRef("one"), async || unreachable!("it is stored")).await, 3);
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
    /// Returns the value if it is present, and `None` otherwise. Never waits for a computation.
    pub fn get(&self, key: impl Key<K>) -> Option<V> {
        self.old(key)?.entry().value.value.get().cloned()
    }

    /// Returns the value, or computes it with `init` and stores it. Blocks this thread while the value is being computed elsewhere.
    ///
    /// # Panics
    /// - If `init` panics, or the key's `hash`, `eq` or `clone`. Then nothing is held, and the next waiter computes.
    /// - If it would have to wait and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)).
    ///
    /// # Deadlocks
    /// If `init` requests the same key, it waits for itself.
    #[track_caller]
    pub fn get_or_init(&self, key: impl Key<K>, init: impl FnOnce() -> V) -> V {
        self.at(key, true).entry().value.value.get_or_init(init).clone()
    }

    /// Returns the value, or computes it with `init`, which may fail, and stores it. Blocks this thread while the value is being computed
    /// elsewhere.
    ///
    /// # Errors
    /// The error of `init`. The next waiter computes.
    ///
    /// # Panics, deadlocks
    /// As with [`get_or_init`](Self::get_or_init).
    #[track_caller]
    pub fn get_or_try_init<E>(&self, key: impl Key<K>, init: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        self.at(key, true).entry().value.value.get_or_try_init(init).cloned()
    }

    /// Returns the value, or computes it with the async `init` and stores it. Waits while the value is being computed elsewhere, without blocking
    /// this thread.
    ///
    /// # Cancellation
    /// If the future is dropped while `init` awaits, `init` is dropped as well, and the next waiter computes. Nothing happens before the first
    /// poll.
    ///
    /// # Panics
    /// If `init` panics, or the key's `hash`, `eq` or `clone`. Then nothing is held, and the next waiter computes.
    pub async fn get_or_init_async(&self, key: impl Key<K>, init: impl AsyncFnOnce() -> V) -> V {
        let at = self.at(key, true);
        at.entry().value.value.get_or_init_async(init).await.clone()
    }

    /// Returns the value, or computes it with the async `init`, which may fail, and stores it. Waits while the value is being computed
    /// elsewhere, without blocking this thread.
    ///
    /// # Errors
    /// The error of `init`. The next waiter computes.
    ///
    /// # Cancellation, panics
    /// As with [`get_or_init_async`](Self::get_or_init_async).
    pub async fn get_or_try_init_async<E>(
        &self,
        key: impl Key<K>,
        init: impl AsyncFnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        let at = self.at(key, true);
        at.entry().value.value.get_or_try_init_async(init).await.cloned()
    }

    /// Returns the value of a computation that all concurrent callers share, and stores nothing.
    ///
    /// The first caller computes the value with `init`; the others block their threads until it is computed, and return the same value.
    /// A value that [`get_or_init`](Self::get_or_init) has stored is returned without a computation. A computation that `get_or_init` has
    /// begun is shared, too; and if a `get_or_init` joins a computation of `share` while it runs, the value is stored.
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
    /// # Panics, deadlocks
    /// As with [`get_or_init`](Self::get_or_init).
    #[track_caller]
    pub fn share(&self, key: impl Key<K>, init: impl FnOnce() -> V) -> V {
        let at = self.at(key, false);
        let value = at.entry().value.value.get_or_init(init);
        at.unlink_unless(Slot::stays);
        value.clone()
    }

    /// Returns the value of a computation that all concurrent callers share, and stores nothing. Does not block this thread.
    ///
    /// Otherwise it is like [`share`](Self::share).
    ///
    /// # Cancellation, panics
    /// As with [`get_or_init_async`](Self::get_or_init_async).
    pub async fn share_async(&self, key: impl Key<K>, init: impl AsyncFnOnce() -> V) -> V {
        let at = self.at(key, false);
        let value = at.entry().value.value.get_or_init_async(init).await;
        at.unlink_unless(Slot::stays);
        value.clone()
    }

    /// Removes the value, and returns it if it was stored. Never waits.
    ///
    /// Later callers with this key compute it anew. A computation that is running continues for its waiters, and its value is not
    /// stored.
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
