//! The mailbox of an agent: one queue for everything that comes from other threads: messages at its ports, events of its workers, results of
//! its lock requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use waitword_agents::Charge;
use waitword_quickjs::Doorbell;

use crate::agent_name::ThreadId;
use crate::clone::SerializedMessage;
use crate::ended::Failure;
use crate::lock::lock;

/// The number under which an agent knows one of its ports.
pub(crate) type PortId = u32;

/// The number under which an agent knows a request of its own for a lock.
pub(crate) type Ticket = u32;

/// An item in a mailbox.
pub(crate) enum Arrival {
    /// A token: a message may be at this port.
    AtPort(PortId),
    OfWorker(ThreadId, WorkerEvent),
    LockGranted(Ticket),
    /// The agent held the lock, and another request stole it.
    LockStolen(Ticket),
}

/// An event of a worker for its parent. (Its messages come at a port.)
pub(crate) enum WorkerEvent {
    /// Its script is about to start.
    Online,
    /// It printed text: the stream, the text, and the charge to the worker until the text is read.
    Printed(i32, String, Option<Charge>),
    Failed(Failed),
    /// It has ended, and all its waits are removed.
    Exited(i32),
}

/// Why a worker failed, and the thrown value, if it could be copied.
pub(crate) type Failed = (Box<Failure>, Option<SerializedMessage>);

/// A queue that only its agent empties. Posting rings the agent's doorbell.
pub(crate) struct Mailbox {
    /// `None` after the agent has ended: later items are dropped, with the memory that they hold.
    arrivals: Mutex<Option<VecDeque<Arrival>>>,
    bell: Arc<Doorbell>,
}

impl Mailbox {
    pub(crate) fn new(bell: Arc<Doorbell>) -> Self {
        Self { arrivals: Mutex::new(Some(VecDeque::new())), bell }
    }

    pub(crate) fn post(&self, arrival: Arrival) {
        // A refused item is dropped after the lock is released, because its drop may take other locks.
        let refused = match &mut *lock(&self.arrivals) {
            Some(arrivals) => {
                arrivals.push_back(arrival);
                None
            }
            None => Some(arrival),
        };
        if refused.is_none() {
            self.bell.ring();
        }
    }

    /// The number of items.
    pub(crate) fn len(&self) -> usize {
        lock(&self.arrivals).as_ref().map_or(0, VecDeque::len)
    }

    pub(crate) fn take(&self) -> Option<Arrival> {
        lock(&self.arrivals).as_mut()?.pop_front()
    }

    /// Drops all items, and all that come later.
    pub(crate) fn close(&self) {
        let arrivals = lock(&self.arrivals).take();
        drop(arrivals);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_is_taken_in_order_and_rings_until_the_mailbox_is_closed() {
        let bell = Arc::new(Doorbell::default());
        let mailbox = Mailbox::new(Arc::clone(&bell));
        assert!(mailbox.take().is_none() && !bell.is_rung());
        for id in 1..=3 {
            mailbox.post(Arrival::AtPort(id));
        }
        assert!(bell.is_rung());
        assert!(matches!(mailbox.take(), Some(Arrival::AtPort(1))));
        assert!(matches!(mailbox.take(), Some(Arrival::AtPort(2))));
        mailbox.close();
        bell.clear();
        mailbox.post(Arrival::AtPort(4));
        assert!(mailbox.take().is_none() && !bell.is_rung());
    }
}
