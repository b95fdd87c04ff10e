//! A hierarchical timing wheel of deadlines whose nodes live in the pinned futures that wait for them.
//!
//! Hashed and hierarchical timing wheels are due to Varghese and Lauck (1987). This one counts ticks of 32 ns, in digits
//! of eight bits. A level has 256 buckets: those of level 0 are a tick wide, those of every other are as wide as
//! all of the level below. Level 7 reaches the end of 64 bits.
//!
//! ```text
//!   level     0       1         2        3        4         5        6          7
//!   bucket    32 ns   8.2 µs    2.1 ms   0.54 s   137 s     9.8 h    104 days   73 years
//!                                                 ▲
//!                                 a deadline in ten minutes enters here, in the bucket of its 137 s,
//!             ◄───────────────────────────────────┘ and moves when the time of its bucket begins
//! ```
//!
//! **Where a node is.** A deadline enters at the finest level whose 256 buckets, counted from the wheel's `hand`, reach it. To set or clear
//! it is to link or unlink it in a list: O(1), whatever else waits. When the time of a bucket begins, it is split: what is not due in it
//! moves to a finer level. A split that comes late finds more that is due, so a timer that falls behind moves less. A node moves seven
//! times at most, and usually far less often. Few deadlines are minutes away, and those that were set more than 34 ms ahead are rounded up
//! (`deadlines.rs`) to the beginning of a bucket of level 2. So a timeout of up to half a second does not move at all, and one of up to two
//! minutes once.
//!
//! **Never early, and on time.** A node is handed out only after its own deadline is compared with the clock; the buckets decide when to
//! check, and never which node is due. To sleep until exactly the next deadline, its bucket is searched, if it holds few nodes. If it holds
//! many, the timer sleeps until the bucket's time begins, which is not later than any deadline in it, and then splits it; the first of
//! these nodes may have to wait for the split. Nodes that are due together come bucket by bucket, and within a bucket as they entered it,
//! not sorted.
//!
//! **The lock is held only briefly.** Every function requires that the caller holds the timer's lock, which owns the links of all nodes in
//! the wheel; every task of the process that sets or clears a deadline needs that lock. So [`Wheel::turn`] handles no more nodes than its
//! caller allows, and a split of a bucket with a million nodes continues in the next turn. In between the wheel is consistent: the hand
//! stands at the beginning of the bucket, so the rest of the bucket still is the earliest, and what is set meanwhile goes to the finer
//! levels.
//!
//! **Memory.** Intrusive, because a wait allocates nothing and the memory of a cleared deadline is free at once. The buckets are 32 KiB of
//! zeros for the process, in pages that are not touched until a deadline comes to their level.
//!
//! An earlier version used a pairing heap. It always knows the earliest node, and setting and clearing a single node is a few nanoseconds
//! cheaper. But its removals follow links through nodes that left the cache long ago: with a million nodes, firing was ten times and
//! clearing eight times as expensive as here. And the first removal after many insertions visits all of them, under the lock.

use std::ptr::NonNull;
use std::task::Waker;

use crate::sync::fork::Owner;

type Link = Option<NonNull<Node>>;

/// A deadline, in the wheel or out of it.
#[derive(Debug)]
pub(crate) struct Node {
    /// When it rings, in ticks of the timer's clock. Not changed while in the wheel.
    deadline: u64,
    next: Link,
    prev: Link,
    /// By how much it was rounded up, so that a node that is set once more for the same time stays where it is.
    rounded_by: u32,
    /// The bucket that it is in.
    place: Place,
    pub(crate) waker: Option<Waker>,
    /// The thread that set it last.
    pub(crate) owner: Owner,
}

impl Node {
    pub(crate) const fn new() -> Self {
        Self {
            deadline: 0,
            next: None,
            prev: None,
            rounded_by: 0,
            place: Place::NOWHERE,
            waker: None,
            owner: Owner::nobody(),
        }
    }

    /// Makes a node that is not in the wheel ring at `rings`, because it was set for `deadline`.
    pub(crate) fn set_time(&mut self, deadline: u64, rings: u64) {
        self.deadline = rings;
        self.rounded_by = (rings - deadline) as u32;
    }

    /// Whether it is in the wheel and was set for this time.
    pub(crate) fn is_set_for(&self, deadline: u64) -> bool {
        self.place != Place::NOWHERE && self.deadline - u64::from(self.rounded_by) == deadline
    }
}

/// Part of every future that waits with a deadline: the deadline, two links and a place, the waker, and the owner.
const _: () = assert!(size_of::<Node>() <= 56);

/// The wheel. An empty one is all zeros, so that a static one takes no space in the program's file.
///
/// Invariants:
/// - W1: a bucket with a node stands for one stretch of time, whose number at its level is `time >> (BITS * level)`. It
///   is not before that of the hand and less than `SLOTS` after it, so the slot, its last digit, stands for no other.
/// - W2: the deadline of a node is in the time of its bucket; or before it, if it was late when it entered.
/// - W3: the hand is in the time of no bucket above level 0 that has a node, except that it stands at the beginning of
///   those that are being split, or are next to be.
/// - W4: a bucket's bit in `occupied` is set if and only if its list has a node.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// No bucket's time begins before it.
    hand: u64,
    occupied: Bits,
    lists: [List; PLACES],
}

// SAFETY: the nodes are accessed only by the holder of the timer's lock.
unsafe impl Send for Wheel {}

/// Bits of a digit.
const BITS: u32 = 8;
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = (u64::BITS / BITS) as usize;
const PLACES: usize = LEVELS * SLOTS;

impl Wheel {
    pub(crate) const fn new() -> Self {
        const EMPTY: List = List { first: None, last: None };
        Self { hand: 0, occupied: Bits([0; PLACES / WORD]), lists: [EMPTY; PLACES] }
    }

    /// # Safety
    /// The caller holds the lock; `node` is alive, stays where it is until removed, and is not linked.
    pub(crate) unsafe fn insert(&mut self, mut node: NonNull<Node>) {
        // SAFETY: as the caller guarantees.
        let place = self.place(unsafe { node.as_ref() }.deadline);
        self.occupied.insert(place);
        // SAFETY: as above, and it goes into one list.
        unsafe {
            node.as_mut().place = place;
            self.list(place).push(node);
        }
    }

    /// # Safety
    /// The caller holds the lock; `node` is alive. If it is linked, it is in this wheel.
    pub(crate) unsafe fn remove(&mut self, mut node: NonNull<Node>) {
        // SAFETY: alive, as the caller guarantees.
        let place = std::mem::replace(&mut unsafe { node.as_mut() }.place, Place::NOWHERE);
        // There is no list for `NOWHERE`.
        let Some(list) = self.lists.get_mut(usize::from(place.0)) else { return };
        // SAFETY: its place says that it is in this list, whose nodes are alive and belong to the lock.
        unsafe { list.remove(node) };
        if list.first.is_none() {
            self.occupied.remove(place);
        }
    }

    /// Advances to `now`: takes out the nodes that are due, and hands them to `due`. Handles `steps` nodes at most; the rest is left to the
    /// next turn.
    ///
    /// Returns when that should be: not after the earliest deadline, and at `now` if not all is done; `None` if nothing
    /// is left.
    ///
    /// # Safety
    /// The caller holds the lock; the nodes in the wheel are alive.
    pub(crate) unsafe fn turn(
        &mut self,
        now: u64,
        mut steps: usize,
        mut due: impl FnMut(NonNull<Node>),
    ) -> Option<u64> {
        while let Some(bucket) = self.earliest().filter(|bucket| bucket.begin <= now) {
            // From here on what is set for the time of this bucket goes to the finer levels, as its own nodes do.
            self.hand = bucket.begin;
            while let Some(node) = self.list(bucket.place).first {
                if steps == 0 {
                    return Some(now);
                }
                steps -= 1;
                // SAFETY: linked, so alive, in this wheel and the lock's.
                unsafe {
                    self.remove(node);
                    if node.as_ref().deadline <= now {
                        due(node);
                    } else {
                        self.insert(node);
                    }
                }
            }
        }
        self.hand = self.hand.max(now);
        self.next()
    }

    /// Takes out the nodes of other threads, in the child of a fork.
    ///
    /// # Safety
    /// The caller holds the lock; the nodes in the wheel are alive.
    #[cfg(all(unix, not(waitword_loom)))]
    pub(crate) unsafe fn keep_own(&mut self) {
        for place in 0..PLACES {
            let mut link = self.lists[place].first;
            while let Some(node) = link {
                // SAFETY: linked, so alive, in this wheel and the lock's.
                unsafe {
                    link = node.as_ref().next;
                    if !node.as_ref().owner.is_here() {
                        self.remove(node);
                    }
                }
            }
        }
    }

    /// The earliest deadline, or a time before it if the deadline would take long to find.
    fn next(&self) -> Option<u64> {
        /// How many nodes are searched. A check in vain costs more than that, with the sleep around it.
        const SEARCH: usize = 32;
        let mut left = SEARCH;
        let mut next: Option<u64> = None;
        // A coarser bucket may begin before the deadlines of a finer one, and hold an earlier one.
        for bucket in (0..LEVELS).filter_map(|level| self.first(level)) {
            if next.is_some_and(|next| next <= bucket.begin) {
                continue;
            }
            let mut link = self.lists[usize::from(bucket.place.0)].first;
            while let Some(node) = link {
                if left == 0 {
                    next = Some(bucket.begin);
                    break;
                }
                left -= 1;
                // SAFETY: linked, so alive and the lock's.
                let node = unsafe { node.as_ref() };
                next = Some(next.map_or(node.deadline, |next| next.min(node.deadline)));
                if next <= Some(bucket.begin) {
                    // There is no earlier one in it.
                    break;
                }
                link = node.next;
            }
        }
        next
    }

    /// The bucket whose time begins first. Among several, any: the hand stays until all of them are done.
    fn earliest(&self) -> Option<Bucket> {
        (0..LEVELS).filter_map(|level| self.first(level)).min_by_key(|bucket| bucket.begin)
    }

    /// The first bucket of a level that has a node.
    fn first(&self, level: usize) -> Option<Bucket> {
        let hand = number(self.hand, level);
        let distance = self.occupied.first_from(Place::new(level, hand))?;
        let number = hand + u64::from(distance);
        Some(Bucket { place: Place::new(level, number), begin: number << (BITS * level as u32) })
    }

    /// Where a deadline belongs.
    fn place(&self, deadline: u64) -> Place {
        // What is late already is due with the next turn.
        let time = deadline.max(self.hand);
        let reaches = |level| number(time, level) - number(self.hand, level) < SLOTS as u64;
        // That level, or the next: a span of 256 bucket widths may touch 257 buckets.
        let mut level = ((time - self.hand) | 1).ilog2() / BITS;
        if !reaches(level as usize) {
            level += 1;
        }
        Place::new(level as usize, number(time, level as usize))
    }

    fn list(&mut self, place: Place) -> &mut List {
        &mut self.lists[usize::from(place.0)]
    }
}

/// The number of the bucket of `level` that `time` falls in.
fn number(time: u64, level: usize) -> u64 {
    time >> (BITS * level as u32)
}

/// The number of a bucket: its level and its slot.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place(u16);

impl Place {
    /// Where a node is that is in no bucket.
    const NOWHERE: Self = Self(PLACES as u16);

    fn new(level: usize, number: u64) -> Self {
        Self((level << BITS) as u16 | u16::from(number as u8))
    }
}

struct Bucket {
    place: Place,
    /// When its time begins.
    begin: u64,
}

/// Which buckets are not empty.
#[derive(Debug)]
struct Bits([u64; PLACES / WORD]);

const WORD: usize = u64::BITS as usize;

impl Bits {
    fn insert(&mut self, Place(place): Place) {
        self.0[usize::from(place) / WORD] |= 1 << (usize::from(place) % WORD);
    }

    fn remove(&mut self, Place(place): Place) {
        self.0[usize::from(place) / WORD] &= !(1 << (usize::from(place) % WORD));
    }
    /// How far it is from `place` to the first non-empty bucket of its level, itself included, going round.
    fn first_from(&self, Place(place): Place) -> Option<u8> {
        const WORDS: usize = SLOTS / WORD;
        let (level, slot) = (usize::from(place) / SLOTS, usize::from(place) % SLOTS);
        let (word, bit) = (slot / WORD, slot % WORD);
        let words = &self.0[level * WORDS..][..WORDS];
        let near = words[word] >> bit;
        if near != 0 {
            return Some(near.trailing_zeros() as u8);
        }
        // The last of these words is the first one again: of it, only what lies before `slot` is left.
        (1..=WORDS).find_map(|ahead| {
            let bits = words[(word + ahead) % WORDS];
            (bits != 0).then(|| (ahead * WORD - bit + bits.trailing_zeros() as usize) as u8)
        })
    }
}

/// The nodes of a bucket, in the order of their insertion: those set one after the other often lie side by side.
#[derive(Clone, Copy, Debug)]
struct List {
    first: Link,
    last: Link,
}

impl List {
    /// # Safety
    /// The caller holds the lock; `node` is alive and in no list, and the nodes in this one are alive.
    unsafe fn push(&mut self, mut node: NonNull<Node>) {
        // SAFETY: as the caller guarantees.
        unsafe {
            node.as_mut().prev = self.last;
            node.as_mut().next = None;
            match self.last.replace(node) {
                Some(mut last) => last.as_mut().next = Some(node),
                None => self.first = Some(node),
            }
        }
    }

    /// # Safety
    /// The caller holds the lock; `node` is in this list, and all in it are alive.
    unsafe fn remove(&mut self, node: NonNull<Node>) {
        // SAFETY: as the caller guarantees; its links are what it has in the list.
        unsafe {
            let &Node { prev, next, .. } = node.as_ref();
            match prev {
                Some(mut prev) => prev.as_mut().next = next,
                None => self.first = next,
            }
            match next {
                Some(mut next) => next.as_mut().prev = prev,
                None => self.last = prev,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A wheel beside a sorted list of what is in it.
    struct Checked {
        wheel: Box<Wheel>,
        inside: BTreeSet<(u64, NonNull<Node>)>,
        now: u64,
    }

    impl Checked {
        fn at(now: u64) -> Self {
            let mut checked = Self { wheel: Box::new(Wheel::new()), inside: BTreeSet::new(), now };
            assert_eq!(checked.turn(usize::MAX), None);
            checked
        }

        fn insert(&mut self, deadline: u64) -> NonNull<Node> {
            let node = NonNull::from(Box::leak(Box::new(Node { deadline, ..Node::new() })));
            // SAFETY: one thread; the box is freed when it has left the wheel.
            unsafe { self.wheel.insert(node) };
            self.inside.insert((deadline, node));
            self.check();
            node
        }

        fn remove(&mut self, node: NonNull<Node>) {
            // SAFETY: it is in the wheel.
            unsafe {
                assert!(self.inside.remove(&(node.as_ref().deadline, node)));
                self.wheel.remove(node);
            }
            self.check();
            free(node);
        }

        /// One turn at the present time. Returns what the wheel says.
        fn turn(&mut self, steps: usize) -> Option<u64> {
            let (now, inside) = (self.now, &mut self.inside);
            let mut due = Vec::new();
            // SAFETY: one thread, and what is in the wheel is not freed.
            let next = unsafe { self.wheel.turn(now, steps, |node| due.push(node)) };
            assert!(due.len() <= steps);
            for node in due {
                // SAFETY: not freed yet.
                let deadline = unsafe { node.as_ref() }.deadline;
                assert!(deadline <= now, "early");
                assert!(inside.remove(&(deadline, node)), "handed out twice, or never set");
                free(node);
            }
            let earliest = inside.first().map(|&(deadline, _)| deadline);
            if next != Some(now) {
                assert!(earliest.is_none_or(|earliest| earliest > now), "forgotten");
                assert!(next <= earliest, "the next turn would be late");
            }
            assert_eq!(next.is_none(), earliest.is_none());
            if next != Some(now) && inside.len() <= 32 {
                assert_eq!(next, earliest, "a check in vain");
            }
            self.check();
            next
        }

        /// The invariants, and that what is inside is what should be.
        fn check(&self) {
            let mut found = 0;
            for (place, list) in self.wheel.lists.iter().enumerate() {
                let bits = self.wheel.occupied.0[place / WORD];
                assert_eq!((bits >> (place % WORD)) & 1 == 1, list.first.is_some(), "W4");
                let (level, slot) = (place / SLOTS, (place % SLOTS) as u8);
                let hand = number(self.wheel.hand, level);
                let bucket = hand.wrapping_add(u64::from(slot.wrapping_sub(hand as u8)));
                let (mut link, mut last) = (list.first, None);
                while let Some(this) = link {
                    // SAFETY: what is in the wheel is not freed.
                    let node = unsafe { this.as_ref() };
                    assert!(self.inside.contains(&(node.deadline, this)));
                    assert_eq!((usize::from(node.place.0), node.prev), (place, last));
                    let late = node.deadline < self.wheel.hand;
                    assert!(number(node.deadline, level) == bucket || late, "W2");
                    let begins = self.wheel.hand == bucket << (BITS * level as u32);
                    assert!(level == 0 || bucket > hand || begins, "W3");
                    (link, last) = (node.next, link);
                    found += 1;
                }
                assert_eq!(list.last, last);
            }
            assert_eq!(found, self.inside.len());
        }
    }

    impl Drop for Checked {
        fn drop(&mut self) {
            self.inside.iter().for_each(|&(_, node)| free(node));
        }
    }

    fn free(node: NonNull<Node>) {
        // SAFETY: leaked by `insert`, and freed once: when it leaves `inside`.
        drop(unsafe { Box::from_raw(node.as_ptr()) });
    }

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        fn below(&mut self, limit: usize) -> usize {
            (self.next() % limit as u64) as usize
        }

        /// As often a nanosecond as a century.
        fn span(&mut self) -> u64 {
            let bits = self.below(64);
            self.next() >> bits
        }
    }

    #[test]
    fn random_histories() {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        for _ in 0..100 {
            // Near the beginning, somewhere, or near the end of time.
            let begin = [random.span(), random.next(), u64::MAX - random.span()][random.below(3)];
            let mut checked = Checked::at(begin);
            // Deadlines and turns of the same order of magnitude meet in the same buckets.
            let scale = random.below(64);
            for _ in 0..200 {
                let span = if random.below(4) == 0 { random.span() } else { random.next() >> scale };
                match random.below(8) {
                    0..4 => drop(checked.insert(checked.now.saturating_add(span))),
                    4 => drop(checked.insert(checked.now.saturating_sub(span))),
                    5 => {
                        let place = random.below(checked.inside.len().max(1));
                        let node = checked.inside.iter().nth(place).map(|&(_, node)| node);
                        node.into_iter().for_each(|node| checked.remove(node));
                    }
                    turn => {
                        let earliest = checked.inside.first().map_or(0, |&(deadline, _)| deadline);
                        let to = match random.below(4) {
                            0 => earliest,
                            1 => earliest.saturating_sub(1),
                            2 => checked.now,
                            _ => checked.now.saturating_add(span >> random.below(8)),
                        };
                        checked.now = checked.now.max(to);
                        checked.turn(if turn == 6 { usize::MAX } else { random.below(4) });
                    }
                }
            }
            // All that is left comes in the end.
            checked.now = u64::MAX;
            while checked.turn(3).is_some() {}
        }
    }

    /// Set alone it comes when it is due, not a nanosecond before, and there is no check in vain.
    #[test]
    fn every_boundary_of_every_level() {
        // The last bucket of a level, too: 256 of them ahead is the one that the hand is in.
        let around = |power: u64| [power - 1, power, power.wrapping_neg()];
        let levels = || (0..LEVELS).map(|level| 1 << (BITS * level as u32)).flat_map(around);
        let bits = || (0..u64::BITS).map(|bit| 1 << bit).flat_map(around);
        for now in levels() {
            for ahead in bits() {
                let mut checked = Checked::at(now);
                let Some(deadline) = now.checked_add(ahead) else { continue };
                checked.insert(deadline);
                if deadline > now {
                    assert_eq!(checked.turn(1), Some(deadline));
                    checked.now = deadline - 1;
                    while checked.turn(1) == Some(checked.now) {}
                    assert_eq!(checked.turn(usize::MAX), Some(deadline));
                }
                checked.now = deadline;
                checked.turn(usize::MAX);
                assert!(checked.inside.is_empty());
            }
        }
    }

    /// A bucket that begins, and is split in turns of one step, while others come and go.
    #[test]
    fn a_split_that_is_not_done_yet() {
        const WIDTH: u64 = 1 << (3 * BITS);
        for steps in (0..100).step_by(7) {
            let mut checked = Checked::at(7);
            let begin = 5 * WIDTH;
            let nodes: Vec<_> = (0..100).map(|i| checked.insert(begin + i * 977 % WIDTH)).collect();
            // The same time at a finer level, and the bucket after.
            checked.now = 4 * WIDTH + 1;
            checked.turn(usize::MAX);
            checked.insert(5 * WIDTH - 1);
            checked.insert(6 * WIDTH);
            checked.now = begin;
            for _ in 0..steps {
                assert_eq!(checked.turn(1), Some(begin));
            }
            // Some of these have moved and some have not; the first may be gone.
            for &node in nodes.iter().skip(2).step_by(7) {
                checked.remove(node);
            }
            for deadline in [0, begin - 1, begin, begin + 1, begin + WIDTH - 1, begin + WIDTH] {
                checked.insert(deadline);
            }
            while checked.turn(1) == Some(checked.now) {}
            checked.now = 6 * WIDTH;
            while checked.turn(1).is_some() {}
        }
    }

    /// If the wheel is checked when it says so, each deadline costs a few steps, and each bucket one check.
    #[test]
    fn a_crowd_costs_few_steps() {
        const CROWD: usize = 500;
        let mut random = Random(1);
        let mut checked = Checked::at(0);
        for _ in 0..CROWD {
            checked.insert(1_000_000_000 + random.next() % 1_000_000);
        }
        let (mut checks, mut steps) = (0, 0);
        while let Some(next) = checked.turn(1) {
            if next == checked.now {
                steps += 1;
            } else {
                checks += 1;
                checked.now = next;
            }
        }
        assert!(steps <= CROWD * LEVELS, "{steps}");
        // One when each is due, and one when a crowded bucket begins.
        assert!(checks <= CROWD + CROWD / 32 + LEVELS, "{checks}");
    }

    #[test]
    fn the_first_bit_from_here_going_round() {
        let mut random = Random(2);
        for _ in 0..2000 {
            let level = random.below(LEVELS);
            let mut bits = Bits([0; PLACES / WORD]);
            let slots: BTreeSet<u8> = (0..random.below(4)).map(|_| random.next() as u8).collect();
            let places = || slots.iter().map(|&slot| Place::new(level, u64::from(slot)));
            places().for_each(|place| bits.insert(place));
            // Another level's.
            let from = random.next() as u8;
            bits.insert(Place::new((level + 1) % LEVELS, u64::from(from)));
            let expected = (0..=u8::MAX).find(|&ahead| slots.contains(&from.wrapping_add(ahead)));
            assert_eq!(bits.first_from(Place::new(level, u64::from(from))), expected);
            places().for_each(|place| bits.remove(place));
            assert_eq!(bits.first_from(Place::new(level, u64::from(from))), None);
        }
    }
}
