//! How an agent takes what became of its async waits: settled ones in the order of settling, due ones by the clock.
//!
//! The waits themselves are in `waits.rs`, and the nodes in `slab.rs`.

use waitword_core::time::Instant;

use crate::agent::Agent;
use crate::waits::{PendingWait, Settled, WaitId, Waits};

impl Agent {
    /// Takes the settled waits, one with each step of the iterator, in the order in which they were settled.
    ///
    /// The standard has a job of its own for each (HostEnqueueGenericJob): take one, resolve its promise, run all
    /// microtasks, take the next. What is settled meanwhile comes at the end.
    pub fn drain_settled(&self) -> impl Iterator<Item = Settled> + '_ {
        std::iter::from_fn(|| {
            // Left there only when a panic of foreign code cut a notify of this agent short.
            self.take_settled_here().or_else(|| {
                let mut waits = self.waits();
                // Under the lock: a wait is the inbox's, or the thread that abandons the agent drops it.
                waits.as_mut()?.take(self.inbox().pop()?)
            })
        })
    }

    /// Whether [`drain_settled`](Self::drain_settled) would yield something at this moment.
    pub fn has_settled(&self) -> bool {
        !self.inbox().is_empty()
    }

    /// When the earliest deadline of a pending wait is: the event loop sleeps until then at the longest.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.waits().as_ref()?.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// Settles the pending waits whose deadline is at or before `now`, which the clock must have reached, as
    /// [`TimedOut`](crate::Outcome), in the order of their deadlines, and after what was settled before. Returns how
    /// many these were: a wait that a notify counted meanwhile is not among them.
    pub fn expire_due(&self, now: Instant) -> usize {
        self.waits().as_mut().map_or(0, |waits| waits.expire_due(now))
    }

    /// The waits that nothing has settled, or whose outcome waits to be drained, in the order of the calls.
    pub fn pending(&self) -> Vec<PendingWait> {
        self.waits().as_ref().map(Waits::pending).unwrap_or_default()
    }

    /// Whether [`pending`](Self::pending) would have any. Costs the same however many there are.
    pub fn has_pending(&self) -> bool {
        self.waits().as_ref().is_some_and(|waits| waits.len() > 0)
    }

    /// Drops the pending waits that nothing can end any more: those without a deadline on a block which only pending waits of
    /// this agent still know. Their promises are never to be settled; the host lets go of them.
    ///
    /// A host calls this after each [`wait_async`](Self::wait_async). It looks only when the waits have doubled in number
    /// since it last did, and at a thousand first: so it costs O(1) for each wait, and of those that were lost in this way the
    /// agent never keeps more than twice as many as of the others, and a thousand.
    pub fn forget_hopeless(&self) -> Vec<WaitId> {
        self.waits().as_mut().map(Waits::forget_hopeless).unwrap_or_default()
    }

    /// Takes the next of this agent's waits that its own notify settled.
    pub(crate) fn take_settled_here(&self) -> Option<Settled> {
        let mut waits = self.waits();
        waits.as_mut()?.take(self.inbox().pop_here()?)
    }
}
