//! BroadcastChannels: a message posted in one goes to all others with its name, in all agents of the program.
//!
//! Each channel is a port whose other end is in a *group*. A message to the group is posted at these ends. So messages arrive as at any port,
//! and an agent that ends leaves its groups when its ports are dropped.
//!
//! Lock order: the groups' lock, then that of an end.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::agent_name::ThreadId;
use crate::channel::{End, Message};
use crate::clone::SerializedMessage;
use crate::lock::lock;
use crate::mailbox::PortId;

/// The groups of one program, by name.
#[derive(Default)]
pub(crate) struct BroadcastGroups(Mutex<BTreeMap<String, Vec<Member>>>);

struct Member {
    key: Key,
    /// The end of the port that is in the group.
    end: End,
}

/// A member of a group: an agent, and the number of its port.
pub(crate) type Key = (ThreadId, PortId);

impl BroadcastGroups {
    pub(crate) fn join(&self, name: String, key: Key, end: End) {
        let mut groups = lock(&self.0);
        let members = groups.entry(name).or_default();
        members.retain(|member| !member.end.is_cut());
        members.push(Member { key, end });
    }

    /// Posts to all members except the sender, or to none. Returns whether there was memory for all.
    pub(crate) fn post(&self, name: &str, from: Key, message: &SerializedMessage) -> bool {
        let groups = lock(&self.0);
        let others = || groups.get(name).into_iter().flatten().filter(|member| member.key != from);
        let Some(copies) = others().map(|_| message.another()).collect::<Option<Vec<_>>>() else {
            return false;
        };
        for (member, serialized) in others().zip(copies) {
            member.end.post(Message { serialized, ports: Vec::new() });
        }
        true
    }

    pub(crate) fn leave(&self, name: &str, key: Key) {
        let mut groups = lock(&self.0);
        let Some(members) = groups.get_mut(name) else { return };
        members.retain(|member| member.key != key && !member.end.is_cut());
        if members.is_empty() {
            groups.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::channel;

    #[test]
    fn all_others_of_the_name_get_a_message() {
        let groups = BroadcastGroups::default();
        let mut ends = BTreeMap::new();
        for (name, key) in [("one", (0, 1)), ("one", (0, 2)), ("one", (1, 1)), ("other", (2, 1))] {
            let (here, there) = channel();
            groups.join(name.to_owned(), key, there);
            ends.insert(key, here);
        }
        assert!(groups.post("one", (0, 1), &SerializedMessage::default()));
        let got = |key| ends[&key].take_message().is_some();
        assert_eq!([(0, 1), (0, 2), (1, 1), (2, 1)].map(got), [false, true, true, false]);
    }

    #[test]
    fn a_channel_that_leaves_or_loses_its_agent_leaves_nothing_behind() {
        let groups = BroadcastGroups::default();
        for id in 0..100 {
            let (here, there) = channel();
            groups.join("group".to_owned(), (id, 1), there);
            drop(here);
        }
        assert_eq!(lock(&groups.0)["group"].len(), 1, "the last one; its end was cut after it had come");
        groups.leave("group", (99, 1));
        assert!(lock(&groups.0).is_empty());
    }
}
