//! A pairing heap of deadlines whose nodes live in the pinned futures that wait for them.
//!
//! Intrusive because a wait allocates nothing and a cancelled deadline gives its memory back at once. Insertion is
//! O(1), removal O(log n) amortised (Fredman, Sedgewick, Sleator, Tarjan 1986: "The pairing heap").
//!
//! Every function asks that the caller holds the timer's lock, which owns the links of all nodes in the heap.

use std::ptr::NonNull;
use std::task::Waker;
use std::time::Instant;

type Link = Option<NonNull<Node>>;

/// A deadline, in the heap or out of it.
#[derive(Debug)]
pub(crate) struct Node {
    /// `None` only in a node that was never set.
    pub(crate) deadline: Option<Instant>,
    pub(crate) waker: Option<Waker>,
    pub(crate) linked: bool,
    child: Link,
    /// The next sibling.
    next: Link,
    /// The previous sibling; in a first child, the parent.
    prev: Link,
}

impl Node {
    pub(crate) const fn new() -> Self {
        Self { deadline: None, waker: None, linked: false, child: None, next: None, prev: None }
    }
}

/// The heap: its earliest node.
#[derive(Debug)]
pub(crate) struct Heap {
    root: Link,
}

// SAFETY: the heap is the key to nodes that only the holder of the timer's lock reaches.
unsafe impl Send for Heap {}

impl Heap {
    pub(crate) const fn new() -> Self {
        Self { root: None }
    }

    /// The earliest.
    pub(crate) fn first(&self) -> Link {
        self.root
    }

    /// # Safety
    /// The caller holds the lock; `node` is alive, stays where it is until removed, and is not linked.
    pub(crate) unsafe fn insert(&mut self, mut node: NonNull<Node>) {
        // SAFETY: says the caller.
        unsafe {
            node.as_mut().linked = true;
            self.root = merge(self.root, Some(node));
        }
    }

    /// # Safety
    /// The caller holds the lock; `node` is in this heap.
    pub(crate) unsafe fn remove(&mut self, mut node: NonNull<Node>) {
        // SAFETY: the node and all it links to are in the heap, so alive and the lock's.
        unsafe {
            let orphans = merge_siblings(node.as_mut().child.take());
            if self.root == Some(node) {
                self.root = orphans;
            } else {
                cut(node);
                self.root = merge(self.root, orphans);
            }
            node.as_mut().linked = false;
        }
    }
}

/// Takes a node that has a parent, with all below it, from its siblings.
unsafe fn cut(mut node: NonNull<Node>) {
    // SAFETY: called for linked nodes under the lock.
    unsafe {
        let (prev, next) = (node.as_mut().prev.take(), node.as_mut().next.take());
        if let Some(mut prev) = prev {
            if prev.as_ref().child == Some(node) {
                prev.as_mut().child = next;
            } else {
                prev.as_mut().next = next;
            }
        }
        if let Some(mut next) = next {
            next.as_mut().prev = prev;
        }
    }
}

/// Makes one heap of two: the later root becomes the first child of the earlier.
unsafe fn merge(left: Link, right: Link) -> Link {
    let (Some(left), Some(right)) = (left, right) else { return left.or(right) };
    // SAFETY: called for roots under the lock.
    unsafe {
        // Of equals the left one wins: it was there before.
        let (mut parent, mut child) =
            if left.as_ref().deadline <= right.as_ref().deadline { (left, right) } else { (right, left) };
        let sibling = parent.as_mut().child.replace(child);
        if let Some(mut sibling) = sibling {
            sibling.as_mut().prev = Some(child);
        }
        child.as_mut().next = sibling;
        child.as_mut().prev = Some(parent);
        Some(parent)
    }
}

/// Makes one heap of a list of siblings: by pairs from the left, then all pairs from the right. No recursion, for
/// there may be a million of them.
unsafe fn merge_siblings(mut first: Link) -> Link {
    // SAFETY: called for siblings under the lock.
    unsafe {
        let mut pairs: Link = None;
        while let Some(left) = first {
            let right = detach(left);
            first = right.and_then(|right| detach(right));
            if let Some(mut pair) = merge(Some(left), right) {
                pair.as_mut().next = pairs;
                pairs = Some(pair);
            }
        }
        let mut root = None;
        while let Some(pair) = pairs {
            pairs = detach(pair);
            root = merge(Some(pair), root);
        }
        root
    }
}

/// Makes a sibling stand alone. Returns the one after it.
unsafe fn detach(mut node: NonNull<Node>) -> Link {
    // SAFETY: called for siblings under the lock.
    unsafe {
        node.as_mut().prev = None;
        node.as_mut().next.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Random inserts and removals against a sorted list.
    #[test]
    fn first_is_always_the_earliest() {
        let start = Instant::now();
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = move || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        let mut nodes: Vec<NonNull<Node>> = (0..500)
            .map(|_| {
                let deadline = Some(start + Duration::from_nanos(next() % 200));
                NonNull::from(Box::leak(Box::new(Node { deadline, ..Node::new() })))
            })
            .collect();
        let mut heap = Heap::new();
        let mut inside: Vec<NonNull<Node>> = Vec::new();
        for _ in 0..20_000 {
            // SAFETY: one thread, and the boxes outlive the heap.
            unsafe {
                if inside.is_empty() || (next() % 2 == 0 && !nodes.is_empty()) {
                    let node = nodes.swap_remove(next() as usize % nodes.len());
                    heap.insert(node);
                    inside.push(node);
                } else {
                    let node = if next() % 2 == 0 {
                        let first = heap.first().unwrap();
                        inside.swap_remove(inside.iter().position(|&node| node == first).unwrap())
                    } else {
                        inside.swap_remove(next() as usize % inside.len())
                    };
                    heap.remove(node);
                    assert!(!node.as_ref().linked);
                    nodes.push(node);
                }
                let earliest = inside.iter().map(|node| node.as_ref().deadline).min();
                assert_eq!(heap.first().map(|node| node.as_ref().deadline), earliest);
            }
        }
        for node in nodes.into_iter().chain(inside) {
            // SAFETY: leaked above, and not used after this.
            drop(unsafe { Box::from_raw(node.as_ptr()) });
        }
    }
}
