//! The wait and notify instructions of WebAssembly's threads, on the queue of the scripts.
//!
//! A shared linear memory is a [`SharedBlock`], the same that `memory.buffer` shows to scripts. So an instruction wakes
//! the waiters of `Atomics.wait` and `Atomics.waitAsync`, and the other way round.
//!
//! The specification also has a wait trap when 2³² others wait on the word already. No memory holds so many here, for each
//! takes more than 100 bytes.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use waitword_core::Outcome;

use crate::agent::Agent;
use crate::block::SharedBlock;
use crate::block_error::WordError;
use crate::do_wait::WaitError;
use crate::js_number::{Expected, Timeout};
use crate::waits::Settled;

/// A linear memory, as far as the instructions have to know.
#[derive(Clone, Copy, Debug)]
pub enum LinearMemory<'a> {
    /// Declared `shared`.
    Shared(&'a SharedBlock),
    /// Not shared: nobody can wait there.
    Unshared {
        /// Its length in bytes.
        len: usize,
    },
}

/// The instruction traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trap {
    /// The address is not aligned to the size of the access, or the access is out of bounds.
    Word(WordError),
    /// A wait on a memory that is not shared.
    NotShared,
    /// A wait by an agent that must not block.
    CannotBlock,
    /// The agent was terminated while it waited.
    Terminated,
}

impl Agent {
    /// `memory.atomic.wait32`: 0 when a notify woke it, 1 when the word did not hold `expected`, 2 when `timeout` ran out. The
    /// timeout is in nanoseconds; a negative one never does.
    ///
    /// # Errors
    /// The [`Trap`]s, in the order of its variants; all but the last whether it would have had to wait or not.
    pub fn memory_atomic_wait32(
        &self,
        memory: LinearMemory<'_>,
        address: u64,
        expected: i32,
        timeout: i64,
    ) -> Result<u32, Trap> {
        self.memory_atomic_wait(memory, address, Expected::I32(expected), timeout)
    }

    /// `memory.atomic.wait64`: as [`memory_atomic_wait32`](Self::memory_atomic_wait32), on 64 bits.
    ///
    /// # Errors
    /// As [`memory_atomic_wait32`](Self::memory_atomic_wait32).
    pub fn memory_atomic_wait64(
        &self,
        memory: LinearMemory<'_>,
        address: u64,
        expected: i64,
        timeout: i64,
    ) -> Result<u32, Trap> {
        self.memory_atomic_wait(memory, address, Expected::I64(expected), timeout)
    }

    fn memory_atomic_wait(
        &self,
        memory: LinearMemory<'_>,
        address: u64,
        expected: Expected,
        timeout: i64,
    ) -> Result<u32, Trap> {
        let byte_index = memory.word(address, expected.size())?;
        let LinearMemory::Shared(block) = memory else { return Err(Trap::NotShared) };
        let timeout = match u64::try_from(timeout) {
            Ok(nanoseconds) => Timeout::After(Duration::from_nanos(nanoseconds)),
            Err(_) => Timeout::Never,
        };
        match self.wait(block, byte_index, expected, timeout) {
            Ok(Outcome::Notified) => Ok(0),
            Ok(Outcome::NotEqual) => Ok(1),
            Ok(Outcome::TimedOut) => Ok(2),
            Err(WaitError::Word(error)) => Err(Trap::Word(error)),
            Err(WaitError::CannotBlock) => Err(Trap::CannotBlock),
            Err(WaitError::Terminated) => Err(Trap::Terminated),
        }
    }

    /// `memory.atomic.notify`: how many of the first `count` waiters it woke, of either kind and of either size; 0 where the
    /// memory is not shared. What `settle` is for, says [`notify`](Self::notify).
    ///
    /// # Errors
    /// [`Trap::Word`], also when `count` is 0 or the memory is not shared.
    ///
    /// # Panics
    /// As [`notify`](Self::notify).
    pub fn memory_atomic_notify(
        &self,
        memory: LinearMemory<'_>,
        address: u64,
        count: u32,
        settle: impl FnMut(Settled),
    ) -> Result<u32, Trap> {
        let byte_index = memory.word(address, size_of::<i32>())?;
        let LinearMemory::Shared(block) = memory else { return Ok(0) };
        // At most `count`, so it fits.
        Ok(self.notify(block, byte_index, count as usize, settle)? as u32)
    }
}

impl LinearMemory<'_> {
    /// The index of the word of `size` bytes at `address`.
    fn word(&self, address: u64, size: usize) -> Result<usize, WordError> {
        let len = match self {
            Self::Shared(block) => block.len(),
            Self::Unshared { len } => *len,
        };
        // An address beyond what this machine can address is beyond any memory too.
        let byte_index = usize::try_from(address).unwrap_or(usize::MAX - (size - 1));
        WordError::check(byte_index, size, len).map(|()| byte_index)
    }
}

impl From<WordError> for Trap {
    fn from(error: WordError) -> Self {
        Self::Word(error)
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(error) => error.fmt(f),
            Self::NotShared => f.write_str("a wait needs a shared memory"),
            Self::CannotBlock => f.write_str("this agent must not block"),
            Self::Terminated => f.write_str("the agent was terminated"),
        }
    }
}

impl Error for Trap {}
