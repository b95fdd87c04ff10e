//! Locks by name.

use std::sync::Arc;

use waitword_quickjs::{Exception, Value};

use crate::agent_host::Caller;
use crate::agent_name::ThreadId;
use crate::mailbox::Ticket;
use crate::named_locks::{Otherwise, Request};

/// `requestLock(name, isShared, ifAvailable, steal)`: the ticket, for whose sake the agent goes on until it has the lock; undefined if it
/// is not available.
pub(super) fn request_lock(
    by: Caller<'_>,
    name: String,
    is_shared: bool,
    if_available: bool,
    steal: bool,
) -> Result<Option<Ticket>, Exception> {
    let otherwise = match (if_available, steal) {
        (true, _) => Otherwise::GiveUp,
        (_, true) => Otherwise::Steal,
        _ => Otherwise::Wait,
    };
    let ticket = by.host.ask();
    let news = Arc::clone(&by.host.links.mailbox);
    let request = Request { agent: by.host.id, ticket, is_shared, news };
    if by.host.cluster.named_locks.request(name, request, otherwise) {
        return Ok(Some(ticket));
    }
    by.host.asked.borrow_mut().remove(&ticket);
    Ok(None)
}

/// `releaseLock(name, ticket)`
pub(super) fn release_lock(by: Caller<'_>, name: String, ticket: Ticket) {
    by.host.asked.borrow_mut().remove(&ticket);
    by.host.cluster.named_locks.release(&name, by.host.id, ticket);
}

/// `queryLocks()`: the holders and the queued requests of each name, as `[name, isShared, threadId, isHeld]`.
pub(super) fn query_locks(Caller { host, realm }: Caller<'_>) -> Result<Vec<Vec<Value>>, Exception> {
    let row = |(name, is_shared, agent, is_held): (String, bool, ThreadId, bool)| {
        Ok(vec![realm.string(&name)?, realm.bool(is_shared), realm.number(agent), realm.bool(is_held)])
    };
    host.cluster.named_locks.all().into_iter().map(row).collect()
}
