//! The storage of an agent's pending waits: chunks that never move, because queues point into them.
//!
//! A wait occupies one slot of a chunk, so a million waits need neither a million allocations nor a map. A new wait takes a
//! slot in the first chunk with a free one, and an empty chunk is freed. So the memory follows the number of pending waits; in the
//! worst case, when few of many are left, each of these keeps a whole chunk.
//!
//! A wait's node carries the number of its slot, and the inbox returns that number with the outcome.
//!
//! # Invariant
//! A wait is created in its slot, and stays there until it is dropped there. The chunk is not moved or freed before.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicI32, AtomicI64};
use waitword_core::time::Instant;

use waitword_core::{Inbox, InboxWait};

use crate::block::SharedBlock;
use crate::block_error::WordError;
use crate::block_word::BlockWord;
use crate::js_number::Expected;

/// The slots of a chunk: one per bit of `Chunk::taken`.
const SLOTS: usize = u32::BITS as usize;

/// The waits of one agent.
#[derive(Default)]
pub(crate) struct Slab {
    /// `None`: freed, and its number not reused yet.
    chunks: Vec<Option<Box<Chunk>>>,
    /// The numbers of the chunks with a free slot, freed chunks included.
    roomy: BTreeSet<usize>,
    len: usize,
}

struct Chunk {
    /// One bit for each slot that holds a wait.
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
    /// The number of waits.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Enqueues a wait on the word and returns its slot, or `None` if the word does not hold the expected value.
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

    /// Sets the deadline of a wait.
    pub(crate) fn set_deadline(&mut self, slot: usize, deadline: Instant) {
        if let Some(wait) = self.get_mut(slot) {
            wait.deadline = Some(deadline);
        }
    }

    /// Settles the wait as timed out, unless a notify has counted it. Returns whether it timed out.
    pub(crate) fn expire(&mut self, slot: usize) -> bool {
        self.node(slot).is_some_and(Node::expire)
    }

    /// Removes a wait from its queue or inbox, and from its slot.
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

    /// Creates a wait in a free slot. `node` receives the slot's number. Returns the slot.
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

    /// Private, because callers could move a wait that they reach by `&mut`.
    fn get_mut(&mut self, slot: usize) -> Option<&mut Pending> {
        self.chunks.get_mut(slot / SLOTS)?.as_mut()?.slots[slot % SLOTS].as_mut()
    }

    fn node(&mut self, slot: usize) -> Option<Pin<&mut Node>> {
        let wait = self.get_mut(slot)?;
        // SAFETY: the invariant: the wait does not move from its slot, nor the slot from its chunk.
        Some(unsafe { Pin::new_unchecked(&mut wait.node) })
    }

    /// Removes the freed chunks at the end of the list, so that their numbers are reused.
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

    /// Whether it has an outcome that the agent has not taken.
    pub(crate) fn is_settled(&self) -> bool {
        match &self.node {
            Node::I32(node) => node.is_completed(),
            Node::I64(node) => node.is_completed(),
        }
    }
}

impl Node {
    /// Enqueues the node if the word holds the expected value. Returns whether it did.
    fn enqueue(self: Pin<&mut Self>, expected: Expected) -> bool {
        // SAFETY: the node in the variant is pinned with the whole; nothing is moved.
        unsafe {
            match (self.get_unchecked_mut(), expected) {
                (Self::I32(node), Expected::I32(value)) => Pin::new_unchecked(node).enqueue(value),
                (Self::I64(node), Expected::I64(value)) => Pin::new_unchecked(node).enqueue(value),
                // Unreachable: the node was created for the same expected value.
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
