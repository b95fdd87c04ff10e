//! From a word to the shard that holds its waiters: a [`Table`] of shards, and the [`Location`]s that name a word in one.
//!
//! What every kind of wait needs there is in the files below: compare and enqueue in one step, leave, the work after the lock
//! (`enqueue.rs`); snapshots; and the watchdog of waiters that do not respond.

pub(crate) mod enqueue;
#[cfg(not(waitword_loom))]
mod passes;
mod shards;
pub(crate) mod snapshot;
#[cfg(test)]
mod tests;
pub(crate) mod watchdog;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

#[cfg(waitword_loom)]
use crate::shard::hash::model_addresses;
use crate::shard::hash::{Hasher, Key};
use crate::shard::{Locked, Shard};
use crate::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};
use crate::sync::{MODEL, mutant};
use crate::table::shards::Shards;
use crate::waiter::node::Waiter;
use crate::word::{Masked, Masked64, Word};

/// A word of memory together with the [`Table`] that holds its waiters.
///
/// Everything that waits or notifies takes a location. `&AtomicI32` and its three siblings are locations in the
/// global table, `Arc<AtomicI32>` is one that a `'static` future can own, and [`Table::at`] makes one in a table
/// of your own.
///
/// # Safety
/// For as long as a value of the implementing type lives at one address, `word` returns a reference to the same
/// word and `table` one to the same table, and neither panics: the queue looks a waiter up again with what these
/// return, to unlink it before its memory goes. (For locations that own their word inline, such as `AtomicI32` itself, a pinned
/// future is what keeps the address.)
pub unsafe trait Location {
    /// The type of the word.
    type Word: Word;

    /// The word.
    fn word(&self) -> &Self::Word;

    /// The table in which waiters on this word are queued.
    fn table(&self) -> &Table;
}

/// The address of the word: what its waiters are queued under.
#[inline]
pub(crate) fn address<L: Location>(at: &L) -> usize {
    std::ptr::from_ref(at.word()).addr()
}

macro_rules! words_of_the_process {
    ($([$($parameters:tt)*] $word:ty),*) => {$(
        // SAFETY: a word is itself, and the table of the process outlives every word.
        unsafe impl<$($parameters)*> Location for $word {
            type Word = Self;

            #[inline]
            fn word(&self) -> &Self {
                self
            }

            #[inline]
            fn table(&self) -> &Table {
                Table::global()
            }
        }
    )*};
}

words_of_the_process!([] AtomicI32, [] AtomicU32, [] AtomicI64, [] AtomicU64);
words_of_the_process!([const MASK: u32] Masked<MASK>, [const MASK: u64] Masked64<MASK>);

macro_rules! pointers {
    ($($pointer:ty),*) => {$(
        // SAFETY: the pointee does not move while the pointer lives, and is borrowed or shared, so what it
        // promises about itself holds here too.
        unsafe impl<L: Location + ?Sized> Location for $pointer {
            type Word = L::Word;

            #[inline]
            fn word(&self) -> &L::Word {
                (**self).word()
            }

            #[inline]
            fn table(&self) -> &Table {
                (**self).table()
            }
        }
    )*};
}

pointers!(&L, Arc<L>);

/// A word with its waiters in a table of one's own. Made by [`Table::at`].
#[derive(Debug)]
pub struct At<'a, W> {
    word: &'a W,
    table: &'a Table,
}

impl Table {
    /// `word`, with its waiters in this table.
    ///
    /// Waiters and notifiers of the word meet only if they name the same table.
    pub fn at<'a, W: Word>(&'a self, word: &'a W) -> At<'a, W> {
        At { word, table: self }
    }
}

impl<W> Clone for At<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for At<'_, W> {}

// SAFETY: both references are fixed for the life of the value.
unsafe impl<W: Word> Location for At<'_, W> {
    type Word = W;

    #[inline]
    fn word(&self) -> &W {
        self.word
    }

    #[inline]
    fn table(&self) -> &Table {
        self.table
    }
}

/// How many shards a table has unless told otherwise: enough that threads on unrelated words seldom meet.
const SHARDS: usize = if MODEL { 1 } else { 256 };

/// The wait queues of many words.
///
/// A table is a value. Words waited on through `&AtomicI32` and its siblings use one table of the process; a block of shared memory has its
/// own, so that a reused address cannot meet old waiters.
///
/// It is sharded by a keyed hash of the address. A shard has a lock and the queues of its words, each by itself,
/// in an array of buckets that follows the number of words waited on, up and down. For a word that nobody waits
/// on, nothing is stored.
///
/// # Collisions
/// The key is a secret of the process, so that nobody can pick words that collide. An attacker who has learned it can still find words that
/// share a shard, so that their waiters and notifiers contend for its lock; and words that share a bucket, until there are more of them
/// than chance would put there. Then the shard draws a secret of its own. So no look-up ever passes more than about 16 other words, even if
/// an attacker picked them.
///
/// ```
/// use std::sync::atomic::AtomicU32;
/// use waitword_core::{Outcome, Table, notify_all, wait};
///
/// let table = Table::new();
/// let word = AtomicU32::new(5);
/// assert_eq!(wait(table.at(&word), 4), Outcome::NotEqual);
/// assert_eq!(notify_all(table.at(&word)), 0);
/// ```
pub struct Table {
    shards: Shards,
    hasher: Hasher,
}

impl Table {
    /// A table for a whole program.
    pub fn new() -> Self {
        Self::with_shards(SHARDS)
    }

    /// A table of `shards` shards, rounded up to a power of two and at most 65,536. Each takes some 300 bytes while few words of it are
    /// waited on; threads that wait on and notify words of one shard contend for its lock.
    pub fn with_shards(shards: usize) -> Self {
        Self::with_hasher(shards, Hasher::of_process())
    }

    /// The one of the process.
    fn of_process() -> Self {
        let table = Self::new();
        table.shards.iter().for_each(Shard::has_watchdog);
        table
    }

    fn with_hasher(shards: usize, hasher: Hasher) -> Self {
        let shards = shards.clamp(1, 1 << 16).next_power_of_two();
        #[cfg(waitword_loom)]
        model_addresses::begin();
        Self { shards: Shards::new(shards, hasher), hasher }
    }

    /// How many waiters are queued on `word` in this table at this moment: threads, tasks and agents alike.
    ///
    /// For tests and tools; the answer may be out of date when it returns.
    pub fn waiters<W: Word>(&self, word: &W) -> usize {
        let key = self.key_of(std::ptr::from_ref(word).addr());
        self.lock(key).len(key)
    }

    /// The hash of a word at `address`, as an attacker with the process's secret would know it: words whose low bits agree collide. For
    /// benchmarks of what that would cost.
    #[doc(hidden)]
    pub fn secret_hash(&self, address: usize) -> u64 {
        self.hasher.hash(address)
    }

    /// Runs `section` with the lock of the shard of `word` held, as if the agent had been preempted there. For tests of agents that find it
    /// held: `section` must not wait nor notify.
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    #[doc(hidden)]
    pub fn while_locked<T>(&self, word: &std::sync::atomic::AtomicI32, section: impl FnOnce() -> T) -> T {
        let _locked = self.lock(self.key_of(std::ptr::from_ref(word).addr()));
        section()
    }

    /// The table of the process.
    #[cfg(not(waitword_loom))]
    #[inline]
    pub fn global() -> &'static Table {
        static GLOBAL: crate::sync::OnceLock<Table> = crate::sync::OnceLock::new();
        GLOBAL.get_or_init(Table::of_process)
    }

    /// The table of the process; each execution of a model has one.
    #[cfg(waitword_loom)]
    pub fn global() -> &'static Table {
        crate::sync::lazy_static! {
            static ref GLOBAL: Table = Table::of_process();
        }
        // Coerced to the return type.
        &GLOBAL
    }

    #[inline]
    pub(crate) fn key_of(&self, address: usize) -> Key {
        Key { address, hash: self.hasher.hash(address) }
    }

    #[inline]
    pub(crate) fn shard(&self, key: Key) -> &Shard {
        // The buckets use the low bits.
        &self.shards[(key.hash >> 32) as usize & (self.shards.len() - 1)]
    }

    #[inline]
    pub(crate) fn lock(&self, key: Key) -> Locked<'_> {
        self.shard(key).lock()
    }

    /// The lock of the shard that guards `node`, and the key of its word.
    #[inline]
    pub(crate) fn lock_of(&self, node: Pin<&Waiter>) -> (Key, Locked<'_>) {
        loop {
            let key = self.key_of(node.address());
            let locked = self.lock(key);
            mutant!("relock-requeued" => return (key, locked));
            // The node may have been moved while we waited for the lock.
            if node.address() == key.address {
                return (key, locked);
            }
        }
    }
}

#[cfg(waitword_loom)]
impl Drop for Table {
    fn drop(&mut self) {
        model_addresses::end();
    }
}

impl Default for Table {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("shards", &self.shards.len()).finish_non_exhaustive()
    }
}
