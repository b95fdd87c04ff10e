//! The ports of one agent: the ends of channels that its scripts have, by number.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::channel::{Delivery, End, Message, channel};
use crate::mailbox::{Arrival, Mailbox, PortId};

pub(crate) struct Ports {
    all: BTreeMap<PortId, Port>,
    arrivals: Arc<Mailbox>,
    opened: PortId,
    keeping_alive: usize,
    /// The agent is gone: what comes is dropped.
    is_closed: bool,
}

struct Port {
    /// `None` once the script closed it: then all that is left is to let the script know.
    end: Option<End>,
    keeps_alive: bool,
}

impl Ports {
    /// `arrivals`: where the agent hears that something has come.
    pub(crate) fn new(arrivals: Arc<Mailbox>) -> Self {
        Self { all: BTreeMap::new(), arrivals, opened: 0, keeping_alive: 0, is_closed: false }
    }

    /// A new channel with both ends here.
    pub(crate) fn open(&mut self) -> (PortId, PortId) {
        let (one, other) = channel();
        (self.adopt(one), self.adopt(other))
    }

    /// An end that has come in a message.
    pub(crate) fn adopt(&mut self, end: End) -> PortId {
        self.opened += 1;
        if self.is_closed {
            return self.opened;
        }
        end.arrive(&self.arrivals, self.opened);
        self.all.insert(self.opened, Port { end: Some(end), keeps_alive: false });
        self.opened
    }

    /// An end that is to go in a message.
    pub(crate) fn send_away(&mut self, id: PortId) -> Option<End> {
        let end = self.remove(id)?.end?;
        end.depart();
        Some(end)
    }

    /// Hands back what cannot be posted.
    pub(crate) fn post(&self, id: PortId, message: Message) -> Option<Message> {
        match self.end(id) {
            Some(end) => {
                end.post(message);
                None
            }
            None => Some(message),
        }
    }

    /// The first message at a port, for `receiveMessageOnPort`, which needs no listener.
    pub(crate) fn take_message(&self, id: PortId) -> Option<Message> {
        self.end(id)?.take_message()
    }

    pub(crate) fn listen(&mut self, id: PortId, receives: bool, keeps_alive: bool) {
        let Some(Port { end: Some(end), keeps_alive: kept }) = self.all.get_mut(&id) else { return };
        end.receive(receives);
        self.keeping_alive -= usize::from(*kept);
        self.keeping_alive += usize::from(keeps_alive);
        *kept = keeps_alive;
    }

    /// Closes a port; that it is closed comes out of [`take`](Self::take), as a message. `is_receiving`: the script does so while it takes a
    /// message from it.
    pub(crate) fn close(&mut self, id: PortId, is_receiving: bool) {
        let Some(Port { end: Some(end), .. }) = self.all.get(&id) else { return };
        if is_receiving && end.shut() {
            return;
        }
        self.cut(id);
    }

    /// The script failed to take a message. As in Node, it gets no more from a port that it has closed.
    pub(crate) fn failed(&mut self, id: PortId) {
        if self.end(id).is_some_and(End::is_shut) {
            self.cut(id);
        }
    }

    fn cut(&mut self, id: PortId) {
        let closed = self.remove(id);
        self.all.insert(id, Port { end: None, keeps_alive: false });
        self.arrivals.post(Arrival::AtPort(id));
        // The other end hears of it after this one.
        drop(closed);
    }

    /// What a token for this port stands for, if that is still there.
    pub(crate) fn take(&mut self, id: PortId) -> Option<Delivery> {
        let delivery = match self.all.get(&id) {
            Some(Port { end: Some(end), .. }) => end.take_announced(),
            Some(Port { end: None, .. }) => Some(Delivery::Closed),
            None => None,
        };
        if matches!(delivery, Some(Delivery::Closed)) {
            // If its other end is not closed already, that learns of it now.
            drop(self.remove(id));
        }
        delivery
    }

    /// Whether there is a port for whose sake the agent goes on.
    pub(crate) fn keep_alive(&self) -> bool {
        self.keeping_alive > 0
    }

    /// The agent is gone: its ports, which are closed when they are dropped.
    pub(crate) fn close_all(&mut self) -> impl Sized + use<> {
        (self.is_closed, self.keeping_alive) = (true, 0);
        std::mem::take(&mut self.all)
    }

    fn end(&self, id: PortId) -> Option<&End> {
        self.all.get(&id)?.end.as_ref()
    }

    fn remove(&mut self, id: PortId) -> Option<Port> {
        let port = self.all.remove(&id)?;
        self.keeping_alive -= usize::from(port.keeps_alive);
        Some(port)
    }
}
