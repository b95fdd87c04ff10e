//! How a key is given: by value, or as a reference to what it can be borrowed as.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

/// A key for a map with keys of type `K`: a `K`, or a [`ByRef`] of what `K` can be borrowed as.
#[diagnostic::on_unimplemented(
    message = "a key of type `{K}` is expected, or `ByRef` of what it can be borrowed as",
    label = "this is neither",
    note = "pass the key by value, or `ByRef(key)`, which clones it only if the key has no entry"
)]
pub trait Key<K> {
    #[doc(hidden)]
    fn hash_by(&self, hasher: &impl BuildHasher) -> u64;

    #[doc(hidden)]
    fn is(&self, key: &K) -> bool;

    #[doc(hidden)]
    fn into_key(self) -> K;
}

impl<K: Hash + Eq> Key<K> for K {
    fn hash_by(&self, hasher: &impl BuildHasher) -> u64 {
        hasher.hash_one(self)
    }

    fn is(&self, key: &K) -> bool {
        self == key
    }

    fn into_key(self) -> K {
        self
    }
}

/// A borrowed key. It is cloned only if the key has no entry.
///
/// ```
/// use waitword::keyed::{ByRef, KeyedMutex};
///
/// let accounts = KeyedMutex::<String>::new();
/// let guard = accounts.lock(ByRef("ada"));
/// assert_eq!(guard.key(), "ada");
/// ```
// Without `Hash`: it is no key itself.
#[derive(Clone, Copy, Debug)]
pub struct ByRef<'q, Q: ?Sized>(pub &'q Q);

impl<K: Borrow<Q>, Q: ?Sized + Hash + Eq + ToOwned<Owned = K>> Key<K> for ByRef<'_, Q> {
    fn hash_by(&self, hasher: &impl BuildHasher) -> u64 {
        hasher.hash_one(self.0)
    }

    fn is(&self, key: &K) -> bool {
        self.0 == key.borrow()
    }

    fn into_key(self) -> K {
        self.0.to_owned()
    }
}
