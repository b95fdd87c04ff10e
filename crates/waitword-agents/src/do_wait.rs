//! DoWait and Atomics.notify, after their arguments are checked and coerced.
//!
//! The steps of ECMA-262 are named above the line that performs them. The queue (`waitword-core`) implements
//! EnterCriticalSection, AddWaiter, RemoveWaiters and NotifyWaiter: compare and enqueue are one step against notify.
//!
//! Leaving the critical section synchronizes with the next agent that enters it, even if neither waited and none was woken. Such
//! agents may not take the lock: a notify that finds no waiter only executes a fence (N, section 2 of the core's protocol), and
//! a notify with a count of 0 does not even look for waiters. So each executes a fence here. With both fences, at least one of the
//! agents sees what the other wrote before.
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

/// The result of [`Agent::wait_async`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AsyncWait {
    /// `{ async: false, value: "not-equal" }`.
    NotEqual,
    /// `{ async: false, value: "timed-out" }`: the timeout was 0.
    TimedOut,
    /// `{ async: true, value: promise }`. The host resolves the promise when this wait is [`Settled`].
    Pending(WaitId),
}

impl Agent {
    /// Returns the outcome of a wait that ends at once: [`NotEqual`](Outcome), or [`TimedOut`](Outcome) if `timeout` is zero. Returns
    /// `None` if the caller would have to wait. Never blocks.
    ///
    /// The result is the same for blocking and async waits. A host that calls this first creates no promise for a wait that ends at
    /// once. After `None` it calls [`wait`](Self::wait) or [`wait_async`](Self::wait_async), which compare again.
    ///
    /// # Errors
    /// If the word is misaligned or out of bounds.
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

    /// Blocks this thread until the word is notified or `timeout` has elapsed, if the word holds `expected` (Atomics.wait).
    ///
    /// # Errors
    /// - [`CannotBlock`](WaitError): the agent must not block; the standard's TypeError.
    /// - [`Terminated`](WaitError): the agent was terminated before a notify counted this wait.
    /// - [`Word`](WaitError): the word is misaligned or out of bounds.
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

    /// Enqueues an async wait if the word holds `expected`, and returns without blocking (Atomics.waitAsync).
    /// [`drain_settled`](Self::drain_settled) or this agent's own [`notify`](Self::notify) yields the wait when it is settled.
    ///
    /// A host creates the promise before it calls this, because nothing may fail once the wait is enqueued.
    ///
    /// # Errors
    /// - [`TooMany`](WaitAsyncError): the wait would have to be enqueued, and the agent has reached its
    ///   [limit](Self::set_max_waits) of pending waits.
    /// - [`Terminated`](WaitAsyncError): the agent was [abandoned](crate::AgentHandle::abandon).
    /// - [`Word`](WaitAsyncError): the word is misaligned or out of bounds.
    pub fn wait_async(
        &self,
        block: &SharedBlock,
        byte_index: usize,
        expected: Expected,
        timeout: Timeout,
    ) -> Result<AsyncWait, WaitAsyncError> {
        // Not in the standard: the agent's limit of pending waits.
        let (mut waits, limit) = (self.waits(), self.max_waits());
        let Some(waits) = &mut *waits else { return Err(WaitAsyncError::Terminated) };
        let is_full = waits.len() >= limit;
        // The two results without a promise. The comparison takes precedence over a timeout of 0. For a wait that is to be
        // enqueued, the word is compared once, when it is enqueued.
        if timeout.is_zero() || is_full {
            match self.outcome_at_once(block, byte_index, expected, timeout)? {
                Some(Outcome::NotEqual) => return Ok(AsyncWait::NotEqual),
                Some(_) => return Ok(AsyncWait::TimedOut),
                None => return Err(WaitAsyncError::TooMany { limit }),
            }
        }
        // AddWaiter. The standard's HostEnqueueTimeoutJob is the deadline, which the event loop gets from `next_deadline`.
        let Some(id) = waits.add(self.inbox(), block, byte_index, expected, timeout)? else {
            passed();
            return Ok(AsyncWait::NotEqual);
        };
        Ok(AsyncWait::Pending(id))
    }

    /// Wakes up to `count` waiters on the word, in FIFO order, and returns how many it woke (Atomics.notify). Blocking and async waits
    /// of this and other agents and of Rust threads and tasks are in one queue.
    ///
    /// Woken async waits of *this* agent are passed to `settle` before the call returns, in the order of the queue and with no lock
    /// held, because the standard resolves their promises inside the call (NotifyWaiter). Those of other agents are yielded by their
    /// [`drain_settled`](Self::drain_settled). If `settle` itself notifies and wakes a waiter, that inner call first settles the
    /// remaining waits of this one, in the same order.
    ///
    /// # Errors
    /// If there is no 32-bit word at `byte_index`. (A 64-bit word is checked by the engine; the queue is found by the address alone.)
    ///
    /// # Panics
    /// If `settle` panics. All waiters have been woken by then; this agent's waits that `settle` has not received are yielded by
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

/// Passes through the critical section without changing the queue. See the top of this file.
fn passed() {
    fence(Ordering::SeqCst);
}

/// The error of [`Agent::wait`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The agent must not block.
    CannotBlock,
    /// The agent was terminated.
    Terminated,
    /// The word is misaligned or out of bounds.
    Word(WordError),
}

/// The error of [`Agent::wait_async`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitAsyncError {
    /// The agent has reached its limit of pending waits.
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The agent was [abandoned](crate::AgentHandle::abandon). (After `terminate` alone, async waits are still enqueued.)
    Terminated,
    /// The word is misaligned or out of bounds.
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
            Self::CannotBlock => f.write_str("blocking is forbidden for this agent: use waitAsync"),
            Self::Terminated => f.write_str("the agent was terminated"),
            Self::Word(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for WaitAsyncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { limit } => {
                write!(
                    f,
                    "too many pending waits: the agent's limit is {limit}; notify some, or raise the limit"
                )
            }
            Self::Terminated => f.write_str("the agent was terminated"),
            Self::Word(error) => error.fmt(f),
        }
    }
}

impl Error for WaitError {}

impl Error for WaitAsyncError {}
