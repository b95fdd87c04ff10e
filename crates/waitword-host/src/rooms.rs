//! BroadcastChannels: what is posted in one goes to all others of its name, in whatever agent of the program.
//!
//! Each channel is a port whose other end is in a *room*, and what is posted to the room is posted at those ends. So letters
//! come as at any port, and an agent that dies leaves its rooms by dropping its ports.
//!
//! Lock order: the rooms' lock, then that of an end.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use waitword_quickjs::{Call, Exception, Realm, Value};

use super::agent_host;
use super::channel::{End, Envelope, PortId, channel};
use super::clone::Parcel;
use super::natives::port_id;
use super::{ThreadId, agent_host::Host};

/// The rooms of one program, by name.
#[derive(Default)]
pub(crate) struct Rooms(Mutex<BTreeMap<String, Vec<Member>>>);

struct Member {
    key: Key,
    /// The end that is not in an agent.
    end: End,
}

/// Who is in a room: an agent, by the port under which it knows the channel.
type Key = (ThreadId, PortId);

impl Rooms {
    fn join(&self, name: String, key: Key, end: End) {
        let mut rooms = self.lock();
        let members = rooms.entry(name).or_default();
        members.retain(|member| !member.end.is_cut());
        members.push(Member { key, end });
    }

    /// To all but the one who posts, or to nobody: whether there was room for all.
    fn post(&self, name: &str, from: Key, message: &Parcel) -> bool {
        let rooms = self.lock();
        let others = || rooms.get(name).into_iter().flatten().filter(|member| member.key != from);
        let Some(copies) = others().map(|_| message.another()).collect::<Option<Vec<_>>>() else {
            return false;
        };
        for (member, parcel) in others().zip(copies) {
            member.end.post(Envelope { parcel, ports: Vec::new() });
        }
        true
    }

    fn leave(&self, name: &str, key: Key) {
        let mut rooms = self.lock();
        let Some(members) = rooms.get_mut(name) else { return };
        members.retain(|member| member.key != key && !member.end.is_cut());
        if members.is_empty() {
            rooms.remove(name);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Member>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `joinRoom(name)`: the number of the port.
pub(crate) fn join_room(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let name = realm.to_string(&call.argument(0))?;
    let (here, there) = channel();
    let id = host.ports.borrow_mut().adopt(here);
    host.cluster.rooms().join(name, (host.id, id), there);
    Ok(realm.number(id))
}

/// `postToRoom(name, id, ids)`
pub(crate) fn post_to_room(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let (host, name, key) = member(realm, call)?;
    let message = host.send(realm, &call.argument(2))?;
    match host.cluster.rooms().post(&name, key, &message.parcel) {
        true => Ok(realm.undefined()),
        false => Err(host.kit(realm)?.no_room(realm)),
    }
}

/// `leaveRoom(name, id)`
pub(crate) fn leave_room(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let (host, name, key) = member(realm, call)?;
    host.ports.borrow_mut().close(key.1, false);
    host.cluster.rooms().leave(&name, key);
    Ok(realm.undefined())
}

fn member(realm: &Realm, call: &Call<'_>) -> Result<(std::rc::Rc<Host>, String, Key), Exception> {
    let host = agent_host::of(realm)?;
    let key = (host.id, port_id(realm, &call.argument(1))?);
    Ok((host, realm.to_string(&call.argument(0))?, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_others_of_the_name_get_a_message() {
        let rooms = Rooms::default();
        let mut ends = BTreeMap::new();
        for (name, key) in [("one", (0, 1)), ("one", (0, 2)), ("one", (1, 1)), ("other", (2, 1))] {
            let (here, there) = channel();
            rooms.join(name.to_owned(), key, there);
            ends.insert(key, here);
        }
        assert!(rooms.post("one", (0, 1), &Parcel::default()));
        let got = |key| ends[&key].take_message().is_some();
        assert_eq!([(0, 1), (0, 2), (1, 1), (2, 1)].map(got), [false, true, true, false]);
    }

    #[test]
    fn whoever_leaves_or_dies_leaves_nothing_behind() {
        let rooms = Rooms::default();
        for id in 0..100 {
            let (here, there) = channel();
            rooms.join("room".to_owned(), (id, 1), there);
            drop(here);
        }
        assert_eq!(rooms.lock()["room"].len(), 1, "the last one; its end was cut after it had come");
        rooms.leave("room", (99, 1));
        assert!(rooms.lock().is_empty());
    }
}
