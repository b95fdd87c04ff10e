//! Takes what the waiters of a queue have waited, for who is charged with it: see [`observe`](crate::observe).

use std::pin::Pin;
use std::ptr::NonNull;

use super::guard::Locked;
use super::hash::Key;
use crate::observe::{CROWD, Charge, Delay, blames, is_slow};
use crate::waiter::node::{Waiter, next, with};

/// The identities of the waiters of a queue that was delayed long.
pub(crate) struct Crowd {
    pub(crate) who: [usize; CROWD],
    /// How many waiters there are; `who` has the first.
    pub(crate) len: usize,
}

impl Locked<'_> {
    /// A holder has released what the queue of `key` waits for, and is charged with what has not been charged. If that is slow, `slow`
    /// is called with the waiters.
    pub(crate) fn delay_at_release(&mut self, key: Key, mut slow: impl FnMut(Crowd)) -> Option<Charge> {
        // SAFETY: we hold the lock (I2), for the queue and for all of its nodes, which are alive (I1).
        self.with(|queues, _| unsafe {
            let head = queues.bucket(key).find(key.address)?;
            let ticket = head.as_ref().ticket();
            let (delay, len) = with(head, |links| (links.delays.charge(ticket), links.len as usize));
            let delay = delay?;
            if is_slow(delay.longest) {
                let (mut crowd, mut node) = (Crowd { who: [0; CROWD], len }, head);
                for who in crowd.who.iter_mut().take(len) {
                    *who = with(node, |links| links.wake.identity());
                    node = next(node);
                }
                slow(crowd);
            }
            Some(charge(delay, key, head))
        })
    }

    /// `node` is about to leave the queue of `key`. If it has what it waited for, the lock was free before; if it is the last, nobody
    /// is left to be charged for: either way the queue's delay is taken now.
    pub(crate) fn delay_at_leave(&mut self, key: Key, node: Pin<&Waiter>, acquired: bool) -> Option<Charge> {
        if !blames() {
            return None;
        }
        // SAFETY: as in `delay_at_release`.
        self.with(|queues, _| unsafe {
            let head = queues.bucket(key).find(key.address)?;
            let ticket = head.as_ref().ticket();
            let len = with(head, |links| links.len);
            let is_charged = acquired || (len == 1 && head == node.pointer());
            let delay = if is_charged { with(head, |links| links.delays.charge(ticket)) } else { None };
            let is_for_holder = head.as_ref().waits_for().is_for_holder();
            delay.filter(|_| acquired || is_for_holder).map(|delay| charge(delay, key, head))
        })
    }
}

/// # Safety
/// `head` heads the queue of `key`, under a lock that the caller holds (I2).
unsafe fn charge(delay: Delay, key: Key, head: NonNull<Waiter>) -> Charge {
    // SAFETY: alive (I1), and its links belong to the caller's lock (I2).
    let (waits_for, head_at) = unsafe { (head.as_ref().waits_for(), with(head, |links| links.site.get())) };
    Charge { delay, word: key.address, waits_for, head_at, held: None }
}
