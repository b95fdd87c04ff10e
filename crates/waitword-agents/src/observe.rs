//! The waiters on the words of shared blocks, and the agents that could notify them. Needs the feature `observe`.
//!
//! The waiters of a block queue in the block's own table, so a snapshot of the process's global table does not contain them; [`snapshot`]
//! does. A host that [records](SharedBlock::record_change) the operations of scripts on words also learns who holds the scripts' locks.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::Ordering;

pub use waitword_core::observe::{Actor, WaiterSeen, WaitsFor};

use crate::block::SharedBlock;
pub use crate::history::{Change, Deed, WordHistory};

/// A word that has waiters.
#[derive(Clone, Debug)]
pub struct WordSeen {
    /// The block that contains it.
    pub block: SharedBlock,
    /// The word's offset in the block, in bytes.
    pub byte_index: usize,
    /// The value of its first 32 bits.
    pub value: i32,
    /// Its waiters, in the order of the queue: agents, Rust threads and Rust tasks.
    pub waiters: Vec<WaiterSeen>,
    /// Who changed and notified it, as far as recorded. There is no holder if the word is 0.
    pub history: WordHistory,
}

impl WordSeen {
    /// Returns the address of the word.
    pub fn address(&self) -> usize {
        self.block.id() + self.byte_index
    }
}

/// Returns the words that have waiters, of all blocks of the process, block by block. (A word without waiters is left out, because it
/// may be a held lock or just a flag that is set.)
///
/// Each block's [`Table`](waitword_core::Table) is copied part by part under short locks, so other threads can wait and notify meanwhile.
///
/// ```
/// use waitword_agents::{Agent, Expected, SharedBlock, Timeout, observe};
///
/// let block = SharedBlock::new(16)?;
/// let agent = Agent::new(false, || {});
/// agent.wait_async(&block, 8, Expected::I32(0), Timeout::Never)?;
///
/// let words = observe::snapshot();
/// let word = words.iter().find(|word| word.block == block).unwrap();
/// assert_eq!((word.byte_index, word.waiters.len()), (8, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn snapshot() -> Vec<WordSeen> {
    SharedBlock::all().iter().flat_map(words_of).collect()
}

fn words_of(block: &SharedBlock) -> Vec<WordSeen> {
    let mut words: BTreeMap<usize, Vec<WaiterSeen>> = BTreeMap::new();
    let of_block: Range<usize> = block.id()..block.id() + block.max_len();
    for waiter in block.table().snapshot() {
        // Every waiter in the block's table waits on a word of the block, so this only guards the subtraction.
        if of_block.contains(&waiter.word) {
            words.entry(waiter.word - block.id()).or_default().push(waiter);
        }
    }
    let words: Vec<_> = words
        .into_iter()
        .map(|(byte_index, waiters)| {
            let value = block.i32(byte_index).map_or(0, |word| word.load(Ordering::SeqCst));
            (byte_index, waiters, value)
        })
        .collect();
    // Last: if the host saw an agent end before this call, all that the agent recorded is included.
    let mut histories = block.observed().histories.all();
    let seen = |(byte_index, waiters, value)| {
        let mut history = histories.remove(&byte_index).unwrap_or_default();
        if value == 0 {
            history.holder = None;
        }
        WordSeen { block: block.clone(), byte_index, value, waiters, history }
    };
    words.into_iter().map(seen).collect()
}

impl SharedBlock {
    /// Returns the block's number. Blocks are numbered from 1, when they are first waited on, notified or observed.
    pub fn number(&self) -> u64 {
        self.observed().number
    }

    /// Records that an agent changed the word at `byte_index`, for [`WordSeen::history`].
    ///
    /// At most 4096 words of a block have a history.
    pub fn record_change(&self, byte_index: usize, change: Change, deed: Deed) {
        self.observed().histories.change(byte_index, change, deed);
    }

    /// Records that an agent notified the word at `byte_index`, and how many waiters it woke, for [`WordSeen::history`].
    pub fn record_notify(&self, byte_index: usize, deed: Deed, woken: usize) {
        self.observed().histories.notify(byte_index, deed, woken);
    }
}
