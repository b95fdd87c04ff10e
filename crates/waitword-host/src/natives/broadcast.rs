//! BroadcastChannels.

use std::rc::Rc;

use waitword_quickjs::{Call, Exception, Realm, Value};

use super::arguments::port_id;
use crate::agent_host::{self, Host};
use crate::broadcast_groups::Key;
use crate::channel::channel;

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
