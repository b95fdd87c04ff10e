//! The ports of an agent: its ends of channels, by number.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::channel::{Delivery, End, Message, channel};
use crate::mailbox::{Arrival, Mailbox, PortId};

pub(crate) struct Ports {
    all: BTreeMap<PortId, Port>,
    arrivals: Arc<Mailbox>,
    opened: PortId,
    keeping_alive: usize,
    /// The agent has ended: arriving ends are dropped.
    is_closed: bool,
}

struct Port {
    /// `None` after the script closed it. The `close` event is still to come.
    end: Option<End>,
    keeps_alive: bool,
}

impl Ports {
    /// `arrivals`: the mailbox that gets a token for each arriving message.
    pub(crate) fn new(arrivals: Arc<Mailbox>) -> Self {
        Self { all: BTreeMap::new(), arrivals, opened: 0, keeping_alive: 0, is_closed: false }
    }

    /// Opens a channel with both ends in this agent.
    pub(crate) fn open(&mut self) -> (PortId, PortId) {
        let (one, other) = channel();
        (self.adopt(one), self.adopt(other))
    }

    /// Adds an end that came in a message.
    pub(crate) fn adopt(&mut self, end: End) -> PortId {
        self.opened += 1;
        if self.is_closed {
            return self.opened;
        }
        end.arrive(&self.arrivals, self.opened);
        self.all.insert(self.opened, Port { end: Some(end), keeps_alive: false });
        self.opened
    }

    /// Removes an end that is to be sent in a message.
    pub(crate) fn send_away(&mut self, id: PortId) -> Option<End> {
        let end = self.remove(id)?.end?;
        end.depart();
        Some(end)
    }

    /// Posts a message. Returns it if it cannot be posted.
    pub(crate) fn post(&self, id: PortId, message: Message) -> Option<Message> {
        match self.end(id) {
            Some(end) => {
                end.post(message);
                None
            }
            None => Some(message),
        }
    }

    /// Takes the first message at a port, for `receiveMessageOnPort`, which needs no listener.
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

    /// Closes a port. [`take`](Self::take) reports that as a message. `is_receiving`: the script closes the port in a listener of its
    /// messages.
    pub(crate) fn close(&mut self, id: PortId, is_receiving: bool) {
        let Some(Port { end: Some(end), .. }) = self.all.get(&id) else { return };
        if is_receiving && end.shut() {
            return;
        }
        self.cut(id);
    }

    /// Records that the script failed while it received a message. As in Node, it gets no more messages from a port that it has closed.
    pub(crate) fn failed(&mut self, id: PortId) {
        if self.end(id).is_some_and(End::is_shut) {
            self.cut(id);
        }
    }

    fn cut(&mut self, id: PortId) {
        let closed = self.remove(id);
        self.all.insert(id, Port { end: None, keeps_alive: false });
        self.arrivals.post(Arrival::AtPort(id));
        // Dropped last, so that the other end learns of it after this one.
        drop(closed);
    }

    /// Takes the message for a token of this port, if it is still there.
    pub(crate) fn take(&mut self, id: PortId) -> Option<Delivery> {
        let delivery = match self.all.get(&id) {
            Some(Port { end: Some(end), .. }) => end.take_announced(),
            Some(Port { end: None, .. }) => Some(Delivery::Closed),
            None => None,
        };
        if matches!(delivery, Some(Delivery::Closed)) {
            // Tells the other end, if that is not closed already.
            drop(self.remove(id));
        }
        delivery
    }

    /// Whether there is a port that keeps the agent alive.
    pub(crate) fn keep_alive(&self) -> bool {
        self.keeping_alive > 0
    }

    /// Removes all ports of an agent that has ended. Dropping the result closes them.
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
