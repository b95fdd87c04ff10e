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
//! U1. An entry does not move while it has users. It is freed by the last of them, after it was unlinked; or with the table, if it is linked then.
//! U2. `next` and `is_linked` of an entry are accessed under the lock of its shard alone. Its chain has the entry exactly if `is_linked`.
//! U3. A [`Use`] is one of the users that its entry counts, and its lead keeps the table alive.

use std::cell::Cell;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::{self, NonNull};

use waitword_core::Mutex;

use crate::acquire::Acquire;
use crate::handle::HasRaw;
use crate::holders::{LockType, note_lock_type};
use crate::kept::Keeper;
use crate::keyed::key::Key;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{MODEL, const_fn, mutant, order};

/// What a key leads to.
pub(crate) trait Value {
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
const SHARDS: usize = if MODEL { 1 } else { 32 };

pub(crate) struct Uses<K, V> {
    shards: [Shard<K, V>; SHARDS],
    /// The users of an entry share its key and its value, on any threads.
    _shared: PhantomData<(K, V)>,
}

/// Two locks do not share a cache line. A panic of foreign code under the lock leaves nothing half done.
#[repr(align(64))]
struct Shard<K, V>(Mutex<Chains<K, V>>);

/// A hash table of linked entries.
struct Chains<K, V> {
    /// Their number is zero or a power of two.
    heads: Vec<Cell<Link<K, V>>>,
    len: usize,
    /// Where the last entry was, for the next one: half of what a turn with a key costs is its allocation.
    spare: Option<Box<MaybeUninit<Entry<K, V>>>>,
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

impl<K, V> Uses<K, V> {
    const_fn! {
        pub(crate) const fn new() -> Self {
            #[cfg(not(waitword_loom))]
            let shards = [const { Shard(Mutex::new(Chains::NEW)) }; SHARDS];
            #[cfg(waitword_loom)]
            let shards = [Shard(Mutex::new(Chains::NEW))];
            Self { shards, _shared: PhantomData }
        }
    }

    /// How many entries there are, counted in one shard after the other.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.0.lock().len).sum()
    }

    fn shard(&self, hash: u64) -> &Mutex<Chains<K, V>> {
        // The chains have the lower bits.
        &self.shards[(hash >> 32) as usize % SHARDS].0
    }
}

impl<K, V> Chains<K, V> {
    const NEW: Self = Self { heads: Vec::new(), len: 0, spare: None };

    /// So many heads stay when the table is empty.
    const FEW: usize = 8;

    fn head(&self, hash: u64) -> &Cell<Link<K, V>> {
        &self.heads[hash as usize & (self.heads.len() - 1)]
    }

    /// The link to the entry of this hash that `is` the one, or the link at the end of its chain. `None`: there are no chains.
    fn find(&self, hash: u64, is: impl Fn(&Entry<K, V>) -> bool) -> Option<&Cell<Link<K, V>>> {
        let mut link = (!self.heads.is_empty()).then(|| self.head(hash))?;
        while let Some(entry) = link.get() {
            // SAFETY: it is linked, and the caller has the lock (U1).
            let this = unsafe { entry.as_ref() };
            if this.hash == hash && is(this) {
                break;
            }
            link = &this.next;
        }
        Some(link)
    }

    fn link(&mut self, hash: u64, key: K, value: V) -> NonNull<Entry<K, V>> {
        if self.len == self.heads.len() {
            self.resize((self.len * 2).max(Self::FEW));
        }
        let (users, next) = (AtomicUsize::new(0), Cell::new(self.head(hash).get()));
        let entry = Entry { key, value, hash, users, next, is_linked: Cell::new(true) };
        let memory = self.spare.take().unwrap_or_else(Box::new_uninit);
        let entry = NonNull::from(Box::leak(Box::write(memory, entry)));
        self.head(hash).set(Some(entry));
        self.len += 1;
        entry
    }

    fn unlink(&mut self, entry: &Entry<K, V>) {
        if let Some(link) = self.find(entry.hash, |other| ptr::eq(other, entry)) {
            link.set(entry.next.get());
        }
        entry.is_linked.set(false);
        self.len -= 1;
        if self.heads.len() > Self::FEW && self.len < self.heads.len() / 8 {
            self.resize(self.heads.len() / 2);
        }
    }

    fn resize(&mut self, len: usize) {
        for head in mem::replace(&mut self.heads, vec![Cell::new(None); len]) {
            let mut link = head.get();
            while let Some(entry) = link {
                // SAFETY: linked, and the caller has the lock (U1, U2).
                let this = unsafe { entry.as_ref() };
                link = this.next.replace(self.head(this.hash).replace(Some(entry)));
            }
        }
    }
}

/// Frees the entries that stayed, and those whose users were forgotten.
impl<K, V> Drop for Chains<K, V> {
    fn drop(&mut self) {
        for head in &self.heads {
            while let Some(entry) = head.get() {
                // SAFETY: made by `link`. No `Use` is left but forgotten ones, as each keeps the table (U3).
                let entry = unsafe { Box::from_raw(entry.as_ptr()) };
                head.set(entry.next.get());
            }
        }
    }
}

impl<K, V: Value> Entry<K, V> {
    /// Whether it stays when a user has left, and so many are there still. Called under the lock.
    fn stays(&self, users: usize) -> bool {
        mutant!("keyed-found-again" => return false);
        users > 0 || self.is_linked.get() && self.value.stays()
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
    /// One more user of this key's entry. If there is none, it is made with what `value` returns; or with `None` there is no user. `touch` is
    /// called with the value, under the lock.
    pub(crate) fn enter(
        lead: P,
        hash: u64,
        key: impl Key<P::Key>,
        value: impl FnOnce() -> Option<P::Value>,
        touch: impl FnOnce(&P::Value),
    ) -> Option<Self> {
        // Dropped before the key, which is foreign code.
        let mut chains = lead.uses().shard(hash).lock();
        let found = chains.find(hash, |entry| key.is(&entry.key)).and_then(Cell::get);
        let entry = match found {
            Some(found) => found,
            None => {
                // First, because the key is cloned only for an entry.
                let value = value()?;
                chains.link(hash, key.into_key(), value)
            }
        };
        // SAFETY: it is linked, so only a holder of the lock can free it (U1).
        let Entry { users, value, .. } = unsafe { entry.as_ref() };
        let is_full = users.load(Ordering::Relaxed) > usize::MAX / 2;
        assert!(!is_full, "too many users of a key: were futures forgotten?");
        users.fetch_add(1, Ordering::Relaxed);
        touch(value);
        drop(chains);
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
        let entry = self.entry();
        let leave_others = |users: usize| (users > 1).then(|| users - 1);
        let left = entry.users.fetch_update(order!(Release, "keyed-leave"), Ordering::Relaxed, leave_others);
        if left.is_ok() {
            return;
        }
        let mut chains = self.lead.uses().shard(entry.hash).lock();
        // Acquire: what other users did with the entry comes before it is freed.
        let users = entry.users.fetch_sub(1, order!(AcqRel, "keyed-free")) - 1;
        if entry.stays(users) {
            return;
        }
        debug_assert_eq!(users, 0, "users of an entry that is freed");
        if entry.is_linked.get() {
            chains.unlink(entry);
        }
        // SAFETY: made by `link`, without users and in no chain: nobody else finds it (U1). Read once, as what is left is uninitialised.
        let (freed, memory) = unsafe { (self.entry.read(), Box::from_raw(self.entry.as_ptr().cast())) };
        chains.spare = Some(memory);
        drop(chains);
        // Foreign code.
        drop(freed);
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
