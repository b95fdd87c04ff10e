//! Why there is no such block, no such length, no such word.

use std::error::Error;
use std::fmt;

/// Why there is no such block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockError {
    /// The system, or the budget that is charged, has no `len` bytes left.
    OutOfMemory {
        /// The bytes asked for.
        len: usize,
    },
    /// It was to begin longer than it may ever be.
    BeyondMaximum {
        /// The length in bytes asked for.
        len: usize,
        /// The maximum asked for.
        max_len: usize,
    },
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory { len } => write!(f, "no memory for a shared block of {len} bytes"),
            Self::BeyondMaximum { len, max_len } => {
                write!(f, "a block of {len} bytes cannot have a maximum of {max_len}")
            }
        }
    }
}

impl Error for BlockError {}

/// Why a block did not grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrowError {
    /// It was not made growable.
    Fixed,
    /// It is longer already.
    Shrinks {
        /// The length in bytes asked for.
        new_len: usize,
        /// The length it has.
        len: usize,
    },
    /// It may not become that long.
    BeyondMaximum {
        /// The length in bytes asked for.
        new_len: usize,
        /// The length it may have.
        max_len: usize,
    },
}

impl fmt::Display for GrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed => f.write_str("the block has a fixed length: make it with a maximum to let it grow"),
            Self::Shrinks { new_len, len } => {
                write!(f, "a shared block never shrinks: it has {len} bytes, {new_len} were asked for")
            }
            Self::BeyondMaximum { new_len, max_len } => {
                write!(f, "the block may grow to {max_len} bytes, {new_len} were asked for")
            }
        }
    }
}

impl Error for GrowError {}

/// Why there is no such word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WordError {
    /// Words begin at multiples of their size.
    Misaligned {
        /// The index asked for.
        byte_index: usize,
        /// The word's size in bytes.
        size: usize,
    },
    /// It is not within the block's current length.
    OutOfBounds {
        /// The index asked for.
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
                write!(f, "a word of {size} bytes begins at a multiple of {size}, and {byte_index} is none")
            }
            Self::OutOfBounds { byte_index, size, len } => {
                write!(f, "a word of {size} bytes at {byte_index} is not within a block of {len} bytes")
            }
        }
    }
}

impl Error for WordError {}
