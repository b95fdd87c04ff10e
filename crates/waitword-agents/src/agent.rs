//! An agent: a thread that runs scripts. Whether it may block, how it receives the outcomes of its async waits (settled ones in the order
//! of settling, due ones by the clock), and how it is terminated.
//!
//! The waits themselves are in `waits.rs`, and the nodes in `slab.rs`.

use std::cell::Cell;
use std::fmt;
use std::iter;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use waitword_core::time::Instant;
use waitword_core::{Inbox, Interrupt, may_block};

use crate::agent_id::AgentId;
use crate::waits::{PendingWait, Settled, WaitId, Waits};

/// An ECMAScript agent (ECMA-262, "Agents"). It belongs to the thread that created it; other threads use its
/// [`handle`](Self::handle).
///
/// Dropping the agent removes all its pending waits from their queues, so that they never consume a notify meant for another
/// waiter.
pub struct Agent {
    shared: Arc<Shared>,
    can_block: Cell<bool>,
    max_waits: Cell<usize>,
    _this_thread: PhantomData<*const ()>,
}

struct Shared {
    id: AgentId,
    interrupt: Interrupt,
    inbox: Inbox,
    /// `None` once the agent is dropped or [abandoned](AgentHandle::abandon). Apart from `abandon`, only the agent's thread takes this
    /// lock. No foreign code runs under it.
    waits: Mutex<Option<Waits>>,
}

impl Agent {
    /// Creates an agent on the calling thread.
    ///
    /// `can_block` is the standard's \[\[CanBlock\]\].
    ///
    /// `doorbell` is called whenever the agent's event loop has work: another thread settled a wait of the agent, or terminated the agent.
    /// The doorbell runs on that other thread, with no lock held, and should only wake the loop. If the doorbell panics, a notify catches
    /// that; [`terminate`](AgentHandle::terminate), [`abandon`](AgentHandle::abandon) and [`ring`](AgentHandle::ring) propagate it.
    pub fn new(can_block: bool, doorbell: impl Fn() + Send + Sync + 'static) -> Self {
        let inbox = Inbox::new(doorbell);
        let interrupt = Interrupt::for_current_thread();
        let waits = Mutex::new(Some(Waits::default()));
        Self {
            shared: Arc::new(Shared { id: AgentId::next(), interrupt, inbox, waits }),
            can_block: Cell::new(can_block),
            max_waits: Cell::new(usize::MAX),
            _this_thread: PhantomData,
        }
    }

    /// Returns the agent's identity, unique in this process.
    pub fn id(&self) -> AgentId {
        self.shared.id
    }

    /// Returns a handle with which other threads can terminate the agent or wake its event loop.
    pub fn handle(&self) -> AgentHandle {
        AgentHandle { shared: Arc::clone(&self.shared) }
    }

    /// Returns whether [`wait`](Self::wait) may block (AgentCanSuspend). Also false while `waitword_core::forbid_blocking` applies to
    /// the thread.
    pub fn can_block(&self) -> bool {
        self.can_block.get() && may_block()
    }

    /// Sets \[\[CanBlock\]\] for later waits.
    pub fn set_can_block(&self, can_block: bool) {
        self.can_block.set(can_block);
    }

    /// Returns how many async waits may be pending at a time, including settled ones not yet drained. Unlimited by default
    /// (`usize::MAX`).
    pub fn max_waits(&self) -> usize {
        self.max_waits.get()
    }

    /// Limits the number of async waits that may be pending at a time. Waits that are already pending stay, even beyond the limit.
    pub fn set_max_waits(&self, max_waits: usize) {
        self.max_waits.set(max_waits);
    }

    /// Returns whether the agent was terminated.
    pub fn is_terminated(&self) -> bool {
        self.shared.interrupt.is_raised()
    }

    pub(crate) fn inbox(&self) -> &Inbox {
        &self.shared.inbox
    }

    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.shared.interrupt
    }

    /// The async waits; `None` once the agent was abandoned.
    pub(crate) fn waits(&self) -> MutexGuard<'_, Option<Waits>> {
        self.shared.waits()
    }
}

impl Agent {
    /// Returns an iterator that removes the settled waits, one per step, in the order in which they were settled.
    ///
    /// The standard enqueues a separate job for each (HostEnqueueGenericJob): take one, resolve its promise, run all
    /// microtasks, take the next. Waits that are settled in between come last.
    pub fn drain_settled(&self) -> impl Iterator<Item = Settled> + '_ {
        iter::from_fn(|| {
            // Not empty only if foreign code panicked inside an earlier notify of this agent.
            self.take_settled_here().or_else(|| {
                let mut waits = self.waits();
                // Under the lock: either we take the wait from the inbox, or the thread that abandons the agent drops it.
                waits.as_mut()?.take(self.inbox().pop()?)
            })
        })
    }

    /// Returns whether [`drain_settled`](Self::drain_settled) would yield a wait now.
    pub fn has_settled(&self) -> bool {
        !self.inbox().is_empty()
    }

    /// Returns the earliest deadline of a pending wait. The event loop must not sleep beyond it.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.waits().as_ref()?.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// Settles the pending waits whose deadline is at or before `now` as [`TimedOut`](crate::Outcome), in the order of their
    /// deadlines and after all waits settled earlier. `now` must not be in the future.
    ///
    /// Returns how many waits timed out. A wait that a notify has counted is not among them.
    pub fn expire_due(&self, now: Instant) -> usize {
        self.waits().as_mut().map_or(0, |waits| waits.expire_due(now))
    }

    /// Returns the waits that are not drained yet, settled or not, in the order of the calls.
    pub fn pending(&self) -> Vec<PendingWait> {
        self.waits().as_ref().map(Waits::pending).unwrap_or_default()
    }

    /// Returns the length of [`pending`](Self::pending), in constant time.
    pub fn pending_count(&self) -> usize {
        self.waits().as_ref().map_or(0, Waits::len)
    }

    /// Drops the pending waits that can never settle: those without a deadline on a block whose only remaining handles are pending
    /// waits of this agent. Returns them; the host drops their promises, which stay pending forever.
    ///
    /// A host calls this after each [`wait_async`](Self::wait_async). The check runs at 1,000 pending waits, and then each time their
    /// number has doubled since the last check. It costs amortized O(1) per wait. After each call, the agent has fewer than 1,000 waits, or
    /// fewer than twice as many as the last check kept.
    pub fn forget_hopeless(&self) -> Vec<WaitId> {
        self.waits().as_mut().map(Waits::forget_hopeless).unwrap_or_default()
    }

    /// Removes the next of this agent's waits that its own notify settled.
    pub(crate) fn take_settled_here(&self) -> Option<Settled> {
        let mut waits = self.waits();
        waits.as_mut()?.take(self.inbox().pop_here()?)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.shared.drop_waits();
    }
}

impl Shared {
    fn waits(&self) -> MutexGuard<'_, Option<Waits>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drop_waits(&self) {
        *self.waits() = None;
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("id", &self.id())
            .field("can_block", &self.can_block())
            .field("is_terminated", &self.is_terminated())
            .finish_non_exhaustive()
    }
}

/// A handle to an [`Agent`] for other threads. Clones refer to the same agent, which may have been dropped already.
#[derive(Clone)]
pub struct AgentHandle {
    shared: Arc<Shared>,
}

impl AgentHandle {
    /// Terminates the agent. A wait in which it is blocked leaves its queue and returns [`Terminated`](crate::WaitError), and so does
    /// every later wait that would block. The doorbell is rung.
    ///
    /// Does not wait for the agent to end. Its async waits stay queued until its [`Agent`] is dropped. A host whose callers must not
    /// see a dead agent's waiters waits for the drop, or calls [`abandon`](Self::abandon).
    ///
    /// # Panics
    /// If the agent's doorbell panics.
    pub fn terminate(&self) {
        self.shared.interrupt.raise();
        self.ring();
    }

    /// [Terminates](Self::terminate) the agent and removes its async waits from their queues on the calling thread, while the agent's
    /// own thread may still run. For a host that continues without an agent whose thread does not return.
    ///
    /// Later waits of the agent that would have to wait fail, both blocking and async ones.
    ///
    /// # Panics
    /// If the agent's doorbell panics.
    pub fn abandon(&self) {
        self.shared.interrupt.raise();
        self.shared.drop_waits();
        self.ring();
    }

    /// Returns whether the agent was terminated.
    pub fn is_terminated(&self) -> bool {
        self.shared.interrupt.is_raised()
    }

    /// Returns whether the agent's thread is queued in a blocking wait. `false` until the wait is enqueued, and `false` again before
    /// the notify that counted it returns.
    ///
    /// If none of a host's agents runs and this is `true`, then this agent waits forever, unless its wait has a timeout.
    pub fn is_queued(&self) -> bool {
        self.shared.interrupt.is_queued()
    }

    /// Rings the agent's doorbell, so that its event loop checks for work.
    ///
    /// # Panics
    /// If the agent's doorbell panics.
    pub fn ring(&self) {
        self.shared.inbox.ring();
    }

    /// Returns the agent's identity, unique in this process.
    pub fn id(&self) -> AgentId {
        self.shared.id
    }

    /// Returns the number by which a snapshot identifies the agent in its async waits (`waitword_core::observe::Actor::Agent`).
    pub fn inbox(&self) -> usize {
        self.shared.inbox.identity()
    }
}

impl fmt::Debug for AgentHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentHandle")
            .field("id", &self.id())
            .field("is_terminated", &self.is_terminated())
            .finish_non_exhaustive()
    }
}
