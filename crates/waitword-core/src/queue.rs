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

use crate::waiter::{Waiter, with};

type Node = NonNull<Waiter>;

/// The queues of all words that hash alike: a chain of their heads.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    first: Option<Node>,
}

// SAFETY: a bucket is the key to nodes that only the holder of its shard's lock reaches (I2).
unsafe impl Send for Bucket {}

impl Bucket {
    /// The head of the queue of `key`.
    ///
    /// # Safety
    /// The caller holds the lock of the bucket's shard, as for every method here.
    pub(crate) unsafe fn find(&self, key: usize) -> Option<Node> {
        let mut head = self.first;
        while let Some(node) = head {
            // SAFETY: linked in a bucket whose lock is held (I2).
            let (found, sibling) = unsafe { with(node, |links| (links.key == key, links.sibling)) };
            if found {
                break;
            }
            head = sibling;
        }
        head
    }

    /// Makes `node` the tail of the queue of `key`. Returns whether that queue is new.
    ///
    /// # Safety
    /// As [`find`](Self::find); and `node` is unlinked and the caller's.
    pub(crate) unsafe fn push(&mut self, key: usize, ticket: u64, node: Node) -> bool {
        // SAFETY: the caller holds the lock and owns `node`.
        unsafe {
            let head = self.find(key);
            let sibling = if head.is_none() { self.first.replace(node) } else { None };
            with(node, |links| {
                links.next = node;
                links.prev = node;
                links.key = key;
                links.ticket = ticket;
                links.sibling = sibling;
                links.len = 1;
            });
            if let Some(head) = head {
                insert_before(head, node);
                with(head, |links| links.len += 1);
            }
            head.is_none()
        }
    }

    /// Chains a whole queue in, at growth.
    ///
    /// # Safety
    /// As [`find`](Self::find); `head` is the head of a queue that is in no bucket, and no queue of its key is here.
    pub(crate) unsafe fn adopt(&mut self, head: Node) {
        let sibling = self.first.replace(head);
        // SAFETY: the caller holds the lock.
        unsafe { with(head, |links| links.sibling = sibling) };
    }

    /// Takes the first queue out of the chain, at growth. Returns its head.
    ///
    /// # Safety
    /// As [`find`](Self::find).
    pub(crate) unsafe fn disown(&mut self) -> Option<Node> {
        let head = self.first?;
        // SAFETY: the caller holds the lock.
        self.first = unsafe { with(head, |links| links.sibling.take()) };
        Some(head)
    }

    /// Takes `node`, anywhere in the queue of `head`, out. Returns whether the queue is gone.
    ///
    /// # Safety
    /// As [`find`](Self::find); `head` heads a queue of this bucket and `node` is in it.
    pub(crate) unsafe fn remove(&mut self, head: Node, node: Node) -> bool {
        // SAFETY: the caller holds the lock.
        unsafe {
            if node != head {
                unlink(node);
                with(head, |links| links.len -= 1);
                return false;
            }
            let (next, len) = with(head, |links| (links.next, links.len));
            unlink(head);
            self.succeed(head, (len > 1).then_some(next), len - 1);
            len == 1
        }
    }

    /// Moves the first `count` waiters of the queue of `head`, in order, to the empty `list`; takes O(1) when that
    /// is all of them. Returns how many these were, and whether the queue is gone.
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
            let mut cut = head;
            for _ in 1..count {
                cut = with(cut, |links| links.next);
            }
            let successor = with(cut, |links| links.next);
            self.succeed(head, Some(successor), len - count);
            join(tail, successor);
            join(anchor, head);
            join(cut, anchor);
            (count, false)
        }
    }

    /// Puts `successor` where `head` stood in the chain, with `len` waiters; or nothing.
    unsafe fn succeed(&mut self, head: Node, successor: Option<Node>, len: usize) {
        // SAFETY: the caller holds the lock; the chain and both heads are linked under it.
        unsafe {
            let sibling = with(head, |links| links.sibling.take());
            let heir = match successor {
                Some(node) => {
                    with(node, |links| {
                        links.sibling = sibling;
                        links.len = len;
                    });
                    Some(node)
                }
                None => sibling,
            };
            if self.first == Some(head) {
                self.first = heir;
                return;
            }
            let mut before = self.first;
            while let Some(node) = before {
                before = with(node, |links| {
                    if links.sibling == Some(head) {
                        links.sibling = heir;
                        None
                    } else {
                        links.sibling
                    }
                });
            }
        }
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
