//! The node: one wait that is, was or will be in a queue. [`queue`](super) has its states, and who owns it in each.

use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::NonNull;

use super::key::Key;
use crate::list::{self, Entry};
use crate::observe::{
    Begun, HOLDERS, Origin, PackedSite, Site, WaiterKind, WaitsFor, asks, nanos, years_of_tickets,
};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::fork::Owner;
use crate::sync::{UnsafeCell, order};
use crate::wake::Wake;

// The low bits of a node's word: whether the node is queued, and a detail of the queued or the ended wait. See `STATE` for the rest.
//
//   bit 0     bits 1 to 3
//   QUEUED    nothing; REQUESTED or PASSED; SIGNALLED, then OVERDUE, then SKIPPED
//   not       nothing (idle); NOTIFIED or GONE; DONE beside them

/// In no list, and not ended: not enqueued yet, or not any more.
pub(crate) const IDLE: u64 = 0;
/// In the queue of its word; or detached, between the lock of a notify and its wake.
pub(crate) const QUEUED: u64 = 1;
/// [`QUEUED`]; the next pass signals it if a waiter is queued behind it, or [`is_queue_stalled`](crate::is_queue_stalled) is asked.
pub(crate) const REQUESTED: u64 = QUEUED | 2;
/// [`QUEUED`]; [`signal_past`](crate::signal_past) and the watchdog go past it to the waiters behind it.
pub(crate) const PASSED: u64 = QUEUED | 4;
/// [`QUEUED`], and signalled since its owner last rechecked.
pub(crate) const SIGNALLED: u64 = QUEUED | 8;
/// [`SIGNALLED`] since before the last pass of the watchdog, and silent.
pub(crate) const OVERDUE: u64 = SIGNALLED | 2;
/// [`OVERDUE`], and silent for one full pass more: the waiters behind it are signalled, and `try_` methods may take what is reserved.
pub(crate) const SKIPPED: u64 = SIGNALLED | 4;
/// A notify counted it.
pub(crate) const NOTIFIED: u64 = 2;
/// Removed from the queue without a notify: the wait of an agent whose deadline has passed; or, in the child of a fork, a wait that another
/// thread than the forking one had queued (`fork.rs`).
pub(crate) const GONE: u64 = 4;
/// The owner has the outcome, and the node is of no more use.
pub(crate) const DONE: u64 = 8;

/// The bits of [`Waiter::state`] that are the state. Above them, until an outcome is stored, are what the node waits for, whether it
/// has a deadline, whether it was enqueued as the first, and the ticket; of a notified one, [`ALONE`] and
/// [`BY_LAST`].
const STATE: u64 = 0xF;
const WAITS_FOR_SHIFT: u32 = STATE.count_ones();
const WAITS_FOR: u64 = 0xF << WAITS_FOR_SHIFT;
/// It waits for a condition variable, and its owner still holds the mutex, which it releases before it sleeps. Snapshots omit it. Only
/// while holders are recorded.
const BEFORE_RELEASE: u64 = (WaitsFor::ALL.len() as u64) << WAITS_FOR_SHIFT;
const TIMED: u64 = 1 << 8;
/// The bits that stay when a node moves to another queue.
const KEPT: u64 = STATE | WAITS_FOR | TIMED;
/// No other waiter was queued on its word when it was enqueued.
const FIRST: u64 = 1 << KEPT.count_ones();
const TICKET_SHIFT: u32 = (KEPT | FIRST).count_ones();

/// The time for which the clock may run (`observe/seen.rs`). Tickets that only count last longer.
const _: () =
    assert!(years_of_tickets(u64::BITS - TICKET_SHIFT) >= 9, "tickets wrap, and no longer order the waiters");
/// Beside [`NOTIFIED`]: the notify was of the tail (`notify_last`).
const BY_LAST: u64 = STATE + 1;
/// Beside [`NOTIFIED`]: the notify was for this one alone.
const ALONE: u64 = BY_LAST << 1;
/// [`NOTIFIED`], by a notify of the head alone.
pub(crate) const NOTIFIED_FIRST: u64 = NOTIFIED | ALONE;
/// [`NOTIFIED`], by a notify of the tail.
pub(crate) const NOTIFIED_LAST: u64 = NOTIFIED | ALONE | BY_LAST;

/// Whether a node in this state is in a list.
#[inline]
pub(crate) fn is_queued(state: u64) -> bool {
    state & QUEUED != 0
}

/// Whether a node in this state is signalled, and its owner has not acknowledged that.
#[inline]
pub(crate) fn is_signalled(state: u64) -> bool {
    state & SIGNALLED == SIGNALLED
}

/// One wait. [`queue`](super) says who may touch it when.
///
/// Fields are in the order of use: with a million nodes each cache line is a miss. A notify of a node that is alone on its word needs the
/// state, the wake and the length; a look-up that passes it in the chain of its bucket, the sibling and the key.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Waiter {
    /// Its state and what it waits for, and while it is queued its ticket: when it was enqueued, counted per shard. The ticket
    /// distinguishes a detached node from a queued one. In one word, so that a node fits into 64 bytes.
    state: AtomicU64,
    links: UnsafeCell<Links>,
    /// The key of the word. Written under the lock of its shard; and when the node moves from one queue to another (`requeue.rs`), under
    /// both. So a thread that locks the shard of this key and rechecks it knows that it has the right lock. Before it is enqueued: what it
    /// expects, so that a future need not keep that elsewhere.
    key: AtomicU64,
    /// Its neighbours in the queue of its word, in a notify's list or in an inbox.
    entry: Entry,
    /// The thread that enqueued or polled it last, for a fork.
    pub(crate) owner: Owner,
    _pinned: PhantomPinned,
}

/// The node of an agent's wait, and its token. The node comes first: a pointer to the one is a pointer to the other.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Tagged {
    pub(crate) node: Waiter,
    pub(crate) token: usize,
}

/// The part of a node that is guarded by a lock while the node is linked.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Links {
    /// How its owner is woken; taken by the notifier that completes or signals the node.
    pub(crate) wake: Wake,
    /// In the head of a queue: how many waiters it has.
    pub(crate) len: u32,
    /// Where the wait began, for snapshots.
    pub(crate) site: PackedSite,
    /// In the head of a queue: the head of the next queue in the bucket.
    pub(crate) sibling: Option<NonNull<Waiter>>,
}

/// One cache line and the owner, which only a fork reads, so that each of many waiters on one word costs one miss.
const _: () =
    assert!(size_of::<usize>() < 8 || std::mem::offset_of!(Waiter, owner) == 64 || crate::sync::MODEL);

// SAFETY: a node's links are reached only under the lock that owns them (I2, I4) or by the owner (I5); its wake
// is `Send`.
unsafe impl Send for Waiter {}
// SAFETY: as for `Send` (I2, I4, I5); `&Waiter` alone gives access to nothing but the atomics.
unsafe impl Sync for Waiter {}

impl Waiter {
    /// A node that is in no list.
    #[inline]
    pub(crate) fn new(origin: Option<Origin>) -> Self {
        Self::expecting(0, origin)
    }

    /// A node that keeps what it [`expects`](Self::expects) until it is enqueued.
    #[inline]
    pub(crate) fn expecting(bits: u64, origin: Option<Origin>) -> Self {
        let site = PackedSite::new(origin.and_then(Origin::site));
        let waits_for = match origin {
            Some(origin) if origin.releases() && asks(HOLDERS) => BEFORE_RELEASE,
            origin => origin.map_or(WaitsFor::Word, Origin::waits_for).bits() << WAITS_FOR_SHIFT,
        };
        let timed = if origin.is_some_and(Origin::is_timed) { TIMED } else { 0 };
        Self {
            state: AtomicU64::new(IDLE | waits_for | timed),
            links: UnsafeCell::new(Links { wake: Wake::NOBODY, len: 0, site, sibling: None }),
            key: AtomicU64::new(bits),
            entry: Entry::new(),
            owner: Owner::nobody(),
            _pinned: PhantomPinned,
        }
    }

    /// The state. Reading an outcome acquires everything that the notifier did before.
    #[inline]
    pub(crate) fn state(&self) -> u64 {
        self.state.load(order!(Acquire, "outcome-acquire")) & STATE
    }

    /// Stores the state of a node that is not queued any more; an outcome is the notifier's last access to the node (I3).
    #[inline]
    pub(crate) fn set_state(&self, state: u64) {
        self.state.store(state, order!(Release, "outcome-release"));
    }

    /// Whether the notify that counted it was of the tail.
    #[inline]
    pub(crate) fn was_notified_last(&self) -> bool {
        self.has(BY_LAST, NOTIFIED)
    }

    /// Whether the notify that counted it was for this one alone.
    #[inline]
    pub(crate) fn was_notified_alone(&self) -> bool {
        self.has(ALONE, NOTIFIED)
    }

    /// Whether it is queued, and was enqueued as the first on its word.
    #[inline]
    pub(crate) fn was_first(&self) -> bool {
        self.has(FIRST, QUEUED)
    }

    /// Whether it has this flag, and is queued or [`NOTIFIED`] as the flag requires.
    #[inline]
    fn has(&self, flag: u64, state: u64) -> bool {
        self.state.load(Ordering::Relaxed) & (flag | QUEUED | state) == flag | state
    }

    /// Its owner has the outcome. The kind of notify stays known.
    #[inline]
    pub(crate) fn set_done(&self) {
        self.set_state(self.state.load(Ordering::Relaxed) | DONE);
    }

    /// Stores that it was just linked into a queue, whose lock the caller holds, with this ticket, and whether it is the first there. If it
    /// comes from another queue, it keeps the state that it had there, such as signalled.
    #[inline(always)]
    pub(crate) fn set_queued(&self, ticket: u64, is_first: bool) {
        let kept = self.state.load(Ordering::Relaxed) & KEPT;
        self.set_state(ticket << TICKET_SHIFT | if is_first { FIRST } else { 0 } | kept | QUEUED);
    }

    /// What it waits for, while it is queued.
    pub(crate) fn waits_for(&self) -> WaitsFor {
        match self.state.load(Ordering::Relaxed) & WAITS_FOR {
            BEFORE_RELEASE => WaitsFor::Condvar,
            bits => WaitsFor::from_bits(bits >> WAITS_FOR_SHIFT),
        }
    }

    /// Whether it has a deadline, while it is queued. (An agent keeps its deadlines to itself.)
    pub(crate) fn is_timed(&self) -> bool {
        self.state.load(Ordering::Relaxed) & TIMED != 0
    }

    /// Whether its owner still holds what it releases before it sleeps ([`Origin::before_release`]). Asked by the owner, or under the lock of
    /// its queue.
    #[inline]
    pub(crate) fn releases(&self) -> bool {
        self.state.load(Ordering::Relaxed) & (WAITS_FOR | QUEUED) == BEFORE_RELEASE | QUEUED
    }

    /// Its owner has released what it held, and waits for this; called under the lock of its queue.
    pub(crate) fn set_waits_for(&self, waits_for: WaitsFor) {
        let others = self.state.load(Ordering::Relaxed) & !WAITS_FOR;
        self.set_state(others | waits_for.bits() << WAITS_FOR_SHIFT);
    }

    /// Its ticket, under the lock of its queue.
    #[inline]
    pub(crate) fn ticket(&self) -> u64 {
        self.state.load(Ordering::Relaxed) >> TICKET_SHIFT
    }

    /// Whether it was enqueued before `other`, both in the queues of one shard, whose lock the caller holds.
    #[inline]
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        let ticket = |node: &Self| node.state.load(Ordering::Relaxed) >> TICKET_SHIFT;
        ticket(self) < ticket(other)
    }

    /// Stores another state of a queued node, under the lock of its queue.
    #[inline]
    pub(crate) fn change_queued(&self, state: u64) {
        debug_assert!(is_queued(self.state()) && is_queued(state));
        self.set_state(self.state.load(Ordering::Relaxed) & !STATE | state);
    }

    /// Marks it as moved to another queue, whose lock the caller holds: a waiter of a condition variable was notified, and waits for the
    /// mutex from now on, without a deadline.
    pub(crate) fn moved(&self) {
        if self.waits_for() == WaitsFor::Condvar && !self.releases() {
            self.set_waits_for(WaitsFor::Mutex);
        }
        self.set_state(self.state.load(Ordering::Relaxed) & !TIMED);
    }

    /// The key of the word waited on. Fixed while the caller holds the lock of its shard.
    #[inline(always)]
    pub(crate) fn key(&self) -> Key {
        Key(self.key.load(Ordering::Relaxed))
    }

    /// Records in which queue it is, under the lock of that queue.
    #[inline(always)]
    pub(crate) fn set_key(&self, key: Key) {
        self.key.store(key.0, Ordering::Relaxed);
    }

    /// Sets how the owner is woken, before the node is enqueued for the first time.
    #[inline(always)]
    pub(crate) fn init_wake(self: Pin<&Self>, wake: Wake) {
        let nobody = self.set_wake(wake);
        debug_assert!(nobody.is_nobody());
        // There is nothing to drop.
        std::mem::forget(nobody);
    }

    /// Sets how the owner is woken, before the node is enqueued. Returns what was set before.
    #[inline(always)]
    pub(crate) fn set_wake(self: Pin<&Self>, wake: Wake) -> Wake {
        debug_assert_eq!(self.state(), IDLE);
        self.owner.set_here();
        // SAFETY: an idle node's links belong to the owner (I5), who calls this.
        unsafe { with(self.pointer(), |links| std::mem::replace(&mut links.wake, wake)) }
    }

    /// What it was made [`expecting`](Self::expecting). It has not been enqueued yet.
    #[inline(always)]
    pub(crate) fn expects(&self) -> u64 {
        debug_assert_eq!(self.state(), IDLE);
        self.key.load(Ordering::Relaxed)
    }

    /// Where the wait began. The caller owns the node, which is in no list.
    pub(crate) fn site(self: Pin<&Self>) -> Option<&'static Site> {
        debug_assert!(!is_queued(self.state()));
        // SAFETY: the links belong to the owner (I5), who calls this.
        unsafe { with(self.pointer(), |links| links.site) }.get()
    }

    /// For the observer: the wait for this word begins now. Asked by the owner, with the wake set, before it enqueues.
    #[cold]
    pub(crate) fn begun(self: Pin<&Self>, word: usize) -> Begun {
        // SAFETY: an idle node's links belong to the owner (I5), who calls this.
        let (kind, who) = unsafe {
            with(self.pointer(), |links| {
                let kind = match &links.wake {
                    Wake::Agent(_) => WaiterKind::Agent,
                    wake if wake.is_of_thread() => WaiterKind::Thread,
                    _ => WaiterKind::Task,
                };
                (kind, links.wake.identity())
            })
        };
        Begun { at: nanos(), word, kind, who, waits_for: self.waits_for(), site: self.site() }
    }

    /// The identity of its wake, to its owner. It is in no list.
    #[inline]
    pub(crate) fn who(self: Pin<&Self>) -> usize {
        debug_assert!(!is_queued(self.state()));
        // SAFETY: in no queue and in no inbox, so its links belong to the owner (I5), who calls this.
        unsafe { with(self.pointer(), |links| links.wake.identity()) }
    }

    /// The pointer under which queues know this node.
    #[inline]
    pub(crate) fn pointer(self: Pin<&Self>) -> NonNull<Waiter> {
        NonNull::from(self.get_ref())
    }
}

/// The pointer under which lists know `node`.
///
/// # Safety
/// `node` points to a waiter.
#[inline(always)]
pub(crate) unsafe fn entry(node: NonNull<Waiter>) -> NonNull<Entry> {
    // SAFETY: in bounds of the waiter that the caller points to. Derived from a pointer to the whole, so that the whole can be reached from
    // it.
    unsafe { node.byte_add(std::mem::offset_of!(Waiter, entry)).cast() }
}

/// The node that `entry` is part of.
///
/// # Safety
/// It was made by [`entry`](self::entry).
#[inline(always)]
pub(crate) unsafe fn node_of(entry: NonNull<Entry>) -> NonNull<Waiter> {
    // SAFETY: the caller derived it from a pointer to a whole node, in which it lies at this offset.
    unsafe { entry.byte_sub(std::mem::offset_of!(Waiter, entry)).cast() }
}

/// The node behind `node` in its queue.
///
/// # Safety
/// `node` is in the queue of a word, under a lock that the caller holds (I2).
#[inline(always)]
pub(crate) unsafe fn next(node: NonNull<Waiter>) -> NonNull<Waiter> {
    // SAFETY: alive and linked, as the caller guarantees; a queue has no sentinel, so its entries are nodes'.
    unsafe { node_of(list::next(entry(node))) }
}

/// The node before `node` in its queue.
///
/// # Safety
/// As [`next`].
#[inline(always)]
pub(crate) unsafe fn prev(node: NonNull<Waiter>) -> NonNull<Waiter> {
    // SAFETY: as in `next`.
    unsafe { node_of(list::prev(entry(node))) }
}

/// Tells loom that the memory is freed, where only the outcome (V) orders that after the notifier's access (I3). (For an agent's wait, and
/// the sentinels of its inbox, a lock does, or a counter that loom does not see.)
#[cfg(waitword_loom)]
impl Drop for Waiter {
    fn drop(&mut self) {
        let state = self.state.load(Ordering::Relaxed);
        let completed = !is_queued(state) && state & (NOTIFIED | DONE) != 0;
        if completed && !std::thread::panicking() {
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
    // SAFETY: alive, and its links are the caller's (I2, I4, I5).
    unsafe { node.as_ref() }.links.with_mut(|links| access(unsafe { &mut *links }))
}
