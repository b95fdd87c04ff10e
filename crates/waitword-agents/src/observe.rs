//! The waiters on the words of shared blocks, and the agents that could notify them: with the feature `observe`.
//!
//! The waiters of a block queue in a table of its own, so a snapshot of the process's common table has none of them; [`snapshot`] has.
//! A host that [records](SharedBlock::record_change) what scripts do to words also learns who holds the locks that they build.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::Ordering;

pub use waitword_core::observe::{Actor, WaiterSeen, WaitsFor};

use crate::block::SharedBlock;
pub use crate::history::{Change, Deed, WordHistory};

/// A word that somebody waits on.
#[derive(Clone, Debug)]
pub struct WordSeen {
    /// Its block.
    pub block: SharedBlock,
    /// Where in the block it begins.
    pub byte_index: usize,
    /// What its first 32 bits hold.
    pub value: i32,
    /// Its waiters, in the order of the queue: agents, and threads and tasks of Rust.
    pub waiters: Vec<WaiterSeen>,
    /// Who changed and notified it, as far as that was recorded. There is no holder if the word is 0.
    pub history: WordHistory,
}

impl WordSeen {
    /// The address of the word.
    pub fn address(&self) -> usize {
        self.block.id() + self.byte_index
    }
}

/// The words of all blocks of the process that have waiters, block by block. (Of a word that nobody waits on it cannot be told whether
/// it is a lock that is held or a flag that is set.)
///
/// Each block's queues are copied as a [`Table`](waitword_core::Table) is: in short stays, between which others wait and notify.
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
        // What is not in the block nobody waits on by its table.
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
    // Last: what an agent had recorded when it ended is here, then, if a host found it ended before.
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
    /// Its number among the blocks that have been waited on or observed: from 1, in that order.
    pub fn number(&self) -> u64 {
        self.observed().number
    }

    /// Records that an agent has changed the word at `byte_index`: for [`WordSeen::history`].
    ///
    /// At most 4096 words of a block have a history.
    pub fn record_change(&self, byte_index: usize, change: Change, deed: Deed) {
        self.observed().histories.change(byte_index, change, deed);
    }

    /// Records that an agent has notified the word at `byte_index`, and how many waiters that woke.
    pub fn record_notify(&self, byte_index: usize, deed: Deed, woken: usize) {
        self.observed().histories.notify(byte_index, deed, woken);
    }
}
