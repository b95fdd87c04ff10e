//! The table: from the address of a word to the section of its waiters.

use std::fmt;
use std::ops::Deref;
use std::pin::Pin;
use std::ptr::NonNull;

#[cfg(waitword_loom)]
use super::key::model_addresses;
use super::key::{Key, Secret};
use super::node::Waiter;
use super::section::Section;
use super::shard::Shard;
use crate::sync::{MODEL, mutant};
use crate::word::Word;

/// The default number of shards: enough that threads on unrelated words seldom contend.
const SHARDS: usize = if MODEL { 1 } else { 256 };

/// The wait queues of many words.
///
/// A table is a value. Words that are waited on through `&AtomicI32` and the like use the table of the process ([`Table::global`]). A block
/// of shared memory has a table of its own, so that a reused address cannot meet old waiters.
///
/// A table is sharded by a keyed hash of the address. A shard has a lock and one queue for each of its words, in an array of buckets that
/// grows and shrinks with the number of words waited on. Nothing is stored for a word without waiters.
///
/// # Collisions
/// The key is a secret of the process, so that nobody can choose words that collide. The number of buckets is proportional to the number of
/// words that are waited on. A look-up passes one or two other words on average, and more than 16 with a probability of 10^-13.
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
    /// One less than the number of shards, a power of two.
    mask: usize,
    secret: Secret,
}

impl Table {
    /// Creates a table for a whole program, with 256 shards.
    pub fn new() -> Self {
        Self::with_shards(SHARDS)
    }

    /// Creates a table with `shards` shards, rounded up to a power of two and at most 65,536.
    ///
    /// Each shard takes some 300 bytes while few of its words are waited on. Threads that wait on or notify words of the same shard contend
    /// for its lock.
    pub fn with_shards(shards: usize) -> Self {
        Self::build(shards, None)
    }

    /// `watchdog` starts the passes over this table.
    pub(super) fn build(shards: usize, watchdog: Option<fn()>) -> Self {
        let shards = shards.clamp(1, 1 << 16).next_power_of_two();
        #[cfg(waitword_loom)]
        model_addresses::begin();
        Self { shards: Shards::new(shards, watchdog), mask: shards - 1, secret: Secret::of_process() }
    }

    /// The table of the process.
    pub(crate) fn of_process(watchdog: fn()) -> Self {
        Self::build(SHARDS, Some(watchdog))
    }

    /// Returns how many waiters are queued on `word` in this table at this moment: threads, tasks and agents alike.
    ///
    /// For tests and tools; the answer may be out of date when it returns.
    pub fn waiters<W: Word>(&self, word: &W) -> usize {
        self.section(self.key_of(std::ptr::from_ref(word).addr())).len()
    }

    /// Runs `section` with the lock of the shard of `word` held, as if the agent had been preempted there. For tests of agents that find it
    /// held: `section` must not wait nor notify.
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    #[doc(hidden)]
    pub fn while_locked<T>(&self, word: &std::sync::atomic::AtomicI32, section: impl FnOnce() -> T) -> T {
        let _section = self.section(self.key_of(std::ptr::from_ref(word).addr()));
        section()
    }

    #[inline(always)]
    pub(crate) fn key_of(&self, address: usize) -> Key {
        self.secret.key_of(address)
    }

    #[inline(always)]
    fn shard(&self, key: Key) -> &Shard {
        // SAFETY: below the number of shards.
        unsafe { self.shards.get_unchecked(key.shard(self.mask)) }
    }

    /// All shards, for passes and snapshots.
    pub(crate) fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// Whether the word has no waiters, asked without the lock by a notifier that stored to the word before
    /// ([`protocol`](crate::protocol), section 2).
    #[inline(always)]
    pub(crate) fn is_idle(&self, key: Key) -> bool {
        self.shard(key).lock.is_vacant(1 << key.bit())
    }

    /// Begins a critical section.
    #[inline(always)]
    pub(crate) fn section(&self, key: Key) -> Section<'_> {
        Section::begin(self.shard(key), key)
    }

    /// Begins sections of two words, in the order of their shards' addresses so that two threads cannot deadlock; one, if both are in one
    /// shard.
    pub(crate) fn sections(&self, first: Key, second: Key) -> (Section<'_>, Option<Section<'_>>) {
        match std::ptr::from_ref(self.shard(first)).cmp(&std::ptr::from_ref(self.shard(second))) {
            std::cmp::Ordering::Equal => (self.section(first), None),
            std::cmp::Ordering::Less => {
                let first = self.section(first);
                (first, Some(self.section(second)))
            }
            std::cmp::Ordering::Greater => {
                let second = Some(self.section(second));
                (self.section(first), second)
            }
        }
    }

    /// Begins the section of the queue that `node` is in.
    #[inline(always)]
    pub(crate) fn section_of(&self, node: Pin<&Waiter>) -> Section<'_> {
        let section = self.section(node.key());
        mutant!("relock-requeued" => return section);
        // The node may have been moved while we waited for the lock.
        if node.key() == section.key { section } else { self.section_of_moved(node, section) }
    }

    #[cold]
    fn section_of_moved<'a>(&'a self, node: Pin<&Waiter>, mut section: Section<'a>) -> Section<'a> {
        while node.key() != section.key {
            drop(section);
            section = self.section(node.key());
        }
        section
    }
}

/// The shards of a table, at one address for as long as the table exists, because a thread that forks locks those of all tables
/// (`../sync/fork.rs`).
///
/// Invariant S1: the pointer is that of a leaked box. Only the drop of this value frees it, after it was removed from the shards that a
/// fork locks. It is shared until then.
struct Shards(NonNull<[Shard]>);

// SAFETY: a shared slice of what is `Send` and `Sync` (S1).
unsafe impl Send for Shards {}
// SAFETY: as for `Send` (S1).
unsafe impl Sync for Shards {}

impl Shards {
    fn new(number: usize, watchdog: Option<fn()>) -> Self {
        let shards: Box<[Shard]> = (0..number).map(|_| Shard::new(watchdog)).collect();
        let shards = Self(NonNull::from(Box::leak(shards)));
        #[cfg(all(unix, not(waitword_loom)))]
        super::fork::enter(shards.0);
        shards
    }
}

impl Deref for Shards {
    type Target = [Shard];

    #[inline]
    fn deref(&self) -> &[Shard] {
        // SAFETY: alive as long as `self`, and shared (S1).
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        #[cfg(all(unix, not(waitword_loom)))]
        super::fork::leave(self.0);
        // SAFETY: the leaked box, which nobody else reaches any more (S1).
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
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
