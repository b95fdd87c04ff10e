//! A word of a block, as a location of the queue: [`BlockWord`] owns a count of the block, [`BorrowedWord`] borrows one.
//!
//! The invariants that are cited are those of `block.rs`.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicI32, AtomicI64};

use waitword_core::{Location, Table, Word};

use crate::block::SharedBlock;
use crate::block_error::WordError;

impl SharedBlock {
    /// The 32-bit word at `byte_index`, which can be waited on.
    ///
    /// # Errors
    /// When `byte_index` is not a multiple of 4 or the word is not within the current length.
    pub fn i32(&self, byte_index: usize) -> Result<BlockWord<AtomicI32>, WordError> {
        self.word(byte_index)
    }

    /// The 64-bit word at `byte_index`, which can be waited on.
    ///
    /// # Errors
    /// When `byte_index` is not a multiple of 8 or the word is not within the current length.
    pub fn i64(&self, byte_index: usize) -> Result<BlockWord<AtomicI64>, WordError> {
        self.word(byte_index)
    }

    fn word<W: Word>(&self, byte_index: usize) -> Result<BlockWord<W>, WordError> {
        self.borrow_word(byte_index).map(BorrowedWord::into_owned)
    }

    /// The word at `byte_index` for as long as this handle is borrowed, without a count of its own.
    pub(crate) fn borrow_word<W: Word>(&self, byte_index: usize) -> Result<BorrowedWord<'_, W>, WordError> {
        WordError::check(byte_index, size_of::<W>(), self.len())?;
        Ok(BorrowedWord { block: self, byte_index, _type: PhantomData })
    }
}

/// A word of a [`SharedBlock`]: an atomic, and a location that can be waited on and notified.
///
/// It owns a count of its block, so that futures which wait on it are `'static`.
///
/// ```
/// use std::sync::atomic::Ordering;
/// use waitword_agents::SharedBlock;
/// use waitword_core::{Outcome, notify_all, wait};
///
/// let word = SharedBlock::new(4)?.i32(0)?;
/// word.store(1, Ordering::SeqCst);
/// assert_eq!(wait(&word, 0), Outcome::NotEqual);
/// assert_eq!(notify_all(&word), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BlockWord<W> {
    block: SharedBlock,
    byte_index: usize,
    _type: PhantomData<fn() -> W>,
}

impl<W> BlockWord<W> {
    /// The block it is a word of.
    pub fn block(&self) -> &SharedBlock {
        &self.block
    }

    /// Where in the block it is.
    pub fn byte_index(&self) -> usize {
        self.byte_index
    }
}

impl<W> Clone for BlockWord<W> {
    fn clone(&self) -> Self {
        Self { block: self.block.clone(), byte_index: self.byte_index, _type: PhantomData }
    }
}

impl<W: Word> Deref for BlockWord<W> {
    type Target = W;

    fn deref(&self) -> &W {
        // SAFETY: `borrow_word` checked, and our count keeps the block (B2).
        unsafe { self.block.word_at(self.byte_index) }
    }
}

// SAFETY: the block does not move, and its table is made once.
unsafe impl<W: Word> Location for BlockWord<W> {
    type Word = W;

    fn word(&self) -> &W {
        self
    }

    fn table(&self) -> &Table {
        self.block.table()
    }
}

/// A word of a [`SharedBlock`] that somebody else keeps: for a call that returns before that one lets go.
pub(crate) struct BorrowedWord<'a, W> {
    block: &'a SharedBlock,
    byte_index: usize,
    _type: PhantomData<fn() -> W>,
}

impl<W> BorrowedWord<'_, W> {
    pub(crate) fn into_owned(self) -> BlockWord<W> {
        BlockWord { block: self.block.clone(), byte_index: self.byte_index, _type: PhantomData }
    }
}

// SAFETY: the block does not move while it is borrowed, and its table is made once.
unsafe impl<W: Word> Location for BorrowedWord<'_, W> {
    type Word = W;

    fn word(&self) -> &W {
        // SAFETY: `borrow_word` checked.
        unsafe { self.block.word_at(self.byte_index) }
    }

    fn table(&self) -> &Table {
        self.block.table()
    }
}
