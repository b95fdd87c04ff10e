//! Natives for messages and locks by name. A packed message waits in the agent's outbox until one of these functions sends it.

use std::sync::Arc;

use waitword_quickjs::{Exception, Value};

use crate::agent_host::Caller;
use crate::agent_name::ThreadId;
use crate::channel::channel;
use crate::clone::{self, CloneFunctions};
use crate::mailbox::{PortId, Ticket};
use crate::named_locks::{Otherwise, Request};

/// `setCloneFunctions(functions)`: sets the functions of `clone.js` for messages.
pub(super) fn set_clone_functions(by: Caller<'_>, functions: Value) -> Result<(), Exception> {
    // Set once.
    let _ = by.host.functions.set(CloneFunctions::new(by.realm, &functions)?);
    Ok(())
}

/// `expectUncloneable()`: from now on, checks for each object whether it is marked as uncloneable.
pub(super) fn expect_uncloneable(by: Caller<'_>) -> Result<(), Exception> {
    by.host.clone_functions(by.realm)?.has_uncloneable.set(true);
    Ok(())
}

/// `pack(value, buffers, ports)`: writes the message that is sent next, after `seal`.
pub(super) fn pack(
    by: Caller<'_>,
    value: Value,
    buffers: Vec<Value>,
    ports: Vec<Value>,
) -> Result<(), Exception> {
    let serialized = clone::write(by.host.clone_functions(by.realm)?, &value, &buffers, &ports)?;
    drop(by.host.outbox.replace(Some(serialized)));
    Ok(())
}

/// `seal(buffers, ports)`: moves the buffers into the packed message.
pub(super) fn seal(by: Caller<'_>, buffers: Vec<Value>, ports: u32) -> Result<(), Exception> {
    // Taken out of the cell, because a refusal may run getters of the script.
    let Some(mut serialized) = by.host.outbox.take() else {
        return Err(by.realm.error("there is nothing to seal"));
    };
    serialized.seal(by.host.clone_functions(by.realm)?, &buffers, ports as usize)?;
    drop(by.host.outbox.replace(Some(serialized)));
    Ok(())
}

/// `copy(ids)`: reads the packed message, as another agent would.
pub(super) fn copy(by: Caller<'_>, ids: Vec<PortId>) -> Result<Value, Exception> {
    let message = by.host.send(by.realm, ids)?;
    Ok(by.host.unpack(by.realm, message)?.0)
}

/// `takeData()`: returns `workerData`.
pub(super) fn take_data(by: Caller<'_>) -> Result<Option<Value>, Exception> {
    let Some(message) = by.host.links.data().take() else { return Ok(None) };
    let (data, _) = by.realm.within_memory_limit(|| by.host.unpack(by.realm, message))?;
    Ok(Some(data))
}

/// `openChannel()`: returns the numbers of its two ports.
pub(super) fn open_channel(by: Caller<'_>) -> Vec<PortId> {
    let (one, other) = by.host.links.ports().open();
    vec![one, other]
}

/// `postToPort(id, ids)`. The number 0, which no port has, stands for a closed port.
pub(super) fn post_to_port(by: Caller<'_>, id: PortId, ids: Vec<PortId>) -> Result<(), Exception> {
    let message = by.host.send(by.realm, ids)?;
    let refused = by.host.links.ports().post(id, message);
    drop(refused);
    Ok(())
}

/// `listenToPort(id, receives, keepsAlive)`
pub(super) fn listen_to_port(by: Caller<'_>, id: PortId, receives: bool, keeps_alive: bool) {
    by.host.links.ports().listen(id, receives, keeps_alive);
}

/// `receiveFromPort(id)`: returns the first message, in an array, or undefined.
pub(super) fn receive_from_port(by: Caller<'_>, id: PortId) -> Result<Option<Vec<Value>>, Exception> {
    let message = by.host.links.ports().take_message(id);
    message.map(|message| Ok(vec![by.host.unpack(by.realm, message)?.0])).transpose()
}

/// `closePort(id)`. The closing arrives as a message.
pub(super) fn close_port(by: Caller<'_>, id: PortId) {
    by.host.links.ports().close(id, by.host.receiving.get() == Some(id));
}

/// `joinGroup(name)`: returns the number of the port.
pub(super) fn join_group(by: Caller<'_>, name: String) -> PortId {
    let (here, there) = channel();
    let id = by.host.links.ports().adopt(here);
    by.host.cluster.groups.join(name, (by.host.id, id), there);
    id
}

/// `postToGroup(name, id, ids)`
pub(super) fn post_to_group(
    by: Caller<'_>,
    name: String,
    id: PortId,
    ids: Vec<PortId>,
) -> Result<(), Exception> {
    let message = by.host.send(by.realm, ids)?;
    match by.host.cluster.groups.post(&name, (by.host.id, id), &message.serialized) {
        true => Ok(()),
        false => Err(by.host.clone_functions(by.realm)?.no_room()),
    }
}

/// `leaveGroup(name, id)`
pub(super) fn leave_group(by: Caller<'_>, name: String, id: PortId) {
    by.host.links.ports().close(id, false);
    by.host.cluster.groups.leave(&name, (by.host.id, id));
}

/// `requestLock(name, isShared, ifAvailable, steal)`: returns a ticket, which keeps the agent alive until the lock is granted, or undefined if
/// the lock is not available.
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

/// `releaseLock(name, ticket)`: returns false if the lock was stolen.
pub(super) fn release_lock(by: Caller<'_>, name: String, ticket: Ticket) -> bool {
    by.host.asked.borrow_mut().remove(&ticket);
    by.host.cluster.named_locks.release(&name, by.host.id, ticket)
}

/// `queryLocks()`: returns the holders and the queued requests of each name, as `[name, isShared, threadId, isHeld]`.
pub(super) fn query_locks(Caller { host, realm }: Caller<'_>) -> Result<Vec<Vec<Value>>, Exception> {
    let row = |(name, is_shared, agent, is_held): (String, bool, ThreadId, bool)| {
        Ok(vec![realm.string(&name)?, realm.bool(is_shared), realm.number(agent), realm.bool(is_held)])
    };
    host.cluster.named_locks.all().into_iter().map(row).collect()
}
