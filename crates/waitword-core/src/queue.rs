//! The intrusive first-in-first-out lists; all link surgery is here.
//!
//! Two shapes share the neighbour links:
//! - the **queue** of a word, a circle without a sentinel, known by its head. The head's `prev` is the tail;
//!   the head alone carries the queue's length and the link to the next queue of the same [`Bucket`]. So a
//!   queue needs no memory beside its waiters;
//! - a [`List`] with a sentinel, from which a node can be unlinked without knowing the list.
//!
//! Every function here asks for ownership of the links it reaches (I2, I4 in `waiter.rs`); the callers are the
//! locked shard's guard and the inbox, which hold the lock that gives it.

use std::pin::Pin;
use std::ptr::NonNull;

use crate::waiter::{Waiter, is_watched, with};

type Node = NonNull<Waiter>;

/// In [`Bucket::tag`]: there is more than one queue. No address of a word is odd.
const MORE: usize = 1;

/// The queues of all words that hash alike: a chain of their heads.
///
/// With a million words each node that is reached costs a miss of the cache. So what most look-ups ask, whether the first
/// queue is the one and whether there is another, is answered here.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    /// The address of the first queue's word, and [`MORE`].
    tag: usize,
    first: Option<Node>,
}

/// How a waiter entered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// Its word had a queue.
    Joined {
        /// Whoever is first was called and has not looked, or asks to be called.
        watched: bool,
    },
    /// Its word has a queue now. So many others stand in the same bucket.
    Founded {
        /// The queues that were there before.
        others: usize,
    },
}

impl Bucket {
    /// The head of the queue of `key`.
    ///
    /// # Safety
    /// The caller holds the lock of the bucket's shard, as for every method here.
    #[inline]
    pub(crate) unsafe fn find(&self, key: usize) -> Option<Node> {
        // SAFETY: says the caller.
        unsafe { self.search(key).ok() }
    }

    /// The head of the queue of `key`; or how many queues are here, if none of them is.
    #[inline]
    unsafe fn search(&self, key: usize) -> Result<Node, usize> {
        let Some(first) = self.first else { return Err(0) };
        if self.tag & !MORE == key {
            return Ok(first);
        }
        if self.tag & MORE == 0 {
            return Err(1);
        }
        // SAFETY: says the caller.
        unsafe { search_chain(first, key) }
    }

    /// Makes `node` the tail of the queue of `key`.
    ///
    /// # Safety
    /// As [`find`](Self::find); and `node` is unlinked and the caller's.
    #[inline]
    pub(crate) unsafe fn push(&mut self, key: usize, ticket: u64, node: Node) -> Pushed {
        // SAFETY: the caller holds the lock and owns `node`.
        unsafe {
            match self.search(key) {
                Ok(head) => {
                    let tail = with(head, |links| {
                        links.len += 1;
                        std::mem::replace(&mut links.prev, node)
                    });
                    with(tail, |links| links.next = node);
                    with(node, |links| (links.next, links.prev, links.ticket) = (head, tail, ticket));
                    node.as_ref().set_address(key);
                    Pushed::Joined { watched: is_watched(head.as_ref().state()) }
                }
                Err(others) => {
                    with(node, |links| {
                        (links.next, links.prev, links.ticket) = (node, node, ticket);
                        (links.sibling, links.len) = (self.first, 1);
                    });
                    node.as_ref().set_address(key);
                    self.tag = key | if others == 0 { 0 } else { MORE };
                    self.first = Some(node);
                    Pushed::Founded { others }
                }
            }
        }
    }

    /// How many queues are here.
    ///
    /// # Safety
    /// As [`find`](Self::find).
    pub(crate) unsafe fn len(&self) -> usize {
        // Who looks for a word at address 0 finds none and counts all.
        // SAFETY: says the caller.
        unsafe { self.search(0).err().unwrap_or_default() }
    }

    /// Looks at the head of each queue here. Returns whether `look` says so of any.
    ///
    /// # Safety
    /// As [`find`](Self::find); `look` links and unlinks nothing.
    pub(crate) unsafe fn any(&self, mut look: impl FnMut(Node) -> bool) -> bool {
        let (mut any, mut head) = (false, self.first);
        while let Some(node) = head {
            any |= look(node);
            let more = self.tag & MORE != 0;
            // SAFETY: the caller holds the lock.
            head = if more { unsafe { with(node, |links| links.sibling) } } else { None };
        }
        any
    }

    /// Chains a whole queue in, at growth.
    ///
    /// # Safety
    /// As [`find`](Self::find); `head` is the head of the queue of `key`, as [`disown`](Self::disown)ed.
    pub(crate) unsafe fn adopt(&mut self, key: usize, head: Node) {
        self.tag = key;
        if self.first.is_some() {
            self.tag |= MORE;
            // SAFETY: the caller holds the lock.
            unsafe { with(head, |links| links.sibling = self.first) };
        }
        self.first = Some(head);
    }

    /// Takes the first queue out of the chain, at growth. Returns its key and its head, which has no sibling.
    ///
    /// # Safety
    /// As [`find`](Self::find).
    pub(crate) unsafe fn disown(&mut self) -> Option<(usize, Node)> {
        let (key, head) = (self.tag & !MORE, self.first?);
        // SAFETY: the caller holds the lock.
        unsafe {
            self.begin_with(if self.tag & MORE == 0 {
                None
            } else {
                with(head, |links| links.sibling.take())
            })
        };
        Some((key, head))
    }

    /// Takes `node`, anywhere in the queue of `head`, out. Returns whether the queue is gone.
    ///
    /// # Safety
    /// As [`find`](Self::find); `head` heads a queue of this bucket and `node` is in it.
    #[inline]
    pub(crate) unsafe fn remove(&mut self, head: Node, node: Node) -> bool {
        // SAFETY: the caller holds the lock.
        unsafe {
            if node != head {
                unlink(node);
                with(head, |links| links.len -= 1);
                return false;
            }
            let len = with(head, |links| links.len);
            let successor = if len > 1 {
                unlink(head);
                Some(with(head, |links| links.next))
            } else {
                None
            };
            self.succeed(head, successor, len - 1);
            successor.is_none()
        }
    }

    /// Moves the first `count` waiters of the queue of `head`, in order, to the empty `list`; takes O(1) when that
    /// is all of them, and otherwise O(`count`) or O(those who stay), whichever is less. Returns how many these were, and
    /// whether the queue is gone.
    ///
    /// # Safety
    /// As [`find`](Self::find); `head` heads a queue of this bucket, `count` is not 0, and `list` is the caller's.
    pub(crate) unsafe fn detach(&mut self, head: Node, count: usize, list: Pin<&List>) -> (usize, bool) {
        // SAFETY: the caller holds the lock.
        unsafe {
            let (tail, len) = with(head, |links| (links.prev, links.len));
            let anchor = list.anchor();
            if count >= len {
                self.succeed(head, None, 0);
                join(anchor, head);
                join(tail, anchor);
                return (len, true);
            }
            let successor = if count <= len / 2 {
                (0..count).fold(head, |node, _| with(node, |links| links.next))
            } else {
                (count..len).fold(head, |node, _| with(node, |links| links.prev))
            };
            let last = with(successor, |links| links.prev);
            self.succeed(head, Some(successor), len - count);
            join(tail, successor);
            join(anchor, head);
            join(last, anchor);
            (count, false)
        }
    }

    /// Puts `successor` where `head` stood in the chain, with `len` waiters; or nothing.
    #[inline]
    unsafe fn succeed(&mut self, head: Node, successor: Option<Node>, len: usize) {
        // SAFETY: the caller holds the lock; the chain and both heads are linked under it.
        unsafe {
            let sibling = if self.tag & MORE == 0 { None } else { with(head, |links| links.sibling) };
            if let Some(node) = successor {
                with(node, |links| (links.sibling, links.len) = (sibling, len));
            }
            if self.first != Some(head) {
                self.replace_in_chain(head, successor.or(sibling));
            } else if successor.is_some() {
                self.first = successor;
            } else {
                self.begin_with(sibling);
            }
        }
    }

    /// Makes `first` and those chained to it all that is here.
    #[inline]
    unsafe fn begin_with(&mut self, first: Option<Node>) {
        self.tag = match first {
            // SAFETY: the caller holds the lock, and `first` is linked under it.
            Some(first) => unsafe {
                first.as_ref().address() | with(first, |links| if links.sibling.is_some() { MORE } else { 0 })
            },
            None => 0,
        };
        self.first = first;
    }

    /// Puts `heir` where `head` stood in the chain, which is not its beginning.
    #[cold]
    unsafe fn replace_in_chain(&mut self, head: Node, heir: Option<Node>) {
        let mut node = self.first;
        while let Some(before) = node {
            // SAFETY: the caller holds the lock; the chain is linked under it.
            node = unsafe { with(before, |links| links.sibling) };
            if node == Some(head) {
                // SAFETY: as above.
                unsafe { with(before, |links| links.sibling = heir) };
                break;
            }
        }
        // SAFETY: as above.
        unsafe { self.begin_with(self.first) };
    }
}

/// The head of the queue of `key` in the chain behind `first`, which is not it; or how many queues are in the chain.
#[cold]
unsafe fn search_chain(first: Node, key: usize) -> Result<Node, usize> {
    // SAFETY: the caller holds the lock of the chain's shard, under which it is linked (I2).
    unsafe {
        let mut length = 1;
        let mut sibling = with(first, |links| links.sibling);
        while let Some(node) = sibling {
            if node.as_ref().address() == key {
                return Ok(node);
            }
            sibling = with(node, |links| links.sibling);
            length += 1;
        }
        Err(length)
    }
}

/// A list with a sentinel: what a notify took off a queue, or what an inbox holds.
#[derive(Debug)]
pub(crate) struct List {
    sentinel: Waiter,
}

impl List {
    /// An empty list, to be [`init`](Self::init)ed where it stays.
    pub(crate) fn new() -> Self {
        Self { sentinel: Waiter::new() }
    }

    /// Closes the empty circle, once, before any other method.
    pub(crate) fn init(self: Pin<&Self>) {
        let anchor = self.anchor();
        // SAFETY: nobody else knows the sentinel yet.
        unsafe { join(anchor, anchor) };
    }

    /// Appends `node`.
    ///
    /// # Safety
    /// The caller holds the lock that owns this list, as for every method here, and owns the unlinked `node`.
    pub(crate) unsafe fn push(self: Pin<&Self>, node: Node) {
        // SAFETY: the caller owns the list and the node.
        unsafe { insert_before(self.anchor(), node) };
    }

    /// Takes the first node out.
    ///
    /// # Safety
    /// As [`push`](Self::push).
    pub(crate) unsafe fn pop(self: Pin<&Self>) -> Option<Node> {
        // SAFETY: the caller owns the list.
        unsafe {
            let first = with(self.anchor(), |links| links.next);
            if first == self.anchor() {
                return None;
            }
            unlink(first);
            Some(first)
        }
    }

    /// Whether nothing is in it.
    ///
    /// # Safety
    /// As [`push`](Self::push).
    pub(crate) unsafe fn is_empty(self: Pin<&Self>) -> bool {
        // SAFETY: the caller owns the list.
        unsafe { with(self.anchor(), |links| links.next) == self.anchor() }
    }

    fn anchor(self: Pin<&Self>) -> Node {
        NonNull::from(&self.get_ref().sentinel)
    }
}

/// Takes `node` out of whatever circle it is in. The node's own links are left stale.
///
/// # Safety
/// The caller owns the links of `node` and of its neighbours; `node` is not the head of a word's queue, or the
/// caller names a successor.
pub(crate) unsafe fn unlink(node: Node) {
    // SAFETY: as the caller says.
    unsafe {
        let (prev, next) = with(node, |links| (links.prev, links.next));
        join(prev, next);
    }
}

/// Links `node` in before `position`.
unsafe fn insert_before(position: Node, node: Node) {
    // SAFETY: the caller owns both and the neighbour in between.
    unsafe {
        let prev = with(position, |links| links.prev);
        join(prev, node);
        join(node, position);
    }
}

/// Makes `left` and `right` neighbours.
unsafe fn join(left: Node, right: Node) {
    // SAFETY: the caller owns both; they may be one and the same, so each is reached by itself.
    unsafe {
        with(left, |links| links.next = right);
        with(right, |links| links.prev = left);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet, VecDeque};
    use std::pin::pin;

    use super::*;

    const KEYS: usize = 6;
    const NODES: usize = 30;

    /// A bucket in which all keys collide, beside a deque for each.
    struct Checked {
        bucket: Bucket,
        lines: BTreeMap<usize, VecDeque<Node>>,
        idle: Vec<Node>,
        ticket: u64,
    }

    // SAFETY, of all blocks here: one thread, and the nodes outlive the bucket.
    impl Checked {
        fn push(&mut self, key: usize, node: Node) {
            self.ticket += 1;
            let others = self.lines.len();
            let line = self.lines.entry(key).or_default();
            let expected =
                if line.is_empty() { Pushed::Founded { others } } else { Pushed::Joined { watched: false } };
            line.push_back(node);
            // SAFETY: above.
            assert_eq!(unsafe { self.bucket.push(key, self.ticket, node) }, expected);
        }

        fn remove(&mut self, key: usize, place: usize) {
            let Some(line) = self.lines.get_mut(&key) else { return };
            let (head, node) = (line[0], line.remove(place % line.len()).expect("within the line"));
            self.idle.push(node);
            // SAFETY: above.
            assert_eq!(unsafe { self.bucket.remove(head, node) }, line.is_empty());
            self.lines.retain(|_, line| !line.is_empty());
        }

        /// Takes the first `count` off, and `leaver` of them out of limbo before the others are told.
        fn detach(&mut self, key: usize, count: usize, leaver: usize) {
            let Some(line) = self.lines.get_mut(&key) else { return };
            let (head, list) = (line[0], pin!(List::new()));
            let list = list.as_ref();
            list.init();
            let mut detached = line.drain(..count.min(line.len())).collect::<VecDeque<_>>();
            let expected = (detached.len(), line.is_empty());
            self.lines.retain(|_, line| !line.is_empty());
            self.idle.extend(&detached);
            // SAFETY: above.
            unsafe {
                assert_eq!(self.bucket.detach(head, count, list), expected);
                detached.remove(leaver).into_iter().for_each(|node| unlink(node));
                assert!(detached.into_iter().all(|node| list.pop() == Some(node)));
                assert!(list.is_empty());
            }
        }

        /// All queues to another bucket, as at growth.
        fn rehash(&mut self) {
            let mut other = Bucket::default();
            // SAFETY: above.
            unsafe {
                while let Some((key, head)) = self.bucket.disown() {
                    assert_eq!(with(head, |links| links.sibling), None);
                    other.adopt(key, head);
                }
            }
            assert_eq!((self.bucket.tag, self.bucket.first), (0, None));
            self.bucket = other;
        }

        fn check(&self) {
            let chain = std::iter::successors(self.bucket.first, |&head| sibling(head)).take(KEYS + 1);
            let heads = chain.collect::<Vec<_>>();
            assert_eq!(
                heads.iter().copied().collect::<BTreeSet<_>>(),
                self.lines.values().map(|line| line[0]).collect()
            );
            assert_eq!(heads.len(), self.lines.len());
            let more = if heads.len() > 1 { MORE } else { 0 };
            // SAFETY: above.
            let tag = heads.first().map_or(0, |&first| unsafe { first.as_ref() }.address() | more);
            assert_eq!(self.bucket.tag, tag);
            // SAFETY: above.
            assert_eq!(unsafe { self.bucket.len() }, heads.len());
            for key in (1..=KEYS).map(word) {
                // SAFETY: above.
                let found = unsafe { self.bucket.search(key) };
                let Some(line) = self.lines.get(&key) else {
                    assert_eq!(found, Err(self.lines.len()));
                    continue;
                };
                assert_eq!(found, Ok(line[0]));
                // SAFETY: above.
                assert_eq!(unsafe { with(line[0], |links| links.len) }, line.len());
                for (place, &node) in line.iter().enumerate() {
                    let next = line[(place + 1) % line.len()];
                    // SAFETY: above.
                    unsafe {
                        assert_eq!((with(node, |links| links.next), node.as_ref().address()), (next, key));
                        assert_eq!(with(next, |links| links.prev), node);
                    }
                }
            }
        }
    }

    fn sibling(head: Node) -> Option<Node> {
        // SAFETY: one thread, and the node is alive.
        unsafe { with(head, |links| links.sibling) }
    }

    fn word(number: usize) -> usize {
        number * 4
    }

    /// Whatever happens in one bucket, to whichever waiter of whichever queue; the nodes are used again, with what their
    /// last wait left in them.
    #[test]
    fn a_bucket_does_what_a_deque_per_key_does() {
        let nodes = (0..NODES).map(|_| Box::pin(Waiter::new())).collect::<Vec<_>>();
        let idle = nodes.iter().map(|node| node.as_ref().pointer()).collect();
        let mut checked = Checked { bucket: Bucket::default(), lines: BTreeMap::new(), idle, ticket: 0 };
        let mut seed = 1_u64;
        let mut random = |limit: usize| {
            seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            (seed >> 33) as usize % limit
        };
        for step in 0..20_000 {
            // Times in which the bucket fills, and such in which it empties.
            let kind = random(if step / 50 % 2 == 0 { 16 } else { 10 });
            // Some keys have long queues, some seldom have one.
            let key = word(1 + random(KEYS).min(random(KEYS)));
            match kind {
                0..4 => checked.remove(key, random(NODES)),
                4..6 => checked.detach(key, 1 + random(6), random(6)),
                6 => checked.detach(key, usize::MAX, random(6)),
                7 => checked.rehash(),
                _ if checked.idle.is_empty() => {}
                _ => {
                    let place = random(checked.idle.len());
                    let node = checked.idle.swap_remove(place);
                    checked.push(key, node);
                }
            }
            checked.check();
        }
    }
}
