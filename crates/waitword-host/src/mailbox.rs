//! What other threads have for an agent, in one queue: what is at its ports, what its workers do, what became of its requests for locks.

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

/// Something that has come for an agent.
pub(crate) enum Arrival {
    /// A token: something may wait at this port.
    AtPort(PortId),
    OfWorker(ThreadId, WorkerEvent),
    LockGranted(Ticket),
    /// It had the lock, and now another request has it.
    LockStolen(Ticket),
}

/// What a worker lets its parent know. Its messages come at a port.
pub(crate) enum WorkerEvent {
    /// Its script is about to start.
    Online,
    /// It has printed something: the stream, the text, and what that costs the worker until it is read.
    Printed(i32, String, Option<Charge>),
    Failed(Failed),
    /// It is gone, and with it all its waits.
    Exited(i32),
}

/// Why a worker failed; and what was thrown, if that could be copied.
pub(crate) type Failed = (Box<Failure>, Option<SerializedMessage>);

/// A queue that only its agent empties. To post rings the agent's doorbell.
pub(crate) struct Mailbox {
    /// `None` once the agent is gone: what comes later is dropped, with the memory that it holds.
    arrivals: Mutex<Option<VecDeque<Arrival>>>,
    bell: Arc<Doorbell>,
}

impl Mailbox {
    pub(crate) fn new(bell: Arc<Doorbell>) -> Self {
        Self { arrivals: Mutex::new(Some(VecDeque::new())), bell }
    }

    pub(crate) fn post(&self, arrival: Arrival) {
        // What is refused is dropped with the lock free: its end may run anything.
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

    /// How many arrivals wait in it.
    pub(crate) fn len(&self) -> usize {
        lock(&self.arrivals).as_ref().map_or(0, VecDeque::len)
    }

    pub(crate) fn take(&self) -> Option<Arrival> {
        lock(&self.arrivals).as_mut()?.pop_front()
    }

    /// Drops all that is in it, and from now on all that comes.
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
