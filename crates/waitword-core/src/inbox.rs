//! The settled waits of one agent, in the order in which they were settled.
//!
//! An ECMAScript agent has any number of `waitAsync` pending and one thread to run their jobs. A notify from
//! elsewhere appends a wait to the agent's inbox *while it holds the shard's lock*, so that the inbox has the order
//! of the notifies, and rings the agent's doorbell after it. A notify of the agent's own settles into a second list,
//! because the standard resolves those before `Atomics.notify` returns.
//!
//! The inbox's lock is a leaf: taken under a shard's lock, and nothing is locked under it.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::cancel::{self, Cancelled};
use crate::notify::notify;
use crate::outcome::Outcome;
use crate::queue::{List, unlink};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::table::enqueue_while_equal;
use crate::waiter::{IDLE, NOTIFIED, TIMED_OUT, Waiter};
use crate::wake::Wake;
use crate::word::{Location, Word, bits, key};

/// Where the async waits of one agent arrive once they are settled.
///
/// The agent makes an [`InboxWait`] per wait, and takes the settled ones with [`pop`](Self::pop). Clones name the
/// same inbox.
#[derive(Clone)]
pub struct Inbox {
    shared: Pin<Arc<Shared>>,
}

struct Shared {
    /// Owns the links of whatever is in the two lists (I4).
    lock: Mutex<()>,
    /// Settled by others, or by a deadline.
    elsewhere: List,
    /// Settled by a notify of this agent, not yet returned from.
    here: List,
    bell_due: AtomicBool,
    doorbell: Box<dyn Fn() + Send + Sync>,
}

impl Inbox {
    /// An empty inbox.
    ///
    /// `doorbell` is called after waits were settled by another agent, thread or task, on the notifier's thread and
    /// with no lock held. It should be short: unpark a thread, post to an event loop. If it panics, the panic comes
    /// out of the notify, after all waiters were told.
    pub fn new(doorbell: impl Fn() + Send + Sync + 'static) -> Self {
        let shared = Arc::pin(Shared {
            lock: Mutex::new(()),
            elsewhere: List::new(),
            here: List::new(),
            bell_due: AtomicBool::new(false),
            doorbell: Box::new(doorbell),
        });
        shared.as_ref().list(false).init();
        shared.as_ref().list(true).init();
        Self { shared }
    }

    /// Notifies on behalf of the agent: those of its own waits that this wakes are found with
    /// [`pop_here`](Self::pop_here) when it returns, all others are told as by [`notify_many`](crate::notify_many).
    ///
    /// # Panics
    /// As [`notify_many`](crate::notify_many).
    pub fn notify<L: Location>(&self, at: L, count: usize) -> usize {
        notify(at.table(), key(&at), count, Some(self))
    }

    /// Takes the wait that was settled first: its [`InboxWait::token`], and how it ended.
    pub fn pop(&self) -> Option<(usize, Outcome)> {
        self.shared.as_ref().pop(false)
    }

    /// Takes the first wait that a [`notify`](Self::notify) of this agent settled.
    pub fn pop_here(&self) -> Option<(usize, Outcome)> {
        self.shared.as_ref().pop(true)
    }

    /// Whether [`pop`](Self::pop) and [`pop_here`](Self::pop_here) would find nothing at this moment.
    pub fn is_empty(&self) -> bool {
        let shared = self.shared.as_ref();
        let _held = shared.get_ref().lock.lock();
        // SAFETY: the lock is held (I4).
        unsafe { shared.list(false).is_empty() && shared.list(true).is_empty() }
    }

    /// Calls the doorbell, as if something had been settled.
    pub fn ring(&self) {
        (self.shared.doorbell)();
    }

    /// Calls the doorbell, unless another notifier did since the last arrival.
    pub(crate) fn ring_if_due(&self) {
        if self.shared.bell_due.swap(false, Ordering::AcqRel) {
            self.ring();
        }
    }

    /// Takes a settled node in, under the lock of its shard.
    ///
    /// # Safety
    /// The caller owns the unlinked `node`, which is that of an [`InboxWait`] of this inbox; it does not any more
    /// when this returns.
    pub(crate) unsafe fn accept(&self, node: NonNull<Waiter>, verdict: usize, notifier: Option<&Inbox>) {
        let here = notifier.is_some_and(|notifier| std::ptr::eq(&*notifier.shared, &*self.shared));
        let shared = self.shared.as_ref();
        let _held = shared.get_ref().lock.lock();
        // SAFETY: the lock is held, the node is given to us (I4), and its owner cannot let go of it before it has
        // taken this lock (I1).
        unsafe {
            shared.list(here).push(node);
            node.as_ref().set_state(verdict);
        }
        // What the agent did itself, by its own notify or its look at the clock, it knows without a bell.
        if verdict == NOTIFIED && !here {
            shared.bell_due.store(true, Ordering::Release);
        }
    }
}

impl Shared {
    fn pop(self: Pin<&Self>, here: bool) -> Option<(usize, Outcome)> {
        let _held = self.get_ref().lock.lock();
        // SAFETY: the lock is held (I4), and what is in the list is alive: its owner takes it out first (I1).
        let node = unsafe { self.list(here).pop()?.as_ref() };
        let outcome = if node.state() == NOTIFIED { Outcome::Notified } else { Outcome::TimedOut };
        node.set_state(IDLE);
        Some((std::ptr::from_ref(node).addr(), outcome))
    }

    /// Takes a node out that will not be popped any more. It has left its shard, and may or may not be here.
    fn forget(&self, node: Pin<&Waiter>) {
        let _held = self.lock.lock();
        if matches!(node.state(), NOTIFIED | TIMED_OUT) {
            // SAFETY: a node with a verdict is in one of our lists, whose lock is held (I4).
            unsafe { unlink(node.pointer()) };
            node.set_state(IDLE);
        }
    }

    fn list(self: Pin<&Self>, here: bool) -> Pin<&List> {
        // SAFETY: the lists are pinned with the whole, and nothing moves them.
        unsafe { self.map_unchecked(|shared| if here { &shared.here } else { &shared.elsewhere }) }
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("is_empty", &self.is_empty()).finish_non_exhaustive()
    }
}

/// One async wait of an agent: enqueued, settled into the agent's [`Inbox`], popped there.
///
/// Dropping it takes it out of wherever it is, so that a dead agent's waits never eat a notify. (A notify that had
/// already counted it has counted it.)
#[derive(Debug)]
pub struct InboxWait<L: Location> {
    node: Waiter,
    at: L,
    inbox: Inbox,
    /// Not `Sync`: the owner is one.
    _one_owner: PhantomData<std::cell::Cell<()>>,
}

impl<L: Location> InboxWait<L> {
    /// A wait on `at`, not yet enqueued.
    pub fn new(inbox: &Inbox, at: L) -> Self {
        Self { node: Waiter::new(), at, inbox: inbox.clone(), _one_owner: PhantomData }
    }

    /// Puts it at the end of the word's line, if the word holds `expected`. Returns whether it did.
    ///
    /// # Panics
    /// If it is already enqueued, or settled and not popped.
    pub fn enqueue(self: Pin<&mut Self>, expected: <L::Word as Word>::Value) -> bool {
        assert_eq!(self.node.state(), IDLE, "this wait is already pending; make another `InboxWait`");
        let this = self.as_ref();
        this.node().set_wake(Wake::Agent(Some(this.inbox.clone())));
        enqueue_while_equal(&this.at, bits::<L>(expected), this.node())
    }

    /// Settles it as [`TimedOut`](Outcome::TimedOut), unless a notify has counted it. Returns whether it did; it is
    /// then in the inbox, behind what was settled before. The doorbell is not rung: this is the agent's own doing.
    pub fn expire(self: Pin<&mut Self>) -> bool {
        let this = self.as_ref();
        let (key, mut locked) = this.at.table().lock_of(this.node());
        let wake = locked.expire(key, this.node());
        locked.release();
        wake.is_some()
    }

    /// Whether it was settled and not popped yet.
    pub fn is_settled(&self) -> bool {
        matches!(self.node.state(), NOTIFIED | TIMED_OUT)
    }

    /// What it waits on.
    pub fn location(&self) -> &L {
        &self.at
    }

    /// Names this wait for as long as it is alive.
    pub fn token(&self) -> usize {
        std::ptr::from_ref(&self.node).addr()
    }

    fn node(self: Pin<&Self>) -> Pin<&Waiter> {
        // SAFETY: the node is pinned with the whole, and nothing moves it.
        unsafe { self.map_unchecked(|this| &this.node) }
    }
}

impl<L: Location> Drop for InboxWait<L> {
    fn drop(&mut self) {
        // SAFETY: either it was pinned, or it is idle and in no list; it is not moved from here on.
        let this = unsafe { Pin::new_unchecked(&*self) };
        if this.node.state() == IDLE {
            return;
        }
        let left: Cancelled = cancel::leave(this.at.table(), this.node());
        if left == Cancelled::AfterNotify {
            this.inbox.shared.forget(this.node());
        }
    }
}
