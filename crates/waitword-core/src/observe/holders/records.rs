//! All records: in blocks that are never freed, in a list, so that a reader needs no lock.
//!
//! Each block is of one thread. When a thread ends, nobody claims in its blocks any more. Once all holds in one have ended, which others may
//! have to release, another thread adopts it:
//!
//! ```text
//!   thread 1, which ends          who releases        thread 2
//!   ──────────────────────        ──────────────      ──────────────────────────────────────────────
//!   has_owner ← false
//!                                 word ← 0            has_owner = false, and each word = 0  (acquire)
//!                                                     thread ← 2; has_owner ← true
//! ```
//! A few records are common (`common`): of threads that cannot have their own, as their thread-locals are gone, or their allocator is what
//! asks for a lock. These are claimed by a compare-and-swap; a word of 1 says that one is being written.
//!
//! Invariant R2: a pointer to a block is null, or to one that lives for ever.

#![cfg_attr(
    not(any(waitword_loom, waitword_shuttle)),
    allow(unreachable_pub, reason = "public for the models")
)]

use std::ptr;

use super::record::{Entry, Record, RecordRef};
use crate::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use crate::sync::{MODEL, Mutex, mutant};

/// How many records a thread gets at first, each in a line of the cache of its own.
pub(super) const FIRST: usize = if MODEL { 1 } else { 8 };

const COMMON: usize = if MODEL { 1 } else { 64 };

/// Records of one thread.
#[derive(Debug)]
pub struct Block {
    older: Option<&'static Block>,
    has_owner: AtomicBool,
    records: Vec<Record>,
}

/// All records. There is one of these in the process; a model makes its own.
#[derive(Debug)]
pub struct Records {
    newest: AtomicPtr<Block>,
    common: [Record; COMMON],
    /// One record is read at a time: see `record.rs`.
    reads: Mutex<()>,
}

#[cfg(not(any(waitword_loom, waitword_shuttle)))]
impl Records {
    pub(super) const fn new() -> Self {
        let common = [const { Record::new() }; COMMON];
        Self { newest: AtomicPtr::new(ptr::null_mut()), common, reads: Mutex::new(()) }
    }
}

#[cfg(any(waitword_loom, waitword_shuttle))]
impl Default for Records {
    fn default() -> Self {
        let common = std::array::from_fn(|_| Record::new());
        Self { newest: AtomicPtr::new(ptr::null_mut()), common, reads: Mutex::new(()) }
    }
}

impl Block {
    /// So many records, of nobody yet.
    pub fn new(records: usize) -> Self {
        let records = (0..records).map(|_| Record::new()).collect();
        Self { older: None, has_owner: AtomicBool::new(false), records }
    }

    /// Makes it one of this thread's. Returns one of its records, which are a ring.
    fn adopt(&'static self, thread: u64, is_asked: bool) -> &'static Record {
        let first = &self.records[0];
        let mut next = RecordRef::new(first);
        for record in self.records.iter().rev() {
            record.adopt(thread, next);
            record.set_asked(is_asked);
            next = RecordRef::new(record);
        }
        self.has_owner.store(true, Ordering::Relaxed);
        first
    }

    fn can_be_adopted(&self) -> bool {
        mutant!("holders-adopt" => return !self.has_owner.load(Ordering::Acquire));
        !self.has_owner.load(Ordering::Acquire) && self.records.iter().all(Record::is_free)
    }

    fn is_of(&self, thread: u64) -> bool {
        self.has_owner.load(Ordering::Relaxed) && self.records[0].is_of(thread)
    }
}

impl Records {
    /// Makes an abandoned block one of this thread's, if one has so many records. One call at a time.
    pub fn adopt(&self, thread: u64, is_asked: bool, at_least: usize) -> Option<&'static Record> {
        let suits = |block: &&Block| block.records.len() >= at_least && block.can_be_adopted();
        Some(self.blocks().find(suits)?.adopt(thread, is_asked))
    }

    /// Adds a block of this thread's. One call at a time.
    pub fn add(&self, mut block: Box<Block>, thread: u64, is_asked: bool) -> &'static Record {
        block.older = self.newest();
        let block: &'static Block = Box::leak(block);
        let first = block.adopt(thread, is_asked);
        self.newest.store(ptr::from_ref(block).cast_mut(), Ordering::Release);
        first
    }

    /// The thread ends, and claims no record any more.
    pub fn leave(&self, thread: u64) {
        for block in self.blocks().filter(|block| block.is_of(thread)) {
            block.has_owner.store(false, Ordering::Release);
        }
    }

    /// Claims a common record. `None`: there is no free one.
    pub(super) fn claim_common(&self, entry: &Entry) -> Option<&Record> {
        self.common.iter().find(|record| record.claim_common(entry))
    }

    /// From now on releases are asked for more than to free a record, or not any more.
    pub(super) fn set_asked(&self, is_asked: bool) {
        self.records().for_each(|record| record.set_asked(is_asked));
    }

    /// The records of `word` that `is_wanted` picks.
    pub(super) fn find(
        &self,
        word: usize,
        is_wanted: impl Fn(&Entry) -> bool,
    ) -> impl Iterator<Item = (&Record, Entry)> {
        let of_word = self.records().filter(move |record| record.may_be_of(word));
        let entries = of_word.filter_map(|record| Some((record, self.read(record)?)));
        entries.filter(move |(_, entry)| entry.word == word && is_wanted(entry))
    }

    /// All holds that do not end meanwhile.
    pub fn all(&self) -> impl Iterator<Item = (&Record, Entry)> {
        self.records().filter_map(|record| Some((record, self.read(record)?)))
    }

    /// What a record says, if its hold does not end meanwhile.
    fn read(&self, record: &Record) -> Option<Entry> {
        let _one = self.reads.lock();
        record.read()
    }

    /// The records, of holds or free.
    pub(super) fn records(&self) -> impl Iterator<Item = &Record> {
        self.common.iter().chain(self.blocks().flat_map(|block| &block.records))
    }

    fn blocks(&self) -> impl Iterator<Item = &'static Block> {
        std::iter::successors(self.newest(), |block| block.older)
    }

    fn newest(&self) -> Option<&'static Block> {
        // SAFETY: null, or a block that lives for ever (R2).
        unsafe { self.newest.load(Ordering::Acquire).as_ref() }
    }
}
