//! Locks by name.

use std::sync::Arc;

use crate::agent_host;
use crate::agent_name::ThreadId;
use crate::mailbox::Ticket;
use crate::named_locks::{Otherwise, Request};
use waitword_quickjs::{Call, Exception, Realm, Value};

/// `requestLock(name, isShared, ifAvailable, steal)`: the ticket, for whose sake the agent goes on until it has the lock; undefined if it
/// is not available.
pub(crate) fn request_lock(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let name = realm.to_string(&call.argument(0))?;
    let is_set = |index| realm.to_bool(&call.argument(index));
    let otherwise = match (is_set(2), is_set(3)) {
        (true, _) => Otherwise::GiveUp,
        (_, true) => Otherwise::Steal,
        _ => Otherwise::Wait,
    };
    let ticket = host.ask();
    let news = Arc::clone(&host.links.mailbox);
    let request = Request { agent: host.id, ticket, is_shared: is_set(1), news };
    if host.cluster.named_locks().request(name, request, otherwise) {
        return Ok(realm.number(ticket));
    }
    host.asked.borrow_mut().remove(&ticket);
    Ok(realm.undefined())
}

/// `releaseLock(name, ticket)`
pub(crate) fn release_lock(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let ticket = realm.to_i32(&call.argument(1))? as Ticket;
    host.asked.borrow_mut().remove(&ticket);
    host.cluster.named_locks().release(&realm.to_string(&call.argument(0))?, host.id, ticket);
    Ok(realm.undefined())
}

/// `queryLocks()`: the holders and the queued requests of each name, as `[name, isShared, threadId, isHeld]`.
pub(crate) fn query_locks(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let row = |(name, is_shared, agent, is_held): (String, bool, ThreadId, bool)| {
        realm.array(&[realm.string(&name)?, realm.bool(is_shared), realm.number(agent), realm.bool(is_held)])
    };
    realm.array(&host.cluster.named_locks().all().into_iter().map(row).collect::<Result<Vec<_>, _>>()?)
}
