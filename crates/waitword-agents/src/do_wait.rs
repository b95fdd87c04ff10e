//! DoWait and Atomics.notify, from the point on where their arguments are checked and coerced.
//!
//! The steps of ECMA-262 are named above the line that performs them. What the standard calls EnterCriticalSection,
//! AddWaiter, RemoveWaiters and NotifyWaiter is the queue's business (`waitword-core`): check and enqueue are one step
//! against notify there.
//!
//! Leaving the section synchronizes with the next agent that enters it, also where no agent waited and none was woken. Of two
//! such agents one may not have taken the lock: a notify that finds no waiter only fences (N, section 2 of the core's
//! protocol), and one with a count of 0 does not even check. So each has a fence of its own here: with both, one agent sees what
//! the other wrote before.
//!
//! ```text
//!   one agent                                another
//!   ───────────────────────────────          ───────────────────────────────
//!   x = 1                                    y = 1
//!   wait: "not-equal" or "timed-out"         notify: 0
//!   fence (passed)                           fence N, or fence (passed)
//!   read y                                   read x                              not both 0
//! ```

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering, fence};
use std::time::Duration;

use waitword_core::{Outcome, Word, wait_for, wait_interruptible};

use crate::agent::Agent;
use crate::block::SharedBlock;
use crate::block_error::WordError;
use crate::block_word::BorrowedWord;
use crate::js_number::{Expected, Timeout};
use crate::waits::{Settled, WaitId};

/// What an async wait is when the call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AsyncWait {
    /// `{ async: false, value: "not-equal" }`.
    NotEqual,
    /// `{ async: false, value: "timed-out" }`: its timeout was 0.
    TimedOut,
    /// `{ async: true, value: promise }`: the promise is to be resolved when this wait is [`Settled`].
    Pending(WaitId),
}

impl Agent {
    /// What a wait would be that need not wait: [`NotEqual`](Outcome), or [`TimedOut`](Outcome) if
    /// `timeout` is zero; `None` if it would have to.
    ///
    /// The same in both modes. A host that asks first spends nothing on promises and the like for a wait that is none;
    /// after `None` it goes on with [`wait`](Self::wait) or [`wait_async`](Self::wait_async), which ask again.
    ///
    /// # Errors
    /// When there is no such word.
    pub fn outcome_at_once(
        &self,
        block: &SharedBlock,
        byte_index: usize,
        expected: Expected,
        timeout: Timeout,
    ) -> Result<Option<Outcome>, WordError> {
        // The comparison takes precedence over a timeout of 0.
        let outcome = match expected {
            Expected::I32(value) => {
                wait_for(block.borrow_word::<AtomicI32>(byte_index)?, value, Duration::ZERO)
            }
            Expected::I64(value) => {
                wait_for(block.borrow_word::<AtomicI64>(byte_index)?, value, Duration::ZERO)
            }
        };
        if outcome == Outcome::TimedOut && !timeout.is_zero() {
            return Ok(None);
        }
        passed();
        Ok(Some(outcome))
    }

    /// Atomics.wait: blocks this thread until the word is notified.
    ///
    /// # Errors
    /// [`CannotBlock`](WaitError), which is the standard's TypeError; [`Terminated`](WaitError)
    /// when the agent was terminated before a notify counted this wait; [`Word`](WaitError) when there is no
    /// such word.
    pub fn wait(
        &self,
        block: &SharedBlock,
        byte_index: usize,
        expected: Expected,
        timeout: Timeout,
    ) -> Result<Outcome, WaitError> {
        // ValidateAtomicAccess comes first.
        match expected {
            Expected::I32(value) => self.suspend(block.borrow_word::<AtomicI32>(byte_index)?, value, timeout),
            Expected::I64(value) => self.suspend(block.borrow_word::<AtomicI64>(byte_index)?, value, timeout),
        }
    }

    /// The rest of DoWait for a blocking wait: AgentCanSuspend, compare, AddWaiter, SuspendThisAgent.
    fn suspend<W: Word>(
        &self,
        at: BorrowedWord<'_, W>,
        expected: W::Value,
        timeout: Timeout,
    ) -> Result<Outcome, WaitError> {
        // AgentCanSuspend, which only a blocking wait asks.
        if !self.can_block() {
            return Err(WaitError::CannotBlock);
        }
        let outcome = wait_interruptible(at, expected, timeout.duration(), self.interrupt());
        if outcome != Ok(Outcome::Notified) {
            passed();
        }
        outcome.map_err(|_| WaitError::Terminated)
    }

    /// Atomics.waitAsync: returns at once; a pending wait is settled later, and comes out of
    /// [`drain_settled`](Self::drain_settled), or of this agent's own [`notify`](Self::notify).
    ///
    /// A host makes the promise before it calls this: once the wait is in the queue, nothing may fail.
    ///
    /// # Errors
    /// [`TooMany`](WaitAsyncError) when it would have to wait and the agent has as many pending waits as it
    /// [may](Self::set_max_waits); [`Terminated`](WaitAsyncError) when the agent was
    /// [abandoned](crate::AgentHandle::abandon); [`Word`](WaitAsyncError) when there is no such word.
    pub fn wait_async(
        &self,
        block: &SharedBlock,
        byte_index: usize,
        expected: Expected,
        timeout: Timeout,
    ) -> Result<AsyncWait, WaitAsyncError> {
        // Not in the standard: an agent's own limit on what it keeps.
        let (mut waits, limit) = (self.waits(), self.max_waits());
        let Some(waits) = &mut *waits else { return Err(WaitAsyncError::Terminated) };
        let is_full = waits.len() >= limit;
        // Both results without a promise; the comparison takes precedence over a timeout of 0. A wait that is to be enqueued
        // is compared there, once.
        if timeout.is_zero() || is_full {
            match self.outcome_at_once(block, byte_index, expected, timeout)? {
                Some(Outcome::NotEqual) => return Ok(AsyncWait::NotEqual),
                Some(_) => return Ok(AsyncWait::TimedOut),
                None => return Err(WaitAsyncError::TooMany { limit }),
            }
        }
        // AddWaiter. The standard's HostEnqueueTimeoutJob is the deadline that the event loop asks for.
        let Some(id) = waits.add(self.inbox(), block, byte_index, expected, timeout)? else {
            passed();
            return Ok(AsyncWait::NotEqual);
        };
        Ok(AsyncWait::Pending(id))
    }

    /// Atomics.notify: wakes the `count` waiters that have waited longest on the word, blocked threads and promises
    /// alike, of this agent, of others, and of Rust. Returns how many it woke.
    ///
    /// Async waits of *this* agent that it woke are handed to `settle` before it returns, in the order of the queue and
    /// outside all locks: the standard resolves their promises inside the call (NotifyWaiter). Those of other agents go
    /// to their [`drain_settled`](Self::drain_settled). A notify inside `settle` that wakes a waiter settles what this one
    /// still has, in the same order.
    ///
    /// # Errors
    /// When there is no 32-bit word at `byte_index`. (For a 64-bit word the engine has checked the rest; the queue is
    /// found by the address alone.)
    ///
    /// # Panics
    /// If `settle` does; all waiters were woken before. This agent's own that were not settled by then come out of
    /// [`drain_settled`](Self::drain_settled).
    pub fn notify(
        &self,
        block: &SharedBlock,
        byte_index: usize,
        count: usize,
        mut settle: impl FnMut(Settled),
    ) -> Result<usize, WordError> {
        if count == 0 {
            passed();
        }
        // RemoveWaiters, and NotifyWaiter for each.
        let woken = self.inbox().notify(block.borrow_word::<AtomicI32>(byte_index)?, count);
        if woken > 0 {
            while let Some(settled) = self.take_settled_here() {
                settle(settled);
            }
        }
        Ok(woken)
    }
}

/// Through the critical section, in which there was nothing to do. See the top of this file.
fn passed() {
    fence(Ordering::SeqCst);
}

/// Why a blocking wait has no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The agent must not block.
    CannotBlock,
    /// The agent was terminated.
    Terminated,
    /// There is no such word.
    Word(WordError),
}

/// Why an async wait was not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitAsyncError {
    /// The agent has as many pending waits as it may.
    TooMany {
        /// How many that is.
        limit: usize,
    },
    /// The agent was abandoned.
    Terminated,
    /// There is no such word.
    Word(WordError),
}

impl From<WordError> for WaitError {
    fn from(error: WordError) -> Self {
        Self::Word(error)
    }
}

impl From<WordError> for WaitAsyncError {
    fn from(error: WordError) -> Self {
        Self::Word(error)
    }
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotBlock => f.write_str("this agent must not block: use waitAsync"),
            Self::Terminated => f.write_str("the agent was terminated"),
            Self::Word(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for WaitAsyncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { limit } => write!(
                f,
                "{limit} waits of this agent are pending, and no more may be: notify some, or raise the limit"
            ),
            Self::Terminated => f.write_str("the agent was terminated"),
            Self::Word(error) => error.fmt(f),
        }
    }
}

impl Error for WaitError {}

impl Error for WaitAsyncError {}
