//! The locks that agents request by name: `locks` of `node:worker_threads`, by the Web Locks standard.
//!
//! Each name has holders and a FIFO queue of requests. An agent gets a message when a request is granted, or its lock is stolen. The end of
//! an agent releases its locks and removes its requests.
//!
//! Lock order: the lock of the names, then that of a mailbox, then a bell's.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use crate::agent_name::ThreadId;
use crate::lock::lock;
use crate::mailbox::{Arrival, Mailbox, Ticket};

/// The locks of a program, by name. A name without holders and requests has no entry.
#[derive(Default)]
pub(crate) struct NamedLocks(Mutex<BTreeMap<String, Named>>);

#[derive(Default)]
struct Named {
    holders: Vec<Request>,
    pending: VecDeque<Request>,
}

pub(crate) struct Request {
    pub(crate) agent: ThreadId,
    pub(crate) ticket: Ticket,
    pub(crate) is_shared: bool,
    pub(crate) news: Arc<Mailbox>,
}

/// What to do with a request that cannot be granted at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Otherwise {
    Wait,
    GiveUp,
    /// Take the lock from its holders, before all queued requests.
    Steal,
}

impl NamedLocks {
    /// Makes a request. Returns whether it was granted or queued.
    pub(crate) fn request(&self, name: String, request: Request, otherwise: Otherwise) -> bool {
        let mut names = lock(&self.0);
        let named = names.entry(name).or_default();
        if otherwise == Otherwise::Steal {
            for Request { ticket, news, .. } in named.holders.drain(..) {
                news.post(Arrival::LockStolen(ticket));
            }
            named.pending.push_front(request);
        } else if otherwise == Otherwise::GiveUp && !(named.pending.is_empty() && named.admits(&request)) {
            // Another request holds the lock, so the entry stays.
            return false;
        } else {
            named.pending.push_back(request);
        }
        named.grant();
        true
    }

    /// Releases a lock, or removes a request. Returns whether there was one, because it may have been stolen.
    pub(crate) fn release(&self, name: &str, agent: ThreadId, ticket: Ticket) -> bool {
        let mut names = lock(&self.0);
        let Some(named) = names.get_mut(name) else { return false };
        let was_there = named.remove(|request| (request.agent, request.ticket) == (agent, ticket));
        if named.is_free() {
            names.remove(name);
        }
        was_there
    }

    /// Releases all locks of an agent that has ended, and removes its requests.
    pub(crate) fn leave(&self, agent: ThreadId) {
        lock(&self.0).retain(|_, named| {
            named.remove(|request| request.agent == agent);
            !named.is_free()
        });
    }

    /// All requests: the name, whether it is shared, the agent, and whether it holds the lock.
    pub(crate) fn all(&self) -> Vec<(String, bool, ThreadId, bool)> {
        let mut all = Vec::new();
        for (name, named) in &*lock(&self.0) {
            let row =
                |is_held| move |request: &Request| (name.clone(), request.is_shared, request.agent, is_held);
            all.extend(named.holders.iter().map(row(true)));
            all.extend(named.pending.iter().map(row(false)));
        }
        all
    }
}

impl Named {
    fn admits(&self, request: &Request) -> bool {
        self.holders.iter().all(|holder| holder.is_shared && request.is_shared)
    }

    /// Grants what can be granted, in FIFO order: a request that cannot be granted yet blocks those behind it.
    fn grant(&mut self) {
        while self.pending.front().is_some_and(|first| self.admits(first)) {
            let Some(first) = self.pending.pop_front() else { return };
            first.news.post(Arrival::LockGranted(first.ticket));
            self.holders.push(first);
        }
    }

    /// Removes requests. Returns whether there were any.
    fn remove(&mut self, which: impl Fn(&Request) -> bool) -> bool {
        let before = self.holders.len() + self.pending.len();
        self.holders.retain(|request| !which(request));
        self.pending.retain(|request| !which(request));
        let is_fewer = self.holders.len() + self.pending.len() < before;
        self.grant();
        is_fewer
    }

    fn is_free(&self) -> bool {
        self.holders.is_empty() && self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_granted_in_the_order_of_the_requests_and_given_up_with_their_agents() {
        let locks = NamedLocks::default();
        let mailbox = Arc::new(Mailbox::new(Arc::default()));
        let request = |agent, ticket, is_shared, otherwise| {
            let request = Request { agent, ticket, is_shared, news: Arc::clone(&mailbox) };
            locks.request("name".to_owned(), request, otherwise)
        };
        let news = || {
            let news = std::iter::from_fn(|| mailbox.take()).map(|news| match news {
                Arrival::LockGranted(ticket) => i64::from(ticket),
                Arrival::LockStolen(ticket) => -i64::from(ticket),
                _ => panic!("nothing but locks"),
            });
            news.collect::<Vec<_>>()
        };
        for (agent, ticket, is_shared) in [(1, 1, true), (2, 2, true), (1, 3, false), (2, 4, true)] {
            assert!(request(agent, ticket, is_shared, Otherwise::Wait));
        }
        assert_eq!(news(), [1, 2], "the fourth is behind one that has to wait");
        assert!(!request(3, 5, true, Otherwise::GiveUp));
        assert!(locks.release("name", 1, 1));
        assert_eq!(news(), []);
        locks.leave(2);
        assert_eq!(news(), [3]);
        assert!(request(3, 6, false, Otherwise::Steal));
        assert_eq!(news(), [-3, 6]);
        assert!(!locks.release("name", 1, 3), "it was stolen");
        assert!(request(1, 7, false, Otherwise::Wait));
        assert!(locks.release("name", 1, 7) && locks.release("name", 3, 6));
        assert!(news().is_empty() && lock(&locks.0).is_empty());
        assert!(request(3, 8, false, Otherwise::GiveUp));
        assert_eq!(news(), [8]);
    }
}
