//! All records: in blocks that are never freed, in a list, so that a reader needs no lock.
//!
//! Each block belongs to one thread. When a thread ends, it leaves its blocks, and no thread claims in them any more. Once all holds in a
//! block have ended (other threads may have to release them), another thread adopts it:
//!
//! ```text
//!   thread 1, which ends          releaser            thread 2
//!   ──────────────────────        ──────────────      ──────────────────────────────────────────────
//!   left ← the block  (lock)
//!                                 word ← 0            left has it (lock), and each word = 0  (acquire)
//!                                                     thread ← 2
//! ```
//! An adopting thread checks only a few of the blocks that had holds when they were left, so that thousands of guards that nobody ever
//! drops make no thread start later than the first.
//!
//! A few records are common (`common`): for threads that cannot have their own, because their thread-locals are gone, or because it is
//! their allocator that acquires a lock. Common records are claimed by a compare-and-swap; a word of 1 says that one is being written.
//!
//! Invariant R2: a pointer to a block is null, or points to a block that lives for ever.

use std::ptr;

use super::record::{Entry, Record, RecordRef};
use crate::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use crate::sync::{MODEL, Mutex, mutant};

/// How many records a thread gets at first, each in a cache line of its own.
pub(crate) const FIRST: usize = if MODEL { 1 } else { 8 };

const COMMON: usize = if MODEL { 1 } else { 64 };

/// Records of one thread.
#[derive(Debug)]
pub(crate) struct Block {
    older: Option<&'static Block>,
    /// The next block of its thread; in a block that was left, the next one of its list.
    next: AtomicPtr<Block>,
    /// In a block that was left, the records before this one are free.
    free: AtomicUsize,
    records: Vec<Record>,
    /// The number of the hold of each record, if the record is marked.
    numbers: Vec<AtomicU64>,
}

/// The blocks of threads that have ended.
#[derive(Debug)]
struct Left {
    /// Blocks whose records are all free, by the size: [`FIRST`] times a power of two.
    free: [Option<&'static Block>; SIZES],
    /// The other blocks, a queue: its head and its tail.
    held: Option<(&'static Block, &'static Block)>,
}

const SIZES: usize = 32;

/// How many of the held blocks an adopting thread checks. Two, so that freed ones are found faster than more are left.
const LOOKS: usize = 2;

/// All records. The process has one of these; a model makes its own.
#[derive(Debug)]
pub(crate) struct Records {
    newest: AtomicPtr<Block>,
    common: [Record; COMMON],
    numbers: [AtomicU64; COMMON],
    left: Mutex<Left>,
    /// Locked to read one record at a time; the number of the last hold that got one: see `record.rs`.
    reads: Mutex<u64>,
}

#[cfg(not(waitword_loom))]
impl Records {
    pub(crate) const fn new() -> Self {
        let common = [const { Record::new() }; COMMON];
        let numbers = [const { AtomicU64::new(0) }; COMMON];
        let left = Mutex::new(Left { free: [None; SIZES], held: None });
        Self { newest: AtomicPtr::new(ptr::null_mut()), common, numbers, left, reads: Mutex::new(0) }
    }
}

#[cfg(waitword_loom)]
impl Default for Records {
    fn default() -> Self {
        let common = std::array::from_fn(|_| Record::new());
        let numbers = std::array::from_fn(|_| AtomicU64::new(0));
        let left = Mutex::new(Left { free: [None; SIZES], held: None });
        Self { newest: AtomicPtr::new(ptr::null_mut()), common, numbers, left, reads: Mutex::new(0) }
    }
}

impl Block {
    /// A block of `records` records, of no thread yet.
    pub(crate) fn new(records: usize) -> Self {
        let numbers = (0..records).map(|_| AtomicU64::new(0)).collect();
        let records = (0..records).map(|_| Record::new()).collect();
        let next = AtomicPtr::new(ptr::null_mut());
        Self { older: None, next, free: AtomicUsize::new(0), records, numbers }
    }

    /// One of its records, which form a ring.
    pub(crate) fn first(&self) -> &Record {
        &self.records[0]
    }

    /// Makes the block one of this thread.
    fn adopt(&'static self, thread: u64) -> &'static Self {
        self.free.store(0, Ordering::Relaxed);
        let mut next = RecordRef::new(self.first());
        for record in self.records.iter().rev() {
            record.adopt(thread, next);
            next = RecordRef::new(record);
        }
        self
    }

    /// Whether all holds in a block that was left have ended.
    fn can_be_adopted(&self) -> bool {
        mutant!("holders-adopt" => return true);
        let free = self.free.load(Ordering::Relaxed);
        let more = self.records[free..].iter().take_while(|record| record.is_free()).count();
        self.free.store(free + more, Ordering::Relaxed);
        free + more == self.records.len()
    }

    /// For the thread that has the list.
    pub(crate) fn next(&self) -> Option<&'static Self> {
        block_at(&self.next)
    }

    pub(crate) fn set_next(&self, next: Option<&'static Self>) {
        self.next.store(pointer(next), Ordering::Relaxed);
    }
}

/// The index in [`Left::free`] of the list of blocks with so many records.
fn size(records: usize) -> usize {
    records.div_ceil(FIRST).next_power_of_two().ilog2() as usize
}

fn pointer(block: Option<&'static Block>) -> *mut Block {
    block.map_or(ptr::null_mut(), |block| ptr::from_ref(block).cast_mut())
}

fn block_at(at: &AtomicPtr<Block>) -> Option<&'static Block> {
    // SAFETY: null, or a block that lives for ever (R2).
    unsafe { at.load(Ordering::Acquire).as_ref() }
}

impl Left {
    fn put(&mut self, block: &'static Block) {
        if block.can_be_adopted() {
            let free = &mut self.free[size(block.records.len())];
            block.set_next(*free);
            *free = Some(block);
            return;
        }
        block.set_next(None);
        if let Some((_, tail)) = self.held {
            tail.set_next(Some(block));
        }
        self.held = Some((self.held.map_or(block, |(head, _)| head), block));
    }

    fn take(&mut self, records: usize) -> Option<&'static Block> {
        for _ in 0..LOOKS {
            let Some((head, tail)) = self.held else { break };
            self.held = head.next().map(|next| (next, tail));
            self.put(head);
        }
        let free = &mut self.free[size(records)];
        let block = (*free)?;
        *free = block.next();
        Some(block)
    }
}

impl Records {
    /// Makes a block that was left one of this thread, if there is one with `records` records.
    pub(crate) fn adopt(&self, thread: u64, records: usize) -> Option<&'static Block> {
        let left = self.left.lock().take(records);
        Some(left?.adopt(thread))
    }

    /// Adds a block of this thread.
    pub(crate) fn add(&self, mut block: Box<Block>, thread: u64) -> &'static Block {
        // One at a time.
        let _left = self.left.lock();
        block.older = block_at(&self.newest);
        let block = Box::leak(block).adopt(thread);
        self.newest.store(pointer(Some(block)), Ordering::Release);
        block
    }

    /// The thread of this block ends, and claims no more records.
    pub(crate) fn leave(&self, block: &'static Block) {
        self.left.lock().put(block);
    }

    /// Claims a common record. `None`: none is free.
    pub(crate) fn claim_common(&self, entry: &Entry) -> Option<&Record> {
        self.common.iter().find(|record| record.claim_common(entry))
    }

    /// The records of `word` that `is_wanted` picks.
    pub(crate) fn find(
        &self,
        word: usize,
        is_wanted: impl Fn(&Entry) -> bool,
    ) -> impl Iterator<Item = (&Record, Entry)> {
        let of_word = self.numbered().filter(move |(record, _)| record.may_be_of(word));
        let entries = of_word.filter_map(|(record, number)| Some((record, self.read(record, number)?.0)));
        entries.filter(move |(_, entry)| entry.word == word && is_wanted(entry))
    }

    /// All holds that last for the whole call.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Record, Entry)> {
        self.all_numbered().map(|(record, entry, _)| (record, entry))
    }

    /// The same, each with its number: the hold has lasted, in the same mode, since it was first read with that number.
    pub(crate) fn all_numbered(&self) -> impl Iterator<Item = (&Record, Entry, u64)> {
        let read = |(record, number)| {
            let (entry, number) = self.read(record, number)?;
            Some((record, entry, number))
        };
        self.numbered().filter_map(read)
    }

    /// The entry of a record, if its hold does not end meanwhile, and the number of the hold.
    fn read(&self, record: &Record, number: &AtomicU64) -> Option<(Entry, u64)> {
        let mut last = self.reads.lock();
        let marks = || {
            *last += 1;
            number.store(*last, Ordering::Relaxed);
        };
        Some((record.read(marks)?, number.load(Ordering::Relaxed)))
    }

    /// The records, free ones included.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.numbered().map(|(record, _)| record)
    }

    fn numbered(&self) -> impl Iterator<Item = (&Record, &AtomicU64)> {
        let of_block = |block: &'static Block| block.records.iter().zip(&block.numbers);
        self.common.iter().zip(&self.numbers).chain(self.blocks().flat_map(of_block))
    }

    fn blocks(&self) -> impl Iterator<Item = &'static Block> {
        std::iter::successors(block_at(&self.newest), |block| block.older)
    }
}

#[cfg(all(test, not(waitword_loom)))]
mod tests {
    use std::panic::Location;

    use super::*;

    fn claimed(records: &Records) -> &'static Block {
        let block = records.adopt(1, FIRST);
        let block = block.unwrap_or_else(|| records.add(Box::new(Block::new(FIRST)), 1));
        assert!(block.first().claim(64, 0, Location::caller(), 1));
        block
    }

    /// However many guards were forgotten by threads that have ended, a thread checks two of their blocks.
    #[test]
    fn blocks_that_are_held_for_ever_delay_no_thread_and_let_others_be_adopted() {
        let records = Records::new();
        let held: Vec<&Block> = (0..1_000).map(|_| claimed(&records)).collect();
        held.iter().for_each(|block| records.leave(block));
        let head = || records.left.lock().held.map(|(head, _)| ptr::from_ref(head));
        assert!(records.adopt(2, FIRST).is_none());
        assert_eq!(head(), Some(ptr::from_ref(held[LOOKS])));

        // Guards that others drop a little later.
        for _ in 0..10_000 {
            let block = claimed(&records);
            records.leave(block);
            block.first().free();
        }
        let blocks = records.blocks().count();
        assert!(blocks <= 2_010, "{blocks}");
        // Guards that are dropped before the thread ends, as a rule.
        for _ in 0..10_000 {
            let block = claimed(&records);
            block.first().free();
            records.leave(block);
        }
        assert_eq!(records.blocks().count(), blocks);
    }
}
