//! The queues of words that hash alike.
//!
//! The **queue** of a word is a circle without a sentinel, known by its head. The head's predecessor is the tail; the head
//! alone carries the queue's length and the link to the next queue of the same [`Bucket`]. So a queue needs no memory beside
//! its waiters.
//!
//! Every function here requires ownership of the links that it reaches (I2); the caller is the guard of the locked shard.

use std::pin::Pin;
use std::ptr::NonNull;

use super::key::Key;
use super::node::{Waiter, entry, next, prev, with};
use crate::list::{List, close, insert_before, join, unlink};
use crate::sync::mutant;

type Node = NonNull<Waiter>;

/// In [`Bucket::tag`]: there may be more than one queue. No key has this bit.
const MORE: u64 = 2;

/// The queues of all words that hash alike: a chain of their heads.
///
/// With a million words, each access to a node costs a cache miss. So the bucket itself stores what most look-ups need: the key of the
/// first queue, and whether there is another queue. There is one exception. When the first queue is removed and others remain, the key of
/// the next one is not read before a look-up needs it. That look-up is most likely the last notify of that queue, which accesses the node
/// anyway.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    /// The key of the first queue, or 0 if it has not been read, and [`MORE`].
    tag: u64,
    first: Option<Node>,
}

impl Bucket {
    /// The head of the queue of `key`.
    ///
    /// # Safety
    /// The caller holds the lock of the bucket's shard, as for every method here.
    #[inline(always)]
    pub(crate) unsafe fn find(&self, key: Key) -> Option<Node> {
        let first = self.first?;
        if self.tag & !MORE == key.0 {
            return Some(first);
        }
        // SAFETY: the caller holds the lock that owns the chain (I2).
        if self.tag & MORE == 0 { None } else { unsafe { find_in_chain(first, key) } }
    }

    /// The head of the queue of `key`, if `node` is in it: its state is that of a queued one of this key, and it may be detached.
    ///
    /// Waiters enqueue at the back with rising tickets, and a notify detaches from the front. So a node that is still in the queue is not
    /// older than the head, and a detached one is. (A notify of the last waiter completes the tail under the same lock, so the state of that
    /// node is another one here.)
    ///
    /// # Safety
    /// As [`find`](Self::find).
    #[inline(always)]
    pub(crate) unsafe fn find_with(&self, key: Key, node: Node) -> Option<Node> {
        // SAFETY: alive, as the caller guarantees.
        debug_assert_eq!(unsafe { node.as_ref() }.key(), key, "the section of another word");
        if self.first == Some(node) {
            return self.first;
        }
        // SAFETY: the caller holds the lock of both (I2), and nodes in queues, or detached from them, are alive (I1).
        unsafe {
            let head = self.find(key)?;
            mutant!("ticket" => return Some(head));
            (head == node || head.as_ref().is_before(node.as_ref())).then_some(head)
        }
    }

    /// Makes `node` the tail of the queue of `key`. Returns the head, if others were queued before.
    ///
    /// # Safety
    /// As [`find`](Self::find); and `node` is unlinked and the caller's.
    #[inline(always)]
    pub(crate) unsafe fn push(&mut self, key: Key, ticket: u64, node: Node) -> Option<Node> {
        // SAFETY: the caller holds the lock (I2) and owns `node` (I5).
        unsafe {
            node.as_ref().set_key(key);
            if let Some(head) = self.find(key) {
                insert_before(entry(head), entry(node));
                with(head, |links| links.len = one_more(links.len));
                node.as_ref().set_queued(ticket, false);
                return Some(head);
            }
            close(entry(node));
            with(node, |links| (links.sibling, links.len) = (self.first, 1));
            node.as_ref().set_queued(ticket, true);
            self.tag = if self.first.is_none() { key.0 } else { key.0 | MORE };
            self.first = Some(node);
            None
        }
    }

    /// The queue here with the lowest key above `key`.
    ///
    /// # Safety
    /// As [`find`](Self::find).
    pub(crate) unsafe fn find_above(&self, key: Key) -> Option<(Key, Node)> {
        let mut found = None;
        let lower = |found: Option<(Key, Node)>, other| found.is_none_or(|(lowest, _)| other < lowest);
        // SAFETY: the caller holds the lock (I2).
        unsafe {
            self.any(|head| {
                let other = head.as_ref().key();
                if other > key && lower(found, other) {
                    found = Some((other, head));
                }
                false
            })
        };
        found
    }

    /// Calls `check` with the head of each queue here. Returns whether any call returned true.
    ///
    /// # Safety
    /// As [`find`](Self::find); `check` links and unlinks nothing.
    pub(crate) unsafe fn any(&self, mut check: impl FnMut(Node) -> bool) -> bool {
        let (mut any, mut head) = (false, self.first);
        while let Some(node) = head {
            any |= check(node);
            let more = self.tag & MORE != 0;
            // SAFETY: the caller holds the lock that owns these links (I2).
            head = if more { unsafe { with(node, |links| links.sibling) } } else { None };
        }
        any
    }

    /// Adds a whole queue to the chain, at a resize.
    ///
    /// # Safety
    /// As [`find`](Self::find); `head` is the head of the queue of `key`, as [taken](Self::take_queue).
    pub(crate) unsafe fn put_queue(&mut self, key: Key, head: Node) {
        self.tag = key.0;
        if self.first.is_some() {
            self.tag |= MORE;
            // SAFETY: the caller holds the lock that owns these links (I2).
            unsafe { with(head, |links| links.sibling = self.first) };
        }
        self.first = Some(head);
    }

    /// Takes the first queue out of the chain, at a resize. Returns its key and its head, which has no sibling.
    ///
    /// # Safety
    /// As [`find`](Self::find).
    pub(crate) unsafe fn take_queue(&mut self) -> Option<(Key, Node)> {
        let head = self.first?;
        // SAFETY: the caller holds the lock that owns these links (I2).
        unsafe {
            let key = if self.tag == MORE { head.as_ref().key() } else { Key(self.tag & !MORE) };
            let sibling = if self.tag & MORE == 0 { None } else { with(head, |links| links.sibling.take()) };
            self.begin_with(sibling);
            Some((key, head))
        }
    }

    /// Removes `node`, anywhere in the queue of `head`. Returns whether the queue is gone.
    ///
    /// # Safety
    /// As [`find`](Self::find); `head` heads a queue of this bucket and `node` is in it.
    #[inline(always)]
    pub(crate) unsafe fn remove(&mut self, head: Node, node: Node) -> bool {
        // SAFETY: the caller holds the lock that owns these links (I2).
        unsafe {
            if node != head {
                unlink(entry(node));
                with(head, |links| links.len -= 1);
                return false;
            }
            let successor = next(head);
            if successor == head {
                self.succeed(head, None, 0);
                return true;
            }
            unlink(entry(head));
            self.succeed(head, Some(successor), with(head, |links| links.len) - 1);
            false
        }
    }

    /// Moves the first `count` waiters of the queue of `head`, in order, to the empty `list`: O(1) if that is all of them, otherwise
    /// O(`count`) or O(number that stays), whichever is less. Returns how many were moved, and whether the queue is gone.
    ///
    /// # Safety
    /// As [`find`](Self::find); `head` heads a queue of this bucket, `count` is not 0, and `list` is the caller's.
    pub(crate) unsafe fn detach(&mut self, head: Node, count: usize, list: Pin<&List>) -> (usize, bool) {
        // SAFETY: the caller holds the lock that owns these links (I2).
        unsafe {
            let tail = entry(prev(head));
            let len = with(head, |links| links.len as usize);
            let (first, anchor) = (entry(head), list.anchor());
            if count >= len {
                self.succeed(head, None, 0);
                join(anchor, first);
                join(tail, anchor);
                return (len, true);
            }
            let successor = if count <= len / 2 {
                (0..count).fold(head, |node, _| next(node))
            } else {
                (count..len).fold(head, |node, _| prev(node))
            };
            let last = entry(prev(successor));
            self.succeed(head, Some(successor), (len - count) as u32);
            join(tail, entry(successor));
            join(anchor, first);
            join(last, anchor);
            (count, false)
        }
    }

    /// Replaces `head` in the chain by `successor`, whose queue has `len` waiters; without a successor, removes it.
    #[inline(always)]
    unsafe fn succeed(&mut self, head: Node, successor: Option<Node>, len: u32) {
        // SAFETY: the caller holds the lock; the chain and both heads are linked under it (I2).
        unsafe {
            if self.tag & MORE != 0 {
                return self.succeed_in_chain(head, successor, len);
            }
            match successor {
                Some(node) => with(node, |links| (links.sibling, links.len) = (None, len)),
                None => self.tag = 0,
            }
            self.first = successor;
        }
    }

    /// The same, beside other queues.
    #[cold]
    #[inline(never)]
    unsafe fn succeed_in_chain(&mut self, head: Node, successor: Option<Node>, len: u32) {
        // SAFETY: as in `succeed`.
        unsafe {
            let sibling = with(head, |links| links.sibling);
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

    /// Makes the chain that begins with `first` the content of the bucket, without reading any node.
    #[inline]
    fn begin_with(&mut self, first: Option<Node>) {
        self.tag = if first.is_some() { MORE } else { 0 };
        self.first = first;
    }

    /// Replaces `head`, which is not the first of the chain, by `heir`.
    unsafe fn replace_in_chain(&mut self, head: Node, heir: Option<Node>) {
        let mut node = self.first;
        while let Some(before) = node {
            // SAFETY: the caller holds the lock; the chain is linked under it (I2).
            node = unsafe { with(before, |links| links.sibling) };
            if node == Some(head) {
                // SAFETY: the chain is linked under the caller's lock (I2).
                unsafe { with(before, |links| links.sibling = heir) };
                break;
            }
        }
        // SAFETY: the chain is linked under the caller's lock (I2).
        let is_alone =
            self.first.is_some_and(|first| unsafe { with(first, |links| links.sibling) }.is_none());
        if is_alone && self.tag != MORE {
            self.tag &= !MORE;
        }
    }
}

/// `len + 1`. An overflow would take 2³² waiters, which fill 256 GiB.
#[inline(always)]
fn one_more(len: u32) -> u32 {
    len.checked_add(1).unwrap_or_else(|| std::process::abort())
}

/// The head of the queue of `key` in the chain that begins with `first`.
#[cold]
unsafe fn find_in_chain(first: Node, key: Key) -> Option<Node> {
    let mut node = Some(first);
    // SAFETY: the caller holds the lock of the chain's shard, under which it is linked (I2).
    unsafe {
        while let Some(head) = node.filter(|head| head.as_ref().key() != key) {
            node = with(head, |links| links.sibling);
        }
    }
    node
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet, VecDeque};
    use std::pin::pin;

    use super::*;

    const KEYS: usize = 6;
    const NODES: usize = 30;

    /// A bucket in which all keys collide, and a deque for each key as the model.
    struct Checked {
        bucket: Bucket,
        queues: BTreeMap<Key, VecDeque<Node>>,
        idle: Vec<Node>,
        ticket: u64,
    }

    // SAFETY, of all blocks here: there is one thread, and the nodes outlive the bucket.
    impl Checked {
        fn push(&mut self, key: Key, node: Node) {
            self.ticket += 1;
            let queue = self.queues.entry(key).or_default();
            let expected = queue.front().copied();
            queue.push_back(node);
            // SAFETY: above.
            assert_eq!(unsafe { self.bucket.push(key, self.ticket, node) }, expected);
        }

        fn remove(&mut self, key: Key, place: usize) {
            let Some(queue) = self.queues.get_mut(&key) else { return };
            let (head, node) = (queue[0], queue.remove(place % queue.len()).expect("within the queue"));
            self.idle.push(node);
            // SAFETY: above.
            assert_eq!(unsafe { self.bucket.remove(head, node) }, queue.is_empty());
            self.queues.retain(|_, queue| !queue.is_empty());
        }

        /// Detaches the first `count`, and unlinks the one at `leaver` before the others are completed.
        fn detach(&mut self, key: Key, count: usize, leaver: usize) {
            let Some(queue) = self.queues.get_mut(&key) else { return };
            let (head, list) = (queue[0], pin!(List::new()));
            let list = list.as_ref();
            list.init();
            let mut detached = queue.drain(..count.min(queue.len())).collect::<VecDeque<_>>();
            let expected = (detached.len(), queue.is_empty());
            self.queues.retain(|_, queue| !queue.is_empty());
            self.idle.extend(&detached);
            // SAFETY: above.
            unsafe {
                assert_eq!(self.bucket.detach(head, count, list), expected);
                detached.remove(leaver).into_iter().for_each(|node| unlink(entry(node)));
                assert!(detached.into_iter().all(|node| list.pop() == Some(entry(node))));
                assert!(list.is_empty());
            }
        }

        /// Moves all queues to another bucket, as a resize does.
        fn rehash(&mut self) {
            let mut other = Bucket::default();
            // SAFETY: above.
            unsafe {
                while let Some((key, head)) = self.bucket.take_queue() {
                    assert_eq!(with(head, |links| links.sibling), None);
                    other.put_queue(key, head);
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
                self.queues.values().map(|queue| queue[0]).collect()
            );
            assert_eq!(heads.len(), self.queues.len());
            let more = if heads.len() > 1 { MORE } else { 0 };
            // SAFETY: above.
            let tag = heads.first().map_or(0, |&first| unsafe { first.as_ref() }.key().0 | more);
            let is_unread = !heads.is_empty() && self.bucket.tag == MORE;
            assert!(is_unread || self.bucket.tag == tag, "{:#x} for {tag:#x}", self.bucket.tag);
            for key in (1..=KEYS).map(word) {
                // SAFETY: above.
                let found = unsafe { self.bucket.find(key) };
                assert_eq!(found, self.queues.get(&key).map(|queue| queue[0]));
                let Some(queue) = self.queues.get(&key) else { continue };
                // SAFETY: above.
                assert_eq!(unsafe { with(queue[0], |links| links.len) }, queue.len() as u32);
                for (place, &node) in queue.iter().enumerate() {
                    let next = queue[(place + 1) % queue.len()];
                    // SAFETY: above.
                    unsafe {
                        assert_eq!((super::next(node), node.as_ref().key()), (next, key));
                        assert_eq!(prev(next), node);
                    }
                }
            }
        }
    }

    fn sibling(head: Node) -> Option<Node> {
        // SAFETY: one thread, and the node is alive.
        unsafe { with(head, |links| links.sibling) }
    }

    fn word(number: usize) -> Key {
        Key(number as u64 * 4 + 1)
    }

    /// Random operations on random waiters of one bucket. Nodes are reused, with what their last wait left in them.
    #[test]
    fn a_bucket_does_what_a_deque_per_key_does() {
        let nodes = (0..NODES).map(|_| Box::pin(Waiter::new(None))).collect::<Vec<_>>();
        let idle = nodes.iter().map(|node| node.as_ref().pointer()).collect();
        let mut checked = Checked { bucket: Bucket::default(), queues: BTreeMap::new(), idle, ticket: 0 };
        let mut seed = 1_u64;
        let mut random = |limit: usize| {
            seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            (seed >> 33) as usize % limit
        };
        for step in 0..20_000 {
            // Phases in which the bucket fills, and phases in which it empties.
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
