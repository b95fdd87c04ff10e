//! Messages and where they are posted: what is packed waits in the agent's outbox until one of these takes it.

use std::rc::Rc;

use crate::agent_host::{self, Host};
use crate::broadcast_groups::Key;
use crate::channel::{Message, channel};
use crate::clone::{self, CloneFunctions};
use crate::mailbox::PortId;
use waitword_quickjs::{Call, Exception, Realm, Value};

/// `setCloneFunctions(functions)`: what `clone.js` does for messages.
pub(crate) fn set_clone_functions(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    agent_host::of(realm)?.set_clone_functions(CloneFunctions::new(realm, &call.argument(0))?);
    Ok(realm.undefined())
}

/// `expectUncloneable()`: from now on it is asked of each object whether it may be cloned.
pub(crate) fn expect_uncloneable(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    agent_host::of(realm)?.clone_functions(realm)?.expect_uncloneable();
    Ok(realm.undefined())
}

/// `pack(value, buffers, ports)`: the message that is sent next, once it is sealed.
pub(crate) fn pack(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let (buffers, ports) = (elements(realm, &call.argument(1))?, elements(realm, &call.argument(2))?);
    let serialized = clone::write(realm, host.clone_functions(realm)?, &call.argument(0), &buffers, &ports)?;
    let replaced = host.outbox.replace(Some(serialized));
    drop(replaced);
    Ok(realm.undefined())
}

/// `seal(buffers, ports)`: the buffers move into it.
pub(crate) fn seal(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let buffers = elements(realm, &call.argument(0))?;
    let ports = realm.to_i32(&call.argument(1))?.unsigned_abs() as usize;
    // Out of the borrow: a refusal runs the script's getters.
    let Some(mut serialized) = host.outbox.take() else {
        return Err(realm.error("there is nothing to seal"));
    };
    serialized.seal(realm, host.clone_functions(realm)?, &buffers, ports)?;
    let replaced = host.outbox.replace(Some(serialized));
    drop(replaced);
    Ok(realm.undefined())
}

/// `copy(ids)`: what another agent would read.
pub(crate) fn copy(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let message = host.send(realm, &call.argument(0))?;
    Ok(host.unpack(realm, message)?.0)
}

/// `takeData()`: `workerData`.
pub(crate) fn take_data(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let Some(message) = host.links.data().take() else { return Ok(realm.undefined()) };
    let (data, _) = realm.within_memory_limit(|| host.unpack(realm, message))?;
    Ok(data)
}

/// `openChannel()`: the numbers of its two ports.
pub(crate) fn open_channel(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    let (one, other) = agent_host::of(realm)?.links.ports().open();
    realm.array(&[realm.number(one), realm.number(other)])
}

/// `postToPort(id, ids)`. No port has the number 0: nobody can be sent it any more.
pub(crate) fn post_to_port(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let id = port_id(realm, &call.argument(0))?;
    let message = host.send(realm, &call.argument(1))?;
    let refused = host.links.ports().post(id, message);
    drop(refused);
    Ok(realm.undefined())
}

/// `listenToPort(id, receives, keepsAlive)`
pub(crate) fn listen_to_port(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let id = port_id(realm, &call.argument(0))?;
    let (receives, keeps_alive) = (realm.to_bool(&call.argument(1)), realm.to_bool(&call.argument(2)));
    agent_host::of(realm)?.links.ports().listen(id, receives, keeps_alive);
    Ok(realm.undefined())
}

/// `receiveFromPort(id)`: the first message, in an array, or undefined.
pub(crate) fn receive_from_port(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let id = port_id(realm, &call.argument(0))?;
    let message = host.links.ports().take_message(id);
    received(realm, &host, message)
}

/// `closePort(id)`. That it is closed comes as a message.
pub(crate) fn close_port(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let (host, id) = (agent_host::of(realm)?, port_id(realm, &call.argument(0))?);
    let is_receiving = host.receiving.get() == Some(id);
    host.links.ports().close(id, is_receiving);
    Ok(realm.undefined())
}

fn received(realm: &Realm, host: &Host, message: Option<Message>) -> Result<Value, Exception> {
    let Some(message) = message else { return Ok(realm.undefined()) };
    realm.array(&[host.unpack(realm, message)?.0])
}

/// `joinGroup(name)`: the number of the port.
pub(crate) fn join_group(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let name = realm.to_string(&call.argument(0))?;
    let (here, there) = channel();
    let id = host.links.ports().adopt(here);
    host.cluster.broadcast_groups().join(name, (host.id, id), there);
    Ok(realm.number(id))
}

/// `postToGroup(name, id, ids)`
pub(crate) fn post_to_group(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let (host, name, key) = member(realm, call)?;
    let message = host.send(realm, &call.argument(2))?;
    match host.cluster.broadcast_groups().post(&name, key, &message.serialized) {
        true => Ok(realm.undefined()),
        false => Err(host.clone_functions(realm)?.no_room(realm)),
    }
}

/// `leaveGroup(name, id)`
pub(crate) fn leave_group(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let (host, name, key) = member(realm, call)?;
    host.links.ports().close(key.1, false);
    host.cluster.broadcast_groups().leave(&name, key);
    Ok(realm.undefined())
}

fn member(realm: &Realm, call: &Call<'_>) -> Result<(Rc<Host>, String, Key), Exception> {
    let host = agent_host::of(realm)?;
    let key = (host.id, port_id(realm, &call.argument(1))?);
    Ok((host, realm.to_string(&call.argument(0))?, key))
}

/// The elements of a list.
pub(crate) fn elements(realm: &Realm, list: &Value) -> Result<Vec<Value>, Exception> {
    let length = realm.to_i32(&realm.get(list, "length")?)?.unsigned_abs();
    (0..length).map(|index| realm.get(list, index)).collect()
}

pub(crate) fn port_id(realm: &Realm, value: &Value) -> Result<PortId, Exception> {
    Ok(realm.to_i32(value)?.unsigned_abs())
}
