//! The errors of blocks and words.

use std::error::Error;
use std::fmt;

/// The error of creating a [`SharedBlock`](crate::SharedBlock).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockError {
    /// The allocation failed, or the budget has fewer bytes left.
    OutOfMemory {
        /// The requested bytes: of a growable block, its maximum length.
        len: usize,
    },
    /// The initial length exceeds the maximum.
    BeyondMaximum {
        /// The requested initial length in bytes.
        len: usize,
        /// The requested maximum in bytes.
        max_len: usize,
    },
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory { len } => write!(f, "no memory for a shared block of {len} bytes"),
            Self::BeyondMaximum { len, max_len } => {
                write!(f, "the initial length of {len} bytes exceeds the maximum of {max_len}")
            }
        }
    }
}

impl Error for BlockError {}

/// The error of [`SharedBlock::grow`](crate::SharedBlock::grow).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrowError {
    /// The block was not created growable.
    Fixed,
    /// The block is already longer.
    Shrinks {
        /// The requested length in bytes.
        new_len: usize,
        /// The current length in bytes.
        len: usize,
    },
    /// The requested length exceeds the maximum.
    BeyondMaximum {
        /// The requested length in bytes.
        new_len: usize,
        /// The maximum in bytes.
        max_len: usize,
    },
}

impl fmt::Display for GrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed => f.write_str("the block has a fixed length: create it with a maximum length"),
            Self::Shrinks { new_len, len } => {
                write!(f, "cannot shrink from {len} to {new_len} bytes: a shared block can only grow")
            }
            Self::BeyondMaximum { new_len, max_len } => {
                write!(f, "cannot grow to {new_len} bytes: the block's maximum is {max_len}")
            }
        }
    }
}

impl Error for GrowError {}

/// The error of accessing a word: the byte index is misaligned or out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WordError {
    /// The byte index is not a multiple of the word's size.
    Misaligned {
        /// The requested index.
        byte_index: usize,
        /// The word's size in bytes.
        size: usize,
    },
    /// The word is not within the block's current length.
    OutOfBounds {
        /// The requested index.
        byte_index: usize,
        /// The word's size in bytes.
        size: usize,
        /// The block's length in bytes.
        len: usize,
    },
}

impl WordError {
    /// Whether there is a word of `size` bytes at `byte_index` of a memory of `len` bytes.
    pub(crate) fn check(byte_index: usize, size: usize, len: usize) -> Result<(), Self> {
        if !byte_index.is_multiple_of(size) {
            return Err(Self::Misaligned { byte_index, size });
        }
        if byte_index.checked_add(size).is_none_or(|end| end > len) {
            return Err(Self::OutOfBounds { byte_index, size, len });
        }
        Ok(())
    }
}

impl fmt::Display for WordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misaligned { byte_index, size } => {
                write!(
                    f,
                    "misaligned: the byte index {byte_index} is not a multiple of the word's size, {size}"
                )
            }
            Self::OutOfBounds { byte_index, size, len } => {
                write!(
                    f,
                    "out of bounds: a word of {size} bytes at byte index {byte_index} of a memory of {len} bytes"
                )
            }
        }
    }
}

impl Error for WordError {}
