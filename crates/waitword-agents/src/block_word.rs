//! A word of a block, as a location to wait on: [`BlockWord`] owns a handle to the block, [`BorrowedWord`] borrows one.
//!
//! The invariants cited here are those of `block.rs`.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicI32, AtomicI64};

use waitword_core::{Location, Table, Word};

use crate::block::SharedBlock;
use crate::block_error::WordError;

impl SharedBlock {
    /// Returns the 32-bit word at `byte_index`, to wait on and to notify.
    ///
    /// # Errors
    /// If `byte_index` is not a multiple of 4, or the word is not within the current length.
    pub fn i32(&self, byte_index: usize) -> Result<BlockWord<AtomicI32>, WordError> {
        self.word(byte_index)
    }

    /// Returns the 64-bit word at `byte_index`, to wait on and to notify.
    ///
    /// # Errors
    /// If `byte_index` is not a multiple of 8, or the word is not within the current length.
    pub fn i64(&self, byte_index: usize) -> Result<BlockWord<AtomicI64>, WordError> {
        self.word(byte_index)
    }

    fn word<W: Word>(&self, byte_index: usize) -> Result<BlockWord<W>, WordError> {
        self.borrow_word(byte_index).map(BorrowedWord::into_owned)
    }

    /// The word at `byte_index`, which borrows this handle instead of owning one.
    pub(crate) fn borrow_word<W: Word>(&self, byte_index: usize) -> Result<BorrowedWord<'_, W>, WordError> {
        WordError::check(byte_index, size_of::<W>(), self.len())?;
        Ok(BorrowedWord { block: self, byte_index, _type: PhantomData })
    }
}

/// A word of a [`SharedBlock`]. Dereferences to the atomic, and is a [`Location`] to wait on and to notify.
///
/// It owns a handle to its block, so that futures which wait on it are `'static`.
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
    /// Returns the block that contains the word.
    pub fn block(&self) -> &SharedBlock {
        &self.block
    }

    /// Returns the word's offset in the block, in bytes.
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
        // SAFETY: `borrow_word` checked the index, and our handle keeps the block alive (B2).
        unsafe { self.block.word_at(self.byte_index) }
    }
}

// SAFETY: the block does not move, and its table is created once.
unsafe impl<W: Word> Location for BlockWord<W> {
    type Word = W;

    fn word(&self) -> &W {
        self
    }

    fn table(&self) -> &Table {
        self.block.table()
    }
}

/// A word that borrows a [`SharedBlock`], for the duration of a call.
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

// SAFETY: the block does not move while it is borrowed, and its table is created once.
unsafe impl<W: Word> Location for BorrowedWord<'_, W> {
    type Word = W;

    fn word(&self) -> &W {
        // SAFETY: `borrow_word` checked the index.
        unsafe { self.block.word_at(self.byte_index) }
    }

    fn table(&self) -> &Table {
        self.block.table()
    }
}
