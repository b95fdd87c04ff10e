//! An agent's async waits: pending, due, settled.
//!
//! A pending wait is a pinned node that the agent owns (`slab.rs`). A notify moves it to the agent's inbox under the queue's lock, and
//! so does the agent when the deadline has passed. The order of the inbox is the order of settling. The agent takes each wait from the
//! inbox once, and frees it.

use std::collections::{BTreeSet, HashMap, HashSet};
use waitword_core::time::Instant;

use waitword_core::{Inbox, Outcome};

use crate::block::SharedBlock;
use crate::block_error::WordError;
use crate::js_number::{Expected, Timeout};
use crate::slab::{Pending, Slab};

/// The identity of an async wait within its agent. Ids increase in the order of the calls and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WaitId {
    call: u64,
    slot: usize,
}

impl WaitId {
    /// Returns a small number that no other wait of the agent has until this one is [`Settled`] or forgotten. It is reused then. A
    /// host can use it as an index into a list of its pending waits.
    pub fn slot(self) -> usize {
        self.slot
    }
}

/// A settled async wait. The host resolves its promise with [`Outcome::as_js`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settled {
    /// The wait.
    pub id: WaitId,
    /// [`Notified`](Outcome::Notified) or [`TimedOut`](Outcome::TimedOut).
    pub outcome: Outcome,
}

/// An async wait that the host has not [drained](crate::Agent::drain_settled) yet, settled or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PendingWait {
    /// The wait.
    pub id: WaitId,
    /// The [`SharedBlock::id`](crate::SharedBlock::id) of the word's block.
    pub block: usize,
    /// The word's offset in the block, in bytes.
    pub byte_index: usize,
    /// The deadline; `None` if it never times out.
    pub deadline: Option<Instant>,
}

/// The async waits of one agent: those pending, and those settled but not yet taken.
#[derive(Default)]
pub(crate) struct Waits {
    slab: Slab,
    /// The deadlines of the pending waits that have one.
    pub(crate) deadlines: BTreeSet<(Instant, WaitId)>,
    calls: u64,
    /// The number of waits after the last check for hopeless ones.
    looked_at: usize,
}

/// With fewer waits than this there is no check for hopeless ones, because a host may want to list them.
const FEW: usize = 1000;

impl Waits {
    pub(crate) fn len(&self) -> usize {
        self.slab.len()
    }

    /// Enqueues a wait if the word holds the expected value; `None` if not.
    pub(crate) fn add(
        &mut self,
        inbox: &Inbox,
        block: &SharedBlock,
        byte_index: usize,
        expected: Expected,
        timeout: Timeout,
    ) -> Result<Option<WaitId>, WordError> {
        let Some(slot) = self.slab.enqueue(inbox, block, byte_index, expected, self.calls + 1)? else {
            return Ok(None);
        };
        self.calls += 1;
        let id = WaitId { call: self.calls, slot };
        if let Some(deadline) = timeout.deadline() {
            self.slab.set_deadline(slot, deadline);
            self.deadlines.insert((deadline, id));
        }
        Ok(Some(id))
    }

    pub(crate) fn pending(&self) -> Vec<PendingWait> {
        let what = |(slot, wait): (usize, &Pending)| PendingWait {
            id: WaitId { call: wait.call, slot },
            block: wait.block().id(),
            byte_index: wait.byte_index(),
            deadline: wait.deadline,
        };
        let mut pending: Vec<_> = self.slab.iter().map(what).collect();
        pending.sort_unstable_by_key(|wait| wait.id);
        pending
    }

    pub(crate) fn forget_hopeless(&mut self) -> Vec<WaitId> {
        if self.slab.len() < FEW.max(2 * self.looked_at) {
            return Vec::new();
        }
        let mut own: HashMap<usize, usize> = HashMap::new();
        for (_, wait) in self.slab.iter() {
            *own.entry(wait.block().id()).or_default() += 1;
        }
        // If these nodes own all handles of a block, no other code can ever get one. Checked before any node is dropped.
        let lost: HashSet<usize> = self
            .slab
            .iter()
            .map(|(_, wait)| wait.block())
            .filter(|block| block.handles() == own[&block.id()])
            .map(SharedBlock::id)
            .collect();
        let is_hopeless = |wait: &Pending| {
            wait.deadline.is_none() && lost.contains(&wait.block().id()) && !wait.is_settled()
        };
        let forgotten: Vec<WaitId> = self
            .slab
            .iter()
            .filter(|(_, wait)| is_hopeless(wait))
            .map(|(slot, wait)| WaitId { call: wait.call, slot })
            .collect();
        for id in &forgotten {
            self.slab.remove(id.slot);
        }
        self.looked_at = self.slab.len();
        forgotten
    }

    /// Removes a wait that was taken from the inbox.
    pub(crate) fn take(&mut self, (slot, outcome): (usize, Outcome)) -> Option<Settled> {
        let &Pending { call, deadline, .. } = self.slab.get(slot)?;
        let id = WaitId { call, slot };
        if let Some(deadline) = deadline {
            self.deadlines.remove(&(deadline, id));
        }
        self.slab.remove(slot);
        self.looked_at = self.looked_at.min(self.slab.len());
        Some(Settled { id, outcome })
    }

    pub(crate) fn expire_due(&mut self, now: Instant) -> usize {
        let mut expired = 0;
        while let Some(&(deadline, id)) = self.deadlines.first() {
            if deadline > now {
                break;
            }
            self.deadlines.pop_first();
            expired += usize::from(self.slab.expire(id.slot));
        }
        expired
    }
}
