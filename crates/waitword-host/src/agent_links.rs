//! What an agent has of the others and they of it: a mailbox and ports. It outlives the agent's thread, or ends before it does
//! (`cluster/ends.rs`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use waitword_quickjs::Doorbell;

use crate::channel::Message;
use crate::lock::lock;
use crate::mailbox::Mailbox;
use crate::observed::Observed;
use crate::ports::Ports;

/// What an agent has of the others, and they of it.
pub(crate) struct AgentLinks {
    /// What comes for the agent.
    pub(crate) mailbox: Arc<Mailbox>,
    /// Where its parent hears of it.
    pub(crate) parent: Option<Arc<Mailbox>>,
    ports: Mutex<Ports>,
    /// `workerData`, until it is read.
    data: Mutex<Option<Message>>,
    /// What its parent sees of it.
    pub(crate) observed: Observed,
    is_gone: AtomicBool,
}

impl AgentLinks {
    pub(crate) fn new(bell: &Arc<Doorbell>, parent: Option<Arc<Mailbox>>) -> Self {
        let mailbox = Arc::new(Mailbox::new(Arc::clone(bell)));
        Self {
            ports: Mutex::new(Ports::new(Arc::clone(&mailbox))),
            mailbox,
            parent,
            data: Mutex::default(),
            observed: Observed::default(),
            is_gone: AtomicBool::new(false),
        }
    }

    /// Whether the others have gone on without the agent. Its thread may still run.
    pub(crate) fn is_gone(&self) -> bool {
        // What its thread does between this and the end of its native call, it might have done before.
        self.is_gone.load(Ordering::Relaxed)
    }

    pub(crate) fn ports(&self) -> MutexGuard<'_, Ports> {
        lock(&self.ports)
    }

    pub(crate) fn data(&self) -> MutexGuard<'_, Option<Message>> {
        lock(&self.data)
    }

    /// The agent is gone: nothing reaches it any more, and its ports close.
    pub(crate) fn close(&self) {
        self.is_gone.store(true, Ordering::Relaxed);
        self.mailbox.close();
        // Out of the locks before they are dropped.
        let data = self.data().take();
        let ports = self.ports().close_all();
        drop((data, ports));
    }
}
