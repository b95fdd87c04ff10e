//! Where an agent's pending waits lie: in chunks that never move, for queues point into them.
//!
//! A wait is one slot of a chunk, so a million of them are neither a million allocations nor entries of a map beside. New
//! waits go to the first chunk that has room, and a chunk without a wait is freed: what is kept follows what is pending,
//! down to a chunk for a wait where few are left of many.
//!
//! A wait's node carries the number of its slot, and the inbox gives that back with the outcome.
//!
//! # Invariant
//! A slot's wait is made in its slot, and stays there until it is dropped there. The chunk is not moved or freed before.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicI32, AtomicI64};
use waitword_core::time::Instant;

use waitword_core::{Inbox, InboxWait};

use crate::block::SharedBlock;
use crate::block_error::WordError;
use crate::block_word::BlockWord;
use crate::js_number::Expected;

/// Waits of a chunk. Its bits are those of `Chunk::taken`.
const SLOTS: usize = u32::BITS as usize;

/// The waits of one agent.
#[derive(Default)]
pub(crate) struct Slab {
    /// `None`: freed, and its number not used again yet.
    chunks: Vec<Option<Box<Chunk>>>,
    /// The numbers of those that have room, the freed ones among them.
    roomy: BTreeSet<usize>,
    len: usize,
}

struct Chunk {
    /// A bit for each slot that has a wait.
    taken: u32,
    slots: [Option<Pending>; SLOTS],
}

/// A wait in its slot.
pub(crate) struct Pending {
    /// The number of the call that made it.
    pub(crate) call: u64,
    pub(crate) deadline: Option<Instant>,
    node: Node,
}

/// The node in the queue, on a word of either size.
enum Node {
    I32(InboxWait<BlockWord<AtomicI32>>),
    I64(InboxWait<BlockWord<AtomicI64>>),
}

impl Slab {
    /// How many waits there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Puts a wait on the word into a slot and into the queue, unless the word has another value than it expects. Returns
    /// the slot.
    pub(crate) fn enqueue(
        &mut self,
        inbox: &Inbox,
        block: &SharedBlock,
        byte_index: usize,
        expected: Expected,
        call: u64,
    ) -> Result<Option<usize>, WordError> {
        let slot = match expected {
            Expected::I32(_) => {
                let word = block.i32(byte_index)?;
                self.put(call, |slot| Node::I32(InboxWait::new(inbox, word, slot)))
            }
            Expected::I64(_) => {
                let word = block.i64(byte_index)?;
                self.put(call, |slot| Node::I64(InboxWait::new(inbox, word, slot)))
            }
        };
        if self.node(slot).is_some_and(|node| node.enqueue(expected)) {
            return Ok(Some(slot));
        }
        self.remove(slot);
        Ok(None)
    }

    /// The wait in a slot.
    pub(crate) fn get(&self, slot: usize) -> Option<&Pending> {
        self.chunks.get(slot / SLOTS)?.as_ref()?.slots[slot % SLOTS].as_ref()
    }

    /// Notes when the wait is to end.
    pub(crate) fn set_deadline(&mut self, slot: usize, deadline: Instant) {
        if let Some(wait) = self.get_mut(slot) {
            wait.deadline = Some(deadline);
        }
    }

    /// Settles the wait as timed out, unless a notify has counted it. Returns whether it did.
    pub(crate) fn expire(&mut self, slot: usize) -> bool {
        self.node(slot).is_some_and(Node::expire)
    }

    /// Takes a wait out of its queue or inbox, and out of its slot.
    pub(crate) fn remove(&mut self, slot: usize) {
        let number = slot / SLOTS;
        let Some(Some(chunk)) = self.chunks.get_mut(number) else { return };
        let bit = 1 << (slot % SLOTS);
        if chunk.taken & bit == 0 {
            return;
        }
        // Dropped in its place.
        chunk.slots[slot % SLOTS] = None;
        chunk.taken &= !bit;
        self.len -= 1;
        self.roomy.insert(number);
        if chunk.taken == 0 {
            self.chunks[number] = None;
            self.forget_the_last_ones();
        }
    }

    /// The waits, each with its slot.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Pending)> {
        let chunks =
            self.chunks.iter().enumerate().filter_map(|(number, chunk)| Some((number, chunk.as_ref()?)));
        chunks.flat_map(|(number, chunk)| {
            let slots = chunk.slots.iter().enumerate();
            slots.filter_map(move |(place, wait)| Some((number * SLOTS + place, wait.as_ref()?)))
        })
    }

    /// Makes the node of a wait in a free slot, whose number it is given. Returns the slot.
    fn put(&mut self, call: u64, node: impl FnOnce(usize) -> Node) -> usize {
        let number = self.roomy.first().copied().unwrap_or_else(|| {
            self.chunks.push(None);
            self.roomy.insert(self.chunks.len() - 1);
            self.chunks.len() - 1
        });
        let chunk = self.chunks[number]
            .get_or_insert_with(|| Box::new(Chunk { taken: 0, slots: [const { None }; SLOTS] }));
        let place = chunk.taken.trailing_ones() as usize;
        let slot = number * SLOTS + place;
        chunk.slots[place] = Some(Pending { call, deadline: None, node: node(slot) });
        chunk.taken |= 1 << place;
        if chunk.taken == u32::MAX {
            self.roomy.remove(&number);
        }
        self.len += 1;
        slot
    }

    /// Not for others: what they have by `&mut`, they could move.
    fn get_mut(&mut self, slot: usize) -> Option<&mut Pending> {
        self.chunks.get_mut(slot / SLOTS)?.as_mut()?.slots[slot % SLOTS].as_mut()
    }

    fn node(&mut self, slot: usize) -> Option<Pin<&mut Node>> {
        let wait = self.get_mut(slot)?;
        // SAFETY: the invariant: the wait does not move from its slot, nor the slot from its chunk.
        Some(unsafe { Pin::new_unchecked(&mut wait.node) })
    }

    /// Gives numbers back, from the end.
    fn forget_the_last_ones(&mut self) {
        while let Some(None) = self.chunks.last() {
            self.chunks.pop();
            self.roomy.remove(&self.chunks.len());
        }
        if self.chunks.capacity() > 4 * self.chunks.len() + 16 {
            self.chunks.shrink_to(2 * self.chunks.len());
        }
    }
}

impl Pending {
    pub(crate) fn block(&self) -> &SharedBlock {
        match &self.node {
            Node::I32(node) => node.location().block(),
            Node::I64(node) => node.location().block(),
        }
    }

    pub(crate) fn byte_index(&self) -> usize {
        match &self.node {
            Node::I32(node) => node.location().byte_index(),
            Node::I64(node) => node.location().byte_index(),
        }
    }

    /// Whether it has an outcome that nobody has taken.
    pub(crate) fn is_settled(&self) -> bool {
        match &self.node {
            Node::I32(node) => node.is_completed(),
            Node::I64(node) => node.is_completed(),
        }
    }
}

impl Node {
    /// Whether the word was as expected, so that it stands in the queue now.
    fn enqueue(self: Pin<&mut Self>, expected: Expected) -> bool {
        // SAFETY: the node in the variant is pinned with the whole; nothing is moved.
        unsafe {
            match (self.get_unchecked_mut(), expected) {
                (Self::I32(node), Expected::I32(value)) => Pin::new_unchecked(node).enqueue(value),
                (Self::I64(node), Expected::I64(value)) => Pin::new_unchecked(node).enqueue(value),
                // Made for the same expectation a moment ago.
                _ => false,
            }
        }
    }

    fn expire(self: Pin<&mut Self>) -> bool {
        // SAFETY: as in `enqueue`.
        unsafe {
            match self.get_unchecked_mut() {
                Self::I32(node) => Pin::new_unchecked(node).expire(),
                Self::I64(node) => Pin::new_unchecked(node).expire(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(wait: &Pending) -> usize {
        match &wait.node {
            Node::I32(node) => node.token(),
            Node::I64(node) => node.token(),
        }
    }

    fn check(slab: &Slab, slots: &BTreeSet<usize>) {
        assert_eq!(slab.len(), slots.len());
        assert_eq!(slab.iter().map(|(slot, _)| slot).collect::<BTreeSet<_>>(), *slots);
        for (slot, wait) in slab.iter() {
            assert_eq!(token(wait), slot);
            assert_eq!(slab.get(slot).map(|wait| wait.call), Some(wait.call));
        }
    }

    #[test]
    fn nodes_carry_their_slots_which_are_used_again_and_given_back() {
        let (inbox, block) = (Inbox::new(|| {}), SharedBlock::new(16).unwrap());
        let (mut slab, mut slots) = (Slab::default(), BTreeSet::new());
        let add = |slab: &mut Slab, slots: &mut BTreeSet<usize>, call| {
            let expected = if call % 2 == 0 { Expected::I32(0) } else { Expected::I64(0) };
            let slot = slab.enqueue(&inbox, &block, 8, expected, call).unwrap().unwrap();
            assert!(slots.insert(slot), "slot {slot} was taken");
        };
        for call in 0..200 {
            add(&mut slab, &mut slots, call);
        }
        assert_eq!(slots, (0..200).collect());
        check(&slab, &slots);
        // In no order, and every third stays.
        for slot in (0..200).map(|n| n * 37 % 200).filter(|slot| slot % 3 != 0) {
            slab.remove(slot);
            slots.remove(&slot);
        }
        check(&slab, &slots);
        assert_eq!(block.table().waiters(&*block.i32(8).unwrap()), slots.len());
        for call in 200..333 {
            add(&mut slab, &mut slots, call);
        }
        assert_eq!(slots, (0..200).collect());
        check(&slab, &slots);
        // A chunk in the middle, and then all.
        for slot in (64..96).chain(0..64).chain(96..200) {
            slab.remove(slot);
            slab.remove(slot);
            slots.remove(&slot);
            check(&slab, &slots);
        }
        assert!(slab.chunks.is_empty() && slab.roomy.is_empty());
        assert_eq!(block.table().waiters(&*block.i32(8).unwrap()), 0);
    }

    #[test]
    fn what_does_not_wait_takes_no_slot() {
        let (inbox, block) = (Inbox::new(|| {}), SharedBlock::new(16).unwrap());
        let mut slab = Slab::default();
        assert_eq!(slab.enqueue(&inbox, &block, 0, Expected::I32(1), 1), Ok(None));
        assert!(slab.enqueue(&inbox, &block, 12, Expected::I64(0), 1).is_err());
        assert_eq!((slab.len(), slab.chunks.len()), (0, 0));
    }
}
