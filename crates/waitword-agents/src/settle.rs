//! An agent's async waits: pending, due, settled.
//!
//! A pending wait is a pinned node that the agent owns. A notify moves it to the agent's inbox while it holds the lock of
//! the queue, and so does the agent when it finds the deadline passed; the inbox's order is the order of settling. The
//! agent takes it from there, once, and frees it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::pin::Pin;
use std::time::Instant;

use waitword_core::{Inbox, InboxWait, Outcome, Word};

use crate::agent::Agent;
use crate::block::{BlockWord, SharedBlock};
use crate::js_number::Timeout;

/// Names an async wait of one agent. Rising in the order of the calls, never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WaitId(u64);

/// An async wait that has ended: its promise is to be resolved with [`Outcome::as_js`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settled {
    /// Which wait.
    pub id: WaitId,
    /// [`Notified`](Outcome::Notified) or [`TimedOut`](Outcome::TimedOut).
    pub outcome: Outcome,
}

/// An async wait whose outcome the agent has not taken yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PendingWait {
    /// Which wait.
    pub id: WaitId,
    /// The [`SharedBlock::id`](crate::SharedBlock::id) of the block that it waits in.
    pub block: usize,
    /// Where in the block its word begins.
    pub byte_index: usize,
    /// When it times out; `None`: never.
    pub deadline: Option<Instant>,
}

impl Agent {
    /// Takes the settled waits, one with each step of the iterator, in the order in which they were settled.
    ///
    /// The standard has a job of its own for each (HostEnqueueGenericJob): take one, resolve its promise, run all
    /// microtasks, take the next. What is settled meanwhile comes at the end.
    pub fn drain_settled(&self) -> impl Iterator<Item = Settled> + '_ {
        std::iter::from_fn(|| {
            // Left there only when a panic of foreign code cut a notify of this agent short.
            self.take_settled_here().or_else(|| {
                let popped = self.inbox().pop()?;
                self.waits.borrow_mut().take(popped)
            })
        })
    }

    /// Whether [`drain_settled`](Self::drain_settled) would yield something at this moment.
    pub fn has_settled(&self) -> bool {
        !self.inbox().is_empty()
    }

    /// When the earliest deadline of a pending wait is: the event loop sleeps until then at the longest.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.waits.borrow().deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// Settles the pending waits whose deadline is at or before `now`, which the clock must have reached, as
    /// [`TimedOut`](Outcome::TimedOut), in the order of their deadlines, and after what was settled before. Returns how
    /// many these were: a wait that a notify counted meanwhile is not among them.
    pub fn expire_due(&self, now: Instant) -> usize {
        self.waits.borrow_mut().expire_due(now)
    }

    /// The waits that nothing has settled, or whose outcome waits to be drained, in the order of the calls.
    pub fn pending(&self) -> Vec<PendingWait> {
        let waits = self.waits.borrow();
        let mut pending: Vec<_> = waits.by_token.values().map(|wait| wait.what).collect();
        pending.sort_unstable_by_key(|wait| wait.id);
        pending
    }

    /// Drops the pending waits that nothing can end any more: those without a deadline on a block which only pending waits of
    /// this agent still know. Their promises are never to be settled; the host lets go of them.
    ///
    /// A host calls this after each [`wait_async`](Self::wait_async). It looks only when the waits have doubled in number
    /// since it last did, and at a thousand first: so it costs O(1) for each wait, and of those that were lost in this way the
    /// agent never keeps more than twice as many as of the others, and a thousand.
    pub fn forget_hopeless(&self) -> Vec<WaitId> {
        self.waits.borrow_mut().forget_hopeless()
    }

    /// Takes the next of this agent's waits that its own notify settled.
    pub(crate) fn take_settled_here(&self) -> Option<Settled> {
        let popped = self.inbox().pop_here()?;
        self.waits.borrow_mut().take(popped)
    }
}

/// The pending waits of one agent, and those settled but not taken.
#[derive(Default)]
pub(crate) struct Waits {
    by_token: HashMap<usize, Wait>,
    /// Of the pending ones that have a deadline: the deadline and the token.
    deadlines: BTreeSet<(Instant, (WaitId, usize))>,
    calls: u64,
    /// How many there were after the last look for hopeless ones.
    looked_at: usize,
}

/// With fewer waits than this, nobody looks for hopeless ones: a host may want to name them.
const FEW: usize = 1000;

struct Wait {
    what: PendingWait,
    node: Pin<Box<dyn Node>>,
}

/// An `InboxWait` on a word of either kind.
trait Node {
    fn expire(self: Pin<&mut Self>) -> bool;
    fn is_settled(&self) -> bool;
    fn block(&self) -> &SharedBlock;
}

impl<W: Word> Node for InboxWait<BlockWord<W>> {
    fn expire(self: Pin<&mut Self>) -> bool {
        InboxWait::expire(self)
    }

    fn is_settled(&self) -> bool {
        InboxWait::is_settled(self)
    }

    fn block(&self) -> &SharedBlock {
        self.location().block()
    }
}

impl Waits {
    pub(crate) fn len(&self) -> usize {
        self.by_token.len()
    }

    /// Enqueues a wait, unless the word is not equal.
    pub(crate) fn add<W: Word + 'static>(
        &mut self,
        inbox: &Inbox,
        at: BlockWord<W>,
        expected: W::Value,
        timeout: Timeout,
    ) -> Option<WaitId> {
        let (block, byte_index) = (at.block().id(), at.byte_index());
        let mut node = Box::pin(InboxWait::new(inbox, at));
        if !node.as_mut().enqueue(expected) {
            return None;
        }
        let deadline = timeout.deadline();
        self.calls += 1;
        let (id, token) = (WaitId(self.calls), node.token());
        self.deadlines.extend(deadline.map(|deadline| (deadline, (id, token))));
        self.by_token.insert(token, Wait { what: PendingWait { id, block, byte_index, deadline }, node });
        Some(id)
    }

    fn forget_hopeless(&mut self) -> Vec<WaitId> {
        if self.by_token.len() < FEW.max(2 * self.looked_at) {
            return Vec::new();
        }
        let mut own: HashMap<usize, usize> = HashMap::new();
        for wait in self.by_token.values() {
            *own.entry(wait.what.block).or_default() += 1;
        }
        // If all handles of a block are in these nodes, nobody else can ever get one. Looked at before any node is dropped.
        let is_lost = |wait: &Wait| wait.node.block().handles() == own[&wait.what.block];
        let lost: HashSet<usize> =
            self.by_token.values().filter(|wait| is_lost(wait)).map(|wait| wait.what.block).collect();
        let mut forgotten = Vec::new();
        self.by_token.retain(|_, Wait { what, node }| {
            let is_hopeless = what.deadline.is_none() && lost.contains(&what.block) && !node.is_settled();
            forgotten.extend(is_hopeless.then_some(what.id));
            !is_hopeless
        });
        self.looked_at = self.by_token.len();
        self.shrink();
        forgotten
    }

    /// Forgets a wait that came out of the inbox.
    fn take(&mut self, (token, outcome): (usize, Outcome)) -> Option<Settled> {
        let PendingWait { id, deadline, .. } = self.by_token.remove(&token)?.what;
        if let Some(deadline) = deadline {
            self.deadlines.remove(&(deadline, (id, token)));
        }
        self.shrink();
        Some(Settled { id, outcome })
    }

    /// A hash map never shrinks by itself, and an agent may live long after a crowd.
    fn shrink(&mut self) {
        let waits = self.by_token.len() + 16;
        if self.by_token.capacity() > 4 * waits {
            self.by_token.shrink_to(2 * waits);
        }
        self.looked_at = self.looked_at.min(self.by_token.len());
    }

    fn expire_due(&mut self, now: Instant) -> usize {
        let mut expired = 0;
        while let Some(&(deadline, (_, token))) = self.deadlines.first() {
            if deadline > now {
                break;
            }
            self.deadlines.pop_first();
            let wait = self.by_token.get_mut(&token);
            expired += usize::from(wait.is_some_and(|wait| wait.node.as_mut().expire()));
        }
        expired
    }
}
