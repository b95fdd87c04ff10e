//! A table whose entries are there while they are used: an entry comes with its first user and goes with its last.
//!
//! ```text
//!   A                                B                                C
//!   ───────────────────────────      ──────────────────────────       ──────────────────────────
//!   under the shard's lock: no
//!   entry; links one, 1 user
//!                                    under the lock: found,
//!                                    2 users
//!   leaves, not as the last:
//!   1 user
//!                                    leaves as the last: waits
//!                                    for the lock                     under the lock: found,
//!                                                                     2 users
//!                                    under the lock: 1 user;
//!                                    the entry stays
//! ```
//! Users are added under the lock of the shard only, and the last one leaves under it: nobody finds an entry that is about to be freed.
//!
//! # Invariants
//! U1. An entry does not move. It is freed by the last of its users, after it was unlinked; or with the table, if it is linked then.
//! U2. `next` and `is_linked` of an entry are accessed under the lock of its shard alone. Its chain has the entry exactly if `is_linked`.
//! U3. A [`Use`] is one of the users that its entry counts, and its lead keeps the table alive.

use std::cell::Cell;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::acquire::Acquire;
use crate::handle::HasRaw;
use crate::holders::{LockType, note_lock_type};
use crate::kept::Keeper;
use crate::keyed::key::Key;

/// What a key leads to.
pub(crate) trait Value {
    const NEW: Self;

    /// Whether the entry stays without users.
    fn stays(&self) -> bool {
        false
    }
}

/// A lock as such a value.
pub(crate) trait Locks: Value + Acquire<Closed = Infallible> + 'static {
    /// What reports call the whole.
    const NAME: &str;
}

/// The threads and tasks that use keys of different shards do not meet.
const SHARDS: usize = 32;

pub(crate) struct Uses<K, V> {
    shards: [Shard<K, V>; SHARDS],
    /// The users of an entry share its key and its value, on any threads.
    _shared: PhantomData<(K, V)>,
}

/// Two locks do not share a cache line.
#[repr(align(64))]
struct Shard<K, V>(Mutex<Chains<K, V>>);

/// A hash table of linked entries.
struct Chains<K, V> {
    /// Their number is zero or a power of two.
    heads: Vec<Link<K, V>>,
    len: usize,
}

type Link<K, V> = Option<NonNull<Entry<K, V>>>;

pub(crate) struct Entry<K, V> {
    pub(crate) key: K,
    pub(crate) value: V,
    hash: u64,
    users: AtomicUsize,
    next: Cell<Link<K, V>>,
    is_linked: Cell<bool>,
}

// SAFETY: it owns its entries, which any thread may drop that may drop keys and values.
unsafe impl<K: Send, V: Send> Send for Chains<K, V> {}

impl<K, V: Value> Uses<K, V> {
    pub(crate) const fn new() -> Self {
        let shards = [const { Shard(Mutex::new(Chains { heads: Vec::new(), len: 0 })) }; SHARDS];
        Self { shards, _shared: PhantomData }
    }

    /// How many entries there are, counted in one shard after the other.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len).sum()
    }

    /// One more user of this key's entry, which is new if there is none. `touch` is called with the value, under the lock.
    fn enter<Q: Key<K>>(&self, hash: u64, key: Q, touch: impl FnOnce(&V)) -> NonNull<Entry<K, V>> {
        // Dropped before the key, which is foreign code.
        let mut chains = self.shard(hash).lock();
        let entry = match chains.find(hash, &key) {
            Some(found) => found,
            None => chains.link(Entry {
                key: key.into_key(),
                value: V::NEW,
                hash,
                users: AtomicUsize::new(0),
                next: Cell::new(None),
                is_linked: Cell::new(true),
            }),
        };
        // SAFETY: it is linked, so only a holder of the lock can free it (U1).
        let Entry { users, value, .. } = unsafe { entry.as_ref() };
        assert!(
            users.load(Ordering::Relaxed) < usize::MAX / 2,
            "too many users of a key: were futures forgotten?"
        );
        users.fetch_add(1, Ordering::Relaxed);
        touch(value);
        entry
    }

    /// As [`enter`](Self::enter), if there is an entry.
    fn enter_old<Q: Key<K>>(&self, hash: u64, key: Q) -> Option<NonNull<Entry<K, V>>> {
        let chains = self.shard(hash).lock();
        let entry = chains.find(hash, &key)?;
        // SAFETY: as in `enter`.
        unsafe { entry.as_ref() }.users.fetch_add(1, Ordering::Relaxed);
        Some(entry)
    }

    /// # Safety
    /// The caller is a user of the entry, and no more afterwards (U3).
    unsafe fn leave(&self, entry: NonNull<Entry<K, V>>) {
        // SAFETY: it has this user (U1).
        let Entry { users, hash, .. } = unsafe { entry.as_ref() };
        let leave_others = |users: usize| (users > 1).then(|| users - 1);
        if users.fetch_update(Ordering::Release, Ordering::Relaxed, leave_others).is_ok() {
            return;
        }
        let mut chains = self.shard(*hash).lock();
        // Acquire: what other users did with the entry comes before it is freed.
        let is_last = users.fetch_sub(1, Ordering::AcqRel) == 1;
        // SAFETY: no user is added while this thread has the lock.
        let freed = unsafe { is_last.then(|| chains.free(entry)) }.flatten();
        drop(chains);
        // Foreign code.
        drop(freed);
    }

    fn shard(&self, hash: u64) -> &Shard<K, V> {
        // The chains have the lower bits.
        &self.shards[(hash >> (u64::BITS - SHARDS.ilog2())) as usize]
    }
}

impl<K, V> Shard<K, V> {
    /// A panic of foreign code under the lock leaves nothing half done.
    #[cfg(not(target_family = "wasm"))]
    fn lock(&self) -> MutexGuard<'_, Chains<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As above, spinning: a page must not block, and the lock is held for a moment.
    #[cfg(target_family = "wasm")]
    fn lock(&self) -> MutexGuard<'_, Chains<K, V>> {
        loop {
            match self.0.try_lock() {
                Ok(chains) => return chains,
                Err(std::sync::TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(std::sync::TryLockError::WouldBlock) => std::hint::spin_loop(),
            }
        }
    }
}

impl<K, V> Chains<K, V> {
    /// So many heads stay when the table is empty.
    const FEW: usize = 8;

    fn head(&mut self, hash: u64) -> &mut Link<K, V> {
        let mask = self.heads.len() - 1;
        &mut self.heads[hash as usize & mask]
    }

    fn find<Q: Key<K>>(&self, hash: u64, key: &Q) -> Link<K, V> {
        let mask = self.heads.len().checked_sub(1)?;
        let mut link = self.heads[hash as usize & mask];
        while let Some(entry) = link {
            // SAFETY: it is linked, and the caller has the lock (U1).
            let this = unsafe { entry.as_ref() };
            if this.hash == hash && key.is(&this.key) {
                return link;
            }
            link = this.next.get();
        }
        None
    }

    fn link(&mut self, entry: Entry<K, V>) -> NonNull<Entry<K, V>> {
        if self.len == self.heads.len() {
            self.resize((self.len * 2).max(Self::FEW));
        }
        let hash = entry.hash;
        let entry = NonNull::from(Box::leak(Box::new(entry)));
        self.push(hash, entry);
        self.len += 1;
        entry
    }

    fn push(&mut self, hash: u64, entry: NonNull<Entry<K, V>>) {
        let head = self.head(hash);
        // SAFETY: linked by this (U2).
        unsafe { entry.as_ref() }.next.set(*head);
        *head = Some(entry);
    }

    fn unlink(&mut self, entry: &Entry<K, V>) {
        let mut link = self.head(entry.hash);
        while let Some(other) = *link {
            // SAFETY: linked, and the caller has the lock (U1, U2).
            let this = unsafe { other.as_ref() };
            if std::ptr::eq(this, entry) {
                *link = this.next.get();
                break;
            }
            // SAFETY: as above; the lock is this thread's, and so is the link.
            link = unsafe { &mut *this.next.as_ptr() };
        }
        entry.is_linked.set(false);
        self.len -= 1;
        if self.heads.len() > Self::FEW && self.len < self.heads.len() / 8 {
            self.resize(self.heads.len() / 2);
        }
    }

    fn resize(&mut self, len: usize) {
        for mut link in std::mem::replace(&mut self.heads, vec![None; len]) {
            while let Some(entry) = link {
                // SAFETY: linked, and the caller has the lock (U1, U2).
                let this = unsafe { entry.as_ref() };
                link = this.next.get();
                self.push(this.hash, entry);
            }
        }
    }

    /// Takes an entry out that has no users, unless it stays.
    ///
    /// # Safety
    /// It has none.
    unsafe fn free(&mut self, entry: NonNull<Entry<K, V>>) -> Option<Box<Entry<K, V>>>
    where
        V: Value,
    {
        // SAFETY: the caller says that it is there.
        let this = unsafe { entry.as_ref() };
        debug_assert_eq!(this.users.load(Ordering::Relaxed), 0, "users of an entry that is freed");
        if this.is_linked.get() {
            if this.value.stays() {
                return None;
            }
            self.unlink(this);
        }
        // SAFETY: made by `link`, without users and in no chain: nobody else finds it (U1).
        Some(unsafe { Box::from_raw(entry.as_ptr()) })
    }
}

/// Frees the entries that stayed, and those whose users were forgotten.
impl<K, V> Drop for Chains<K, V> {
    fn drop(&mut self) {
        for mut link in std::mem::take(&mut self.heads) {
            while let Some(entry) = link {
                // SAFETY: made by `link`. No `Use` is left but forgotten ones, as each keeps the table (U3).
                link = unsafe { Box::from_raw(entry.as_ptr()) }.next.get();
            }
        }
    }
}

/// What leads to a table, and keeps it alive: a reference to a keyed lock or an `Arc` of it.
#[doc(hidden)]
pub trait Lead {
    type Key;
    type Value: Value;

    fn uses(&self) -> &Uses<Self::Key, Self::Value>;
}

/// A user of an entry.
pub(crate) struct Use<P: Lead> {
    lead: P,
    entry: NonNull<Entry<P::Key, P::Value>>,
}

// SAFETY: it is a lead, and a reference to an entry, whose key and value any thread may share and drop that the lead may be sent to.
unsafe impl<P: Lead + Send> Send for Use<P> {}
// SAFETY: as above.
unsafe impl<P: Lead + Sync> Sync for Use<P> {}

/// A panic leaves nothing half done.
impl<P: Lead> UnwindSafe for Use<P> {}
impl<P: Lead> RefUnwindSafe for Use<P> {}

impl<P: Lead> Use<P> {
    pub(crate) fn new<Q: Key<P::Key>>(lead: P, hash: u64, key: Q, touch: impl FnOnce(&P::Value)) -> Self {
        let entry = lead.uses().enter(hash, key, touch);
        Self { lead, entry }
    }

    /// `None`: there is no entry.
    pub(crate) fn of_old<Q: Key<P::Key>>(lead: P, hash: u64, key: Q) -> Option<Self> {
        let entry = lead.uses().enter_old(hash, key)?;
        Some(Self { lead, entry })
    }

    pub(crate) fn entry(&self) -> &Entry<P::Key, P::Value> {
        // SAFETY: it has this user (U1).
        unsafe { self.entry.as_ref() }
    }

    /// Nobody finds the entry any more; unless it `keeps`.
    pub(crate) fn unlink_unless(&self, keeps: impl FnOnce(&P::Value) -> bool) {
        let entry = self.entry();
        let mut chains = self.lead.uses().shard(entry.hash).lock();
        if entry.is_linked.get() && !keeps(&entry.value) {
            chains.unlink(entry);
        }
    }
}

impl<P: Lead> Drop for Use<P> {
    fn drop(&mut self) {
        // SAFETY: this was one (U3).
        unsafe { self.lead.uses().leave(self.entry) };
    }
}

impl<K, V: Locks> HasRaw for Entry<K, V> {
    type Raw = V;

    #[inline]
    fn raw(&self) -> &V {
        &self.value
    }

    #[inline(always)]
    fn will_wait(&self) {
        if cfg!(feature = "observe") {
            note_lock_type(self.value.held_at(), const { &LockType::new::<K>(V::NAME) });
        }
    }
}

// SAFETY: the entry has this user, however the user moves (U1).
unsafe impl<P: Lead<Value: Locks>> Keeper for Use<P> {
    type Target = Entry<P::Key, P::Value>;

    #[inline]
    fn target(&self) -> &Self::Target {
        self.entry()
    }
}
