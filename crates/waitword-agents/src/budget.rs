//! How much memory an agent may hold: one counter for all memory that the agent allocates, whichever thread frees it.
//!
//! An engine's heap, the blocks that an agent created and the messages that it posted are charged to one budget. A [`Charge`]
//! travels with the memory it accounts for, and is refunded where that memory is freed, on any thread. Part of the budget is a
//! reserve for operations that must succeed when the rest is spent, such as throwing the out-of-memory error.
//!
//! The budgets of a program's agents can be parts of one budget for the whole program, which is then charged too.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A limit in bytes on the memory that an agent holds at a time, and a counter of what it holds.
///
/// ```
/// use waitword_agents::{MemoryBudget, SharedBlock};
///
/// let budget = MemoryBudget::new(1 << 20);
/// let block = SharedBlock::charged_to(&budget, 1 << 19)?;
/// assert!(SharedBlock::charged_to(&budget, 1 << 19).is_err(), "there is a reserve");
/// drop(block);
/// assert_eq!(budget.held(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MemoryBudget {
    /// A counter that publishes no other memory: all accesses are relaxed.
    held: AtomicUsize,
    limit: usize,
    reserve: usize,
    /// The budget of which this one is a part, which is charged with every byte charged here.
    whole: Option<Arc<Self>>,
    /// Bytes charged to `whole` in advance, which are used first.
    advance: AtomicUsize,
}

impl MemoryBudget {
    /// Creates a budget of `limit` bytes. An eighth of it is the reserve: at least 32 KiB and at most 256 KiB, but never more than half.
    pub fn new(limit: usize) -> Arc<Self> {
        Self::with_whole(limit, None)
    }

    /// Creates a budget of `limit` bytes as a part of `whole`, for one agent of several. What is charged to the part is charged to
    /// `whole` too, and refused if `whole` has too little left.
    ///
    /// ```
    /// use waitword_agents::MemoryBudget;
    ///
    /// let program = MemoryBudget::new(1 << 20);
    /// let agents = [(); 2].map(|()| MemoryBudget::part_of(&program, 1 << 20));
    /// assert!(agents[0].take(700 << 10) && !agents[1].take(700 << 10));
    /// assert_eq!((agents[1].held(), program.held()), (0, 700 << 10));
    /// ```
    pub fn part_of(whole: &Arc<Self>, limit: usize) -> Arc<Self> {
        Self::with_whole(limit, Some(Arc::clone(whole)))
    }

    /// Creates a [part](Self::part_of) of the budget to which `advance` is charged (the whole). The part first uses the bytes of the
    /// advance, and only then charges more to the whole. So these bytes are available whatever the other parts use, until the unused ones
    /// [are returned](Self::return_advance).
    pub fn with_advance(mut advance: Charge, limit: usize) -> Arc<Self> {
        let bytes = std::mem::take(&mut advance.bytes);
        let part = Self::part_of(&advance.budget, limit);
        part.advance.store(bytes, Ordering::Relaxed);
        part
    }

    /// Refunds the unused bytes of the [advance](Self::with_advance) to the whole.
    pub fn return_advance(&self) {
        let rest = self.advance.swap(0, Ordering::Relaxed);
        if let Some(whole) = &self.whole {
            whole.give_back(rest);
        }
    }

    fn with_whole(limit: usize, whole: Option<Arc<Self>>) -> Arc<Self> {
        let reserve = (limit / 8).clamp(32 << 10, 256 << 10).min(limit / 2);
        Arc::new(Self { held: AtomicUsize::new(0), limit, reserve, whole, advance: AtomicUsize::new(0) })
    }

    /// Charges `bytes` until the returned [`Charge`] is dropped. Returns `None`, and charges nothing, if they are not available outside
    /// the reserve.
    pub fn charge(self: &Arc<Self>, bytes: usize) -> Option<Charge> {
        self.take(bytes).then(|| Charge { budget: Arc::clone(self), bytes })
    }

    /// Charges `bytes` until they are [given back](Self::give_back). Returns `false`, and charges nothing, if they are not available
    /// outside the reserve.
    pub fn take(&self, bytes: usize) -> bool {
        self.take_of(|budget| budget.limit - budget.reserve, bytes)
    }

    /// Charges `bytes` as [`take`](Self::take) does, but may use the reserve.
    pub fn take_reserved(&self, bytes: usize) -> bool {
        self.take_of(|budget| budget.limit, bytes)
    }

    /// Charges `bytes` even beyond the limit: for memory that is already allocated, or that cannot be refused.
    pub fn take_anyway(&self, bytes: usize) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        self.take_of_whole(bytes);
    }

    /// Charges `bytes` only to the budget of which this is a [part](Self::part_of), if there is one, and even beyond its limit: for memory
    /// that belongs to no script.
    pub fn take_of_whole(&self, bytes: usize) {
        if let Some(whole) = &self.whole {
            whole.take_anyway(bytes - self.draw(bytes));
        }
    }

    /// Refunds `bytes` charged by [`take_of_whole`](Self::take_of_whole).
    pub fn give_back_to_whole(&self, bytes: usize) {
        if let Some(whole) = &self.whole {
            whole.give_back(bytes);
        }
    }

    /// Refunds `bytes` charged by [`take`](Self::take), [`take_reserved`](Self::take_reserved) or [`take_anyway`](Self::take_anyway).
    pub fn give_back(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
        self.give_back_to_whole(bytes);
    }

    /// Returns how many bytes are charged now.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Returns the limit in bytes, reserve included.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns whether the reserve has been touched, in this budget or in the whole.
    pub fn is_spent(&self) -> bool {
        self.held() > self.limit - self.reserve || self.whole.as_ref().is_some_and(|whole| whole.is_spent())
    }

    /// Returns how many bytes are charged beyond the limit, in this budget or in the whole, whichever is more.
    pub fn overdraft(&self) -> usize {
        let whole = self.whole.as_ref().map_or(0, |whole| whole.overdraft());
        self.held().saturating_sub(self.limit).max(whole)
    }

    /// Charges this budget and the whole, unless either would then hold more than `most` of it.
    fn take_of(&self, most: fn(&Self) -> usize, bytes: usize) -> bool {
        let add = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= most(self));
        if self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_err() {
            return false;
        }
        let Some(whole) = &self.whole else { return true };
        let drawn = self.draw(bytes);
        let is_left = whole.take_of(most, bytes - drawn);
        if !is_left {
            self.advance.fetch_add(drawn, Ordering::Relaxed);
            self.held.fetch_sub(bytes, Ordering::Relaxed);
        }
        is_left
    }

    /// Takes up to `bytes` from the advance. Returns how many.
    fn draw(&self, bytes: usize) -> usize {
        let take = |advance: usize| (advance > 0).then(|| advance - advance.min(bytes));
        let before = self.advance.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        before.map_or(0, |before| before.min(bytes))
    }
}

impl Drop for MemoryBudget {
    fn drop(&mut self) {
        self.return_advance();
    }
}

/// Bytes charged to a [`MemoryBudget`]. Dropping the charge refunds them.
#[derive(Debug)]
#[must_use = "dropping the charge refunds it"]
pub struct Charge {
    budget: Arc<MemoryBudget>,
    bytes: usize,
}

impl Charge {
    /// Charges `bytes` more. Returns `false`, and leaves the charge as it was, if the budget has too little left.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let taken = self.budget.take(bytes);
        self.bytes += if taken { bytes } else { 0 };
        taken
    }

    /// Charges the same number of bytes to the same budget once more. Returns `None`, and charges nothing, if it has too little left.
    pub fn again(&self) -> Option<Self> {
        self.budget.charge(self.bytes)
    }

    /// Charges `bytes` to the same budget, even beyond its limit.
    pub fn extra(&self, bytes: usize) -> Self {
        self.budget.take_anyway(bytes);
        Self { budget: Arc::clone(&self.budget), bytes }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_for_requests_that_ask_for_it() {
        let budget = MemoryBudget::new(800);
        let most = budget.charge(400).unwrap();
        assert!(budget.charge(1).is_none() && !budget.is_spent());
        assert!(budget.take_reserved(400) && budget.is_spent() && !budget.take_reserved(1));
        budget.give_back(400);
        assert!(!budget.is_spent());
        drop(most);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn charges_grow_as_far_as_there_is_room() {
        let budget = MemoryBudget::new(800);
        let mut charge = budget.charge(100).unwrap();
        assert!(charge.again().is_some(), "and given back at once");
        assert!(charge.grow(300) && !charge.grow(1) && charge.again().is_none());
        assert_eq!(budget.held(), 400);
        drop(charge);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn what_a_part_takes_is_taken_from_the_whole_or_not_at_all() {
        let whole = MemoryBudget::new(800);
        let parts = [MemoryBudget::part_of(&whole, usize::MAX), MemoryBudget::part_of(&whole, 400)];
        let charge = parts[0].charge(300).unwrap();
        assert!(parts[1].charge(101).is_none(), "the whole keeps 400 back");
        assert_eq!((parts[1].held(), whole.held()), (0, 300));
        assert!(parts[1].take_reserved(350) && !parts[1].take_reserved(51), "its own limit");
        assert!(parts[0].is_spent() && parts[0].overdraft() == 0);
        parts[1].take_anyway(200);
        assert_eq!((parts[0].overdraft(), parts[1].overdraft()), (50, 150));
        parts[1].give_back(550);
        drop(charge);
        assert_eq!((parts[0].held(), parts[1].held(), whole.held()), (0, 0, 0));
    }

    #[test]
    fn an_advance_is_there_whatever_others_take() {
        let whole = MemoryBudget::new(800);
        let part = MemoryBudget::with_advance(whole.charge(200).unwrap(), 300);
        assert!(whole.take(200) && !whole.take(1));
        part.take_of_whole(50);
        assert!(part.take(100) && !part.take(51), "no more than the rest");
        assert_eq!((part.held(), whole.held()), (100, 400));
        assert!(part.take(10));
        part.return_advance();
        assert_eq!((part.held(), whole.held()), (110, 360));
        part.give_back(110);
        part.give_back_to_whole(50);
        assert_eq!(whole.held(), 200);
        let unused = MemoryBudget::with_advance(whole.charge(100).unwrap(), 300);
        drop(unused);
        assert_eq!(whole.held(), 200);
    }

    #[test]
    fn a_sum_that_overflows_is_too_much() {
        let budget = MemoryBudget::new(usize::MAX);
        assert!(budget.take(1) && !budget.take(usize::MAX));
        assert_eq!(budget.held(), 1);
    }
}
