//! Intrusive circular doubly linked lists: the entries are part of what they link, so the memory of a list is that of its members.
//!
//! An [`Entry`] is part of a waiter. While it is linked, its neighbours belong to the holder of the lock that owns the list; each function
//! here requires that ownership (I2, I4 in [`queue`](crate::queue)). Two shapes are built from them:
//! - the queue of a word, a circle without a sentinel that is known by its head (`queue/bucket.rs`);
//! - a [`List`] with a sentinel, from which an entry can be unlinked without knowing the list.

use std::cell::Cell;
use std::pin::Pin;
use std::ptr::NonNull;

use crate::sync::UnsafeCell;
use crate::sync::fork::Owner;

/// The neighbours of a member, as part of the member.
#[derive(Debug)]
pub(crate) struct Entry(UnsafeCell<Neighbours>);

#[derive(Debug)]
struct Neighbours {
    next: NonNull<Entry>,
    prev: NonNull<Entry>,
}

// SAFETY: the neighbours are reached only under the lock that owns the list (I2, I4), or by the owner (I5).
unsafe impl Send for Entry {}
// SAFETY: as for `Send`: no access without that ownership (I2, I4, I5).
unsafe impl Sync for Entry {}

impl Entry {
    /// An entry that is in no list.
    #[inline]
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(Neighbours { next: NonNull::dangling(), prev: NonNull::dangling() }))
    }
}

/// The entry behind `entry`.
///
/// # Safety
/// `entry` is linked, alive, and its neighbours are the caller's, as for every function here.
#[inline(always)]
pub(crate) unsafe fn next(entry: NonNull<Entry>) -> NonNull<Entry> {
    // SAFETY: the caller owns the neighbours.
    unsafe { with(entry, |neighbours| neighbours.next) }
}

/// The entry before `entry`.
///
/// # Safety
/// As [`next`].
#[inline(always)]
pub(crate) unsafe fn prev(entry: NonNull<Entry>) -> NonNull<Entry> {
    // SAFETY: the caller owns the neighbours.
    unsafe { with(entry, |neighbours| neighbours.prev) }
}

/// Makes a circle of `entry` alone.
///
/// # Safety
/// `entry` is unlinked and the caller's.
#[inline(always)]
pub(crate) unsafe fn close(entry: NonNull<Entry>) {
    // SAFETY: the caller owns the entry.
    unsafe { with(entry, |neighbours| (neighbours.next, neighbours.prev) = (entry, entry)) };
}

/// Links `entry` in before `position`.
///
/// # Safety
/// The caller owns both, and the neighbour in between; `entry` is unlinked.
#[inline(always)]
pub(crate) unsafe fn insert_before(position: NonNull<Entry>, entry: NonNull<Entry>) {
    // SAFETY: the caller owns all three; two of them may be one and the same, so each is reached by itself.
    unsafe {
        let prev = with(position, |neighbours| std::mem::replace(&mut neighbours.prev, entry));
        with(prev, |neighbours| neighbours.next = entry);
        with(entry, |neighbours| (neighbours.next, neighbours.prev) = (position, prev));
    }
}

/// Unlinks `entry` from whatever circle it is in. Its own links are left stale.
///
/// # Safety
/// The caller owns `entry` and its neighbours; if `entry` is the head of a word's queue, the caller names another head.
#[inline(always)]
pub(crate) unsafe fn unlink(entry: NonNull<Entry>) {
    // SAFETY: the caller owns all three.
    unsafe {
        let (next, prev) = with(entry, |neighbours| (neighbours.next, neighbours.prev));
        join(prev, next);
    }
}

/// Makes `left` and `right` neighbours.
///
/// # Safety
/// The caller owns both.
#[inline(always)]
pub(crate) unsafe fn join(left: NonNull<Entry>, right: NonNull<Entry>) {
    // SAFETY: the caller owns both; they may be one and the same, so each is reached by itself.
    unsafe {
        with(left, |neighbours| neighbours.next = right);
        with(right, |neighbours| neighbours.prev = left);
    }
}

#[inline(always)]
unsafe fn with<R>(entry: NonNull<Entry>, access: impl FnOnce(&mut Neighbours) -> R) -> R {
    // SAFETY: alive, and the caller owns the neighbours; no `access` here reaches the same entry again.
    unsafe { entry.as_ref().0.with_mut(|neighbours| access(&mut *neighbours)) }
}

/// The waiters that a notify has detached from a queue, until it has completed or moved them. The shard of the queue knows it meanwhile, for
/// a fork (`queue/fork.rs`).
#[derive(Debug)]
pub(crate) struct Detached {
    pub(crate) list: List,
    /// Whose notify it is.
    pub(crate) owner: Owner,
    /// The next one in the shard's chain. Like the list, it belongs to the lock of the shard (I2).
    pub(crate) next: Cell<Option<NonNull<Detached>>>,
}

impl Detached {
    /// Empty, to be [`init`](Self::init)ed where it stays.
    pub(crate) fn new() -> Self {
        Self { list: List::new(), owner: Owner::nobody(), next: Cell::new(None) }
    }

    /// Makes it the calling thread's, once, before any other method.
    pub(crate) fn init(self: Pin<&Self>) {
        self.list().init();
        self.owner.set_here();
    }

    pub(crate) fn list(self: Pin<&Self>) -> Pin<&List> {
        // SAFETY: pinned with the whole, and nothing moves it.
        unsafe { self.map_unchecked(|detached| &detached.list) }
    }
}

/// A list with a sentinel: what a notify detached from a queue, or what an inbox holds.
#[derive(Debug)]
pub(crate) struct List {
    sentinel: Entry,
}

impl List {
    /// An empty list, to be [`init`](Self::init)ed where it stays.
    pub(crate) fn new() -> Self {
        Self { sentinel: Entry::new() }
    }

    /// Closes the empty circle, once, before any other method.
    pub(crate) fn init(self: Pin<&Self>) {
        // SAFETY: nobody else knows the sentinel yet.
        unsafe { close(self.anchor()) };
    }

    /// Appends `entry`.
    ///
    /// # Safety
    /// The caller holds the lock that owns this list (I2, I4), as for every method here, and owns the unlinked `entry`.
    pub(crate) unsafe fn push(self: Pin<&Self>, entry: NonNull<Entry>) {
        // SAFETY: the caller owns the list and the entry.
        unsafe { insert_before(self.anchor(), entry) };
    }

    /// Takes the first entry out.
    ///
    /// # Safety
    /// As [`push`](Self::push).
    pub(crate) unsafe fn pop(self: Pin<&Self>) -> Option<NonNull<Entry>> {
        // SAFETY: the caller owns the list.
        unsafe {
            let first = next(self.anchor());
            if first == self.anchor() {
                return None;
            }
            join(self.anchor(), next(first));
            Some(first)
        }
    }

    /// Takes up to `most` entries out, from the first on, and gives each to `take`. Returns whether any are left.
    ///
    /// # Safety
    /// As [`push`](Self::push). `take` does not reach this list; an entry is its own.
    #[inline]
    pub(crate) unsafe fn pop_many(
        self: Pin<&Self>,
        most: usize,
        mut take: impl FnMut(NonNull<Entry>),
    ) -> bool {
        // SAFETY: the caller owns the list.
        unsafe {
            let mut first = next(self.anchor());
            for _ in 0..most {
                if first == self.anchor() {
                    break;
                }
                // Read before: the entry is not ours any more when `take` returns.
                let second = next(first);
                take(first);
                first = second;
            }
            join(self.anchor(), first);
            first != self.anchor()
        }
    }

    /// Whether nothing is in it.
    ///
    /// # Safety
    /// As [`push`](Self::push).
    pub(crate) unsafe fn is_empty(self: Pin<&Self>) -> bool {
        // SAFETY: the caller owns the list.
        unsafe { next(self.anchor()) == self.anchor() }
    }

    /// The sentinel, as a member that stands before the first and behind the last.
    pub(crate) fn anchor(self: Pin<&Self>) -> NonNull<Entry> {
        NonNull::from(&self.get_ref().sentinel)
    }
}
