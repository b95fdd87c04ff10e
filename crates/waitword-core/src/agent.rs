//! The wait of an agent: enqueued like any other, completed into the agent's [`Inbox`], popped there.

use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;

use crate::inbox::{Completed, Inbox};
use crate::list::Entry;
use crate::location::{Location, Value, address};
use crate::notify::notify;
use crate::observe::{End, Ended, WaitsFor, ended};
use crate::outcome::{Cancelled, Outcome};
use crate::queue::node::{GONE, IDLE, NOTIFIED, Tagged, Waiter, entry, is_queued, node_of};
use crate::wait::{enqueue_while_equal, leave, left_queue};
use crate::wake::Wake;
use crate::word::bits;

impl Inbox {
    /// Notifies on behalf of the agent to which this inbox belongs. Returns how many waiters it notified.
    ///
    /// The agent's own waits among them are taken with [`pop_here`](Self::pop_here) when this returns; all others are woken as by
    /// [`notify_many`](crate::notify_many).
    ///
    /// # Panics
    /// As [`notify_many`](crate::notify_many).
    pub fn notify<L: Location>(&self, at: L, count: usize) -> usize {
        notify(at.table(), address(&at), count, Some(self))
    }

    /// Removes the wait that was completed first, and returns its token ([`InboxWait::token`]) and its outcome.
    pub fn pop(&self) -> Option<(usize, Outcome)> {
        self.pop_from(Completed::Elsewhere, outcome_of)
    }

    /// Removes the first wait that a [`notify`](Self::notify) of this agent completed, and returns its token and its outcome.
    pub fn pop_here(&self) -> Option<(usize, Outcome)> {
        self.pop_from(Completed::Here, outcome_of)
    }
}

/// The token and the outcome of a wait that was just removed from its inbox. Its node becomes idle again.
fn outcome_of(popped: NonNull<Entry>) -> (usize, Outcome) {
    // SAFETY: inboxes link the entries of tagged nodes only, as `InboxWait::enqueue` gave them to the queue. The node is alive: its owner
    // takes the inbox's lock, which is still held, before its memory is freed (I1, I4).
    let Tagged { node, token } = unsafe { node_of(popped).cast::<Tagged>().as_ref() };
    let outcome = if node.state() == NOTIFIED { Outcome::Notified } else { Outcome::TimedOut };
    node.set_state(IDLE);
    (*token, outcome)
}

/// One async wait of an agent: enqueued, completed into the agent's [`Inbox`], popped there.
///
/// Dropping it removes it from the queue or the inbox, so that a dead agent's waits never consume a notify. (The count of an earlier notify
/// does not change.)
#[derive(Debug)]
pub struct InboxWait<L: Location> {
    tagged: Tagged,
    at: L,
    inbox: Inbox,
    /// Not `Sync`: it has one owner.
    _one_owner: PhantomData<std::cell::Cell<()>>,
}

impl<L: Location> InboxWait<L> {
    /// Creates a wait on `at`, not yet enqueued. The inbox returns `token` with its outcome.
    pub fn new(inbox: &Inbox, at: L, token: usize) -> Self {
        let tagged = Tagged { node: Waiter::new(None), token };
        Self { tagged, at, inbox: inbox.clone(), _one_owner: PhantomData }
    }

    /// Enqueues the wait at the tail of the word's queue, if the word holds `expected`. Returns whether it did.
    ///
    /// # Panics
    /// If the wait is already enqueued, or completed and not popped.
    pub fn enqueue(self: Pin<&mut Self>, expected: Value<L>) -> bool {
        assert_eq!(self.tagged.node.state(), IDLE, "wait already pending: use another `InboxWait`");
        let this = self.as_ref();
        drop(this.node().set_wake(Wake::Agent(Some(this.inbox.clone()))));
        // SAFETY: pinned with the whole, idle, and `drop` makes it leave (I1).
        unsafe {
            enqueue_while_equal(this.at.table(), this.at.word(), bits::<L::Word>(expected), this.pointer())
        }
    }

    /// Completes the wait as [`TimedOut`](Outcome::TimedOut), unless a notify has counted it. Returns whether it did.
    ///
    /// The wait is then in the inbox, behind those completed before. The doorbell is not rung, because the agent itself calls this.
    pub fn expire(self: Pin<&mut Self>) -> bool {
        let this = self.as_ref();
        let mut section = this.at.table().section_of(this.node());
        let left = left_queue(&this.node());
        // SAFETY: pinned with the whole, and `drop` makes it leave (I1).
        let wake = unsafe { section.expire(this.pointer()) };
        drop(section);
        if wake.is_some() {
            this.tell_expired(left);
        }
        wake.is_some()
    }

    /// Returns whether the wait was completed and has not been popped yet.
    pub fn is_completed(&self) -> bool {
        matches!(self.tagged.node.state(), NOTIFIED | GONE)
    }

    /// Returns the location that the wait waits on.
    pub fn location(&self) -> &L {
        &self.at
    }

    /// Returns the token that the wait was created with.
    pub fn token(&self) -> usize {
        self.tagged.token
    }

    /// Reports the end of an expired wait. Its wake is taken, so the inbox has to tell whose wait it was.
    fn tell_expired(&self, left: Option<(WaitsFor, Option<u64>)>) {
        let (word, who) = (address(&self.at), self.inbox.identity());
        ended(|| Ended { end: End::GaveUp, word, who, site: None, left });
    }

    /// The node, as the inbox gets it: from a reference to node and token, so that the token may be read through it, too.
    fn pointer(self: Pin<&Self>) -> NonNull<Waiter> {
        NonNull::from(&self.get_ref().tagged).cast()
    }

    fn node(self: Pin<&Self>) -> Pin<&Waiter> {
        // SAFETY: the node is pinned with the whole, and nothing moves it.
        unsafe { self.map_unchecked(|this| &this.tagged.node) }
    }
}

impl<L: Location> Drop for InboxWait<L> {
    fn drop(&mut self) {
        // SAFETY: either it was pinned, or it is idle and in no list; it is not moved from here on.
        let this = unsafe { Pin::new_unchecked(&*self) };
        let state = this.tagged.node.state();
        if state == IDLE
            || is_queued(state) && leave(this.at.table(), this.node(), End::GaveUp) != Cancelled::AfterNotify
        {
            return;
        }
        let node = this.node();
        // SAFETY: a node with an outcome is in one of the lists of its inbox until that is popped, under the same lock (I4).
        unsafe { this.inbox.remove_if(entry(node.pointer()), || this.is_completed()) };
    }
}
