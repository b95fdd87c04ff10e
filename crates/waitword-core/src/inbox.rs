//! The completed waits of one agent, in the order in which they were completed.
//!
//! An ECMAScript agent has any number of `waitAsync` pending and one thread to run their jobs. A notify from elsewhere appends a wait to
//! the agent's inbox *while it holds the shard's lock*, so that the inbox has the order of the notifies, and rings the agent's doorbell
//! after it. A notify by the agent itself completes the agent's own waits into a second list, because the standard resolves those before
//! `Atomics.notify` returns.
//!
//! An inbox links [entries](Entry) and does not know what they are part of; `agent.rs` does.
//!
//! The inbox's lock is a leaf: taken under a shard's lock, and nothing is locked under it.

use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;

use super::list::{Entry, List, unlink};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering};

/// The completed async waits of one agent, in the order of their completion.
///
/// The agent creates an [`InboxWait`](crate::InboxWait) per wait, and removes the completed ones with [`pop`](Self::pop). Clones refer to
/// the same inbox.
#[derive(Clone)]
pub struct Inbox {
    shared: Pin<Arc<Shared>>,
}

struct Shared {
    /// Owns the neighbours of whatever is in the two lists (I4).
    lock: Mutex<()>,
    /// Completed by others, or by a deadline.
    elsewhere: List,
    /// Completed by a notify of this agent that has not returned yet.
    here: List,
    bell_due: AtomicBool,
    doorbell: Box<dyn Fn() + Send + Sync>,
}

/// One of the two lists of an inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completed {
    /// By a notify of the agent itself.
    Here,
    /// By another's notify, or by a deadline.
    Elsewhere,
}

impl Inbox {
    /// Returns a number that identifies the inbox, and its agent in snapshots (`observe::Actor::Agent`).
    pub fn identity(&self) -> usize {
        std::ptr::from_ref::<Shared>(&self.shared).addr()
    }

    /// Creates an empty inbox.
    ///
    /// `doorbell` is called after waits were completed by another agent, thread or task, on the notifier's thread and with no lock held. It
    /// should be short: unpark a thread, post to an event loop. A panic of it is caught, as that of a waker
    /// ([`notify_many`](crate::notify_many)).
    pub fn new(doorbell: impl Fn() + Send + Sync + 'static) -> Self {
        let shared = Arc::pin(Shared {
            lock: Mutex::new(()),
            elsewhere: List::new(),
            here: List::new(),
            bell_due: AtomicBool::new(false),
            doorbell: Box::new(doorbell),
        });
        shared.as_ref().list(Completed::Elsewhere).init();
        shared.as_ref().list(Completed::Here).init();
        Self { shared }
    }

    /// Returns whether [`pop`](Self::pop) and [`pop_here`](Self::pop_here) would find nothing at this moment.
    pub fn is_empty(&self) -> bool {
        let shared = self.shared.as_ref();
        let _held = shared.get_ref().lock.lock();
        // SAFETY: the lock is held (I4).
        unsafe { shared.list(Completed::Elsewhere).is_empty() && shared.list(Completed::Here).is_empty() }
    }

    /// Calls the doorbell, as if something had been completed.
    pub fn ring(&self) {
        (self.shared.doorbell)();
    }

    /// Calls the doorbell, unless another notifier has done so since the last wait arrived.
    pub(crate) fn ring_if_due(&self) {
        if self.shared.bell_due.swap(false, Ordering::AcqRel) {
            self.ring();
        }
    }

    /// The list for a wait that `notifier`, if an agent notifies, completes.
    pub(crate) fn list_for(&self, notifier: Option<&Inbox>) -> Completed {
        match notifier {
            Some(notifier) if std::ptr::eq(&*notifier.shared, &*self.shared) => Completed::Here,
            _ => Completed::Elsewhere,
        }
    }

    /// Appends a completed wait. `publish` stores its outcome, under the inbox's lock. The doorbell is due if `rings`.
    ///
    /// # Safety
    /// The caller owns the unlinked `entry` of a wait of this inbox; when this returns, the inbox does. The owner of the memory
    /// [removes](Self::remove_if) the entry before the memory is freed.
    pub(crate) unsafe fn push(
        &self,
        entry: NonNull<Entry>,
        list: Completed,
        rings: bool,
        publish: impl FnOnce(),
    ) {
        let shared = self.shared.as_ref();
        let _held = shared.get_ref().lock.lock();
        // SAFETY: the lock is held, and the entry is given to us (I4).
        unsafe { shared.list(list).push(entry) };
        publish();
        if rings {
            shared.bell_due.store(true, Ordering::Release);
        }
    }

    /// Takes the first completed wait out of a list; `take` reads it under the inbox's lock, while it is known to be alive.
    pub(crate) fn pop_from<R>(&self, list: Completed, take: impl FnOnce(NonNull<Entry>) -> R) -> Option<R> {
        let shared = self.shared.as_ref();
        let _held = shared.get_ref().lock.lock();
        // SAFETY: the lock is held (I4), and what is in the list is alive: its owner takes it out first (I1).
        let first = unsafe { shared.list(list).pop() };
        first.map(take)
    }

    /// Removes an entry that will not be popped, if `is_here`, called under the inbox's lock, finds that it still is in one of the lists.
    ///
    /// # Safety
    /// The caller owns the memory of `entry`, and what `is_here` says is true.
    pub(crate) unsafe fn remove_if(&self, entry: NonNull<Entry>, is_here: impl FnOnce() -> bool) {
        let _held = self.shared.lock.lock();
        if is_here() {
            // SAFETY: in one of our lists, as the caller guarantees, whose lock is held (I4).
            unsafe { unlink(entry) };
        }
    }
}

impl Shared {
    fn list(self: Pin<&Self>, list: Completed) -> Pin<&List> {
        // SAFETY: the lists are pinned with the whole, and nothing moves them.
        unsafe {
            match list {
                Completed::Here => self.map_unchecked(|shared| &shared.here),
                Completed::Elsewhere => self.map_unchecked(|shared| &shared.elsewhere),
            }
        }
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("is_empty", &self.is_empty()).finish_non_exhaustive()
    }
}
