//! The node: one wait that is, was or will be in a queue.
//!
//! # Who owns a node when
//! ```text
//!           enqueue              settle                 owner reads the verdict
//!   IDLE ─────────────► QUEUED ──────────┬─► NOTIFIED ───────────────────────────► DONE
//!   the owner           the shard's lock │   the owner; an agent's wait: its       the owner, who
//!    ▲                     │             │   inbox, and IDLE again once popped     only drops it
//!    └────────── leave ────┘             └─► TIMED_OUT (an agent's wait only)
//! ```
//! While it is queued, a node may be `CALLED` (`call.rs`): woken without a verdict, its wake gone until its owner gives it
//! another. The sweep for those who do not look makes `OVERDUE` of it, and the next one `PASSED`. And its owner may make it
//! `ASKING`: to be called by the next sweep. Nothing else changes; what is said of `QUEUED` nodes here holds for all five.
//!
//! A `QUEUED` node is linked either into the queue of its word or, once a notify took it, into the list that
//! this notify is working off (in limbo): already counted, not yet told.
//!
//! # Invariants
//! - **I1** A node is pinned from its first enqueue, and its owner makes it leave (`Locked::leave`, then
//!   `Inbox::forget` if an inbox has it) before its memory goes.
//! - **I2** While `QUEUED`, `Links` belong to whoever holds the lock of the shard of `address`.
//! - **I3** After a settler stored a verdict of a thread's or task's node, it never touches the node again: the
//!   owner may be gone. The store is its last access, and everything it needs for the wake was taken out before.
//! - **I4** A node that an inbox holds (settled, not drained) has `Links` that belong to the inbox's lock.
//! - **I5** Outside of these, `Links` belong to the owner.

use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::NonNull;

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{UnsafeCell, broken};
use crate::wake::Wake;

/// Not in a queue: not yet, or not any more.
pub(crate) const IDLE: usize = 0;
/// In the queue of its word, or in limbo between a notify's lock and its wake.
pub(crate) const QUEUED: usize = 1;
/// A notify counted it.
pub(crate) const NOTIFIED: usize = 6;
/// Its agent found its deadline passed.
pub(crate) const TIMED_OUT: usize = 7;
/// The owner has the verdict, and the node is of no more use.
pub(crate) const DONE: usize = 8;
/// As [`QUEUED`], and called since its owner last looked.
pub(crate) const CALLED: usize = 2;
/// As [`CALLED`], for longer than from one sweep to the next.
pub(crate) const OVERDUE: usize = 3;
/// As [`OVERDUE`], and found so by one more sweep: those behind it have been called, and who tries may have what is kept.
pub(crate) const PASSED: usize = 4;
/// As [`QUEUED`]; the next sweep calls it if somebody stands behind it, or tries.
pub(crate) const ASKING: usize = 5;

/// In [`Links::len`], with the state [`NOTIFIED`]: the notify was one of the last in the queue (`notify_last`).
pub(crate) const NOTIFIED_LAST: usize = usize::MAX;

/// Whether a node in this state is in a list.
#[inline]
pub(crate) fn is_queued(state: usize) -> bool {
    (QUEUED..=ASKING).contains(&state)
}

/// Whether a node in this state was called and its owner has not looked.
#[inline]
pub(crate) fn is_called(state: usize) -> bool {
    (CALLED..=PASSED).contains(&state)
}

/// Whether sweeps have to look at who stands behind a node in this state.
#[inline]
pub(crate) fn is_watched(state: usize) -> bool {
    (CALLED..=ASKING).contains(&state)
}

/// One wait. See the module's text for who may touch it when.
///
/// In the order of use: with a million of them each line of the cache is a miss, and to notify one that is alone on its
/// word takes the state, the wake and the length.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Waiter {
    state: AtomicUsize,
    links: UnsafeCell<Links>,
    /// The address waited on. Written under the lock of its shard; and when the node moves from one queue to another
    /// (`requeue.rs`), under both. So whoever holds the lock of the shard that this says, and looks again, knows.
    address: AtomicUsize,
    _pinned: PhantomPinned,
}

/// The part of a node that is guarded by a lock while the node is linked.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Links {
    /// Whom to tell; taken by whoever settles the node.
    pub(crate) wake: Wake,
    /// In the head of a queue: how many waiters it has. In a notified node, perhaps [`NOTIFIED_LAST`].
    pub(crate) len: usize,
    /// Neighbours in the circular list of its word, of a notify or of an inbox.
    pub(crate) next: NonNull<Waiter>,
    pub(crate) prev: NonNull<Waiter>,
    /// In the head of a queue: the head of the next queue in the bucket.
    pub(crate) sibling: Option<NonNull<Waiter>>,
    /// When it entered, counted per shard. Tells a node in limbo from one still queued. Before it has entered: the bits
    /// of the value that it expects, so that a future need not keep them elsewhere.
    pub(crate) ticket: u64,
}

// SAFETY: a node's links are reached only under the lock that owns them (I2, I4) or by the owner (I5); its wake
// is `Send`.
unsafe impl Send for Waiter {}
// SAFETY: as above; `&Waiter` alone gives access to nothing but the atomic state.
unsafe impl Sync for Waiter {}

impl Waiter {
    /// A node that is in no list.
    pub(crate) fn new() -> Self {
        Self::expecting(0)
    }

    /// A node that keeps what it [`expects`](Self::expects) until it enters.
    pub(crate) fn expecting(bits: u64) -> Self {
        Self {
            state: AtomicUsize::new(IDLE),
            links: UnsafeCell::new(Links {
                wake: Wake::NOBODY,
                len: 0,
                next: NonNull::dangling(),
                prev: NonNull::dangling(),
                sibling: None,
                ticket: bits,
            }),
            address: AtomicUsize::new(0),
            _pinned: PhantomPinned,
        }
    }

    /// The state. Reading a verdict acquires everything that its notifier did before.
    #[inline]
    pub(crate) fn state(&self) -> usize {
        self.state.load(if broken!("verdict-acquire") { Ordering::Relaxed } else { Ordering::Acquire })
    }

    /// Stores a state; a verdict is the settler's last access to the node (I3).
    #[inline]
    pub(crate) fn set_state(&self, state: usize) {
        let order = if broken!("verdict-release") { Ordering::Relaxed } else { Ordering::Release };
        self.state.store(state, order);
    }

    /// The address waited on. Fixed while the caller holds the lock of its shard.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        self.address.load(Ordering::Relaxed)
    }

    /// Says in which queue it is, under the lock of that.
    #[inline]
    pub(crate) fn set_address(&self, address: usize) {
        self.address.store(address, Ordering::Relaxed);
    }

    /// Says whom to tell, before the node is enqueued.
    pub(crate) fn set_wake(self: Pin<&Self>, wake: Wake) {
        debug_assert_eq!(self.state(), IDLE);
        // SAFETY: an idle node's links belong to the owner (I5), who calls this.
        let before = unsafe { with(self.pointer(), |links| std::mem::replace(&mut links.wake, wake)) };
        drop(before);
    }

    /// What it was made [`expecting`](Self::expecting). It has not entered yet.
    pub(crate) fn expects(self: Pin<&Self>) -> u64 {
        debug_assert_eq!(self.state(), IDLE);
        // SAFETY: as in `set_wake`.
        unsafe { with(self.pointer(), |links| links.ticket) }
    }

    /// The pointer under which lists know this node.
    pub(crate) fn pointer(self: Pin<&Self>) -> NonNull<Waiter> {
        NonNull::from(self.get_ref())
    }
}

/// Tells loom that the memory goes, where nothing but the verdict (V) orders that after the settler's access (I3).
/// (For an agent's wait, and the sentinels of its inbox, a lock does, or a counter that loom does not see.)
#[cfg(waitword_loom)]
impl Drop for Waiter {
    fn drop(&mut self) {
        let told = matches!(self.state.load(Ordering::Relaxed), NOTIFIED | DONE);
        if told && !std::thread::panicking() {
            self.links.with_mut(|_| ());
        }
    }
}

/// Access to the links of a node.
///
/// # Safety
/// The node is alive, and its links belong to the caller (I2, I4, I5). `access` must not reach the same node again.
#[inline(always)]
pub(crate) unsafe fn with<R>(node: NonNull<Waiter>, access: impl FnOnce(&mut Links) -> R) -> R {
    // SAFETY: alive and exclusively ours, says the caller.
    unsafe { node.as_ref() }.links.with_mut(|links| access(unsafe { &mut *links }))
}
