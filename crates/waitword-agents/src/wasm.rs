//! The wait and notify instructions of WebAssembly's threads, on the same queues as `Atomics`.
//!
//! A shared linear memory is a [`SharedBlock`]: the one that `memory.buffer` exposes to scripts. So `memory.atomic.notify` wakes
//! the waiters of `Atomics.wait` and `Atomics.waitAsync`, and `Atomics.notify` those of `memory.atomic.wait32` and `wait64`.
//!
//! In the specification a wait also traps if 2³² waiters are queued on the word. This is not implemented, because so many waiters, of more
//! than 100 bytes each, do not fit into memory.

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

/// The linear memory on which an instruction operates.
#[derive(Clone, Copy, Debug)]
pub enum LinearMemory<'a> {
    /// A memory declared `shared`.
    Shared(&'a SharedBlock),
    /// A memory that is not shared, and cannot be waited on.
    Unshared {
        /// The memory's length in bytes.
        len: usize,
    },
}

/// The reason why an instruction traps.
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
    /// Blocks until the 32-bit word is notified or `timeout` has elapsed, if it holds `expected` (`memory.atomic.wait32`).
    ///
    /// Returns 0 if notified, 1 if the word did not hold `expected`, 2 if timed out. `timeout` is in nanoseconds; a negative one never
    /// elapses.
    ///
    /// # Errors
    /// A [`Trap`]; the first that applies, in the order of the variants. All but [`Trap::Terminated`] occur even if the wait would have
    /// ended at once.
    pub fn memory_atomic_wait32(
        &self,
        memory: LinearMemory<'_>,
        address: u64,
        expected: i32,
        timeout: i64,
    ) -> Result<u32, Trap> {
        self.memory_atomic_wait(memory, address, Expected::I32(expected), timeout)
    }

    /// Blocks until the 64-bit word is notified or `timeout` has elapsed, if it holds `expected` (`memory.atomic.wait64`).
    ///
    /// The result and `timeout` are as in [`memory_atomic_wait32`](Self::memory_atomic_wait32).
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

    /// Wakes up to `count` waiters on the word and returns how many it woke (`memory.atomic.notify`). Returns 0 if the memory is not
    /// shared.
    ///
    /// Waits of instructions and of scripts, on 32 and on 64 bits, are in one queue. `settle` is called as by [`notify`](Self::notify).
    ///
    /// # Errors
    /// [`Trap::Word`], even if `count` is 0 or the memory is not shared.
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
        // An address that does not fit into `usize` is out of bounds of every memory.
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
            Self::NotShared => f.write_str("cannot wait: the memory is not shared"),
            Self::CannotBlock => f.write_str("blocking is forbidden for this agent"),
            Self::Terminated => f.write_str("the agent was terminated"),
        }
    }
}

impl Error for Trap {}
