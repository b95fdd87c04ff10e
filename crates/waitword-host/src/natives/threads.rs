//! What goes from any agent to any other: messages by number, and locks by name.

use std::sync::Arc;

use crate::agent_host;
use crate::agent_name::ThreadId;
use crate::named_locks::{Otherwise, Request};
use crate::thread_messages::{Receipt, ThreadMessage, Ticket};
use waitword_quickjs::{Call, Exception, Realm, Value};

/// `postToThread(thread, ids)`: the ticket of the answer, for whose sake the agent goes on.
pub(crate) fn post_to_thread(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let message = host.send(realm, &call.argument(1))?;
    let ticket = host.ask();
    let receipt = Receipt::new(&host.from_threads, ticket);
    let message = ThreadMessage::Message { from: host.id, message, receipt };
    host.cluster.directory().post(realm.to_i32(&call.argument(0))?.unsigned_abs(), message);
    Ok(realm.number(ticket))
}

/// `forgetAnswer(ticket)`: nobody waits for it any more.
pub(crate) fn forget_answer(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    host.asked.borrow_mut().remove(&realm.to_i32(&call.argument(0))?.unsigned_abs());
    Ok(realm.undefined())
}

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
    let messages = Arc::clone(&host.from_threads);
    let request = Request { agent: host.id, ticket, is_shared: is_set(1), messages };
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
