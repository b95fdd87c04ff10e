//! What an agent has of the others and they of it: boxes and ports. It outlives the agent's thread, or ends before it does
//! (`cluster/ends.rs`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use waitword_agents::Charge;
use waitword_quickjs::Doorbell;

use crate::agent_name::ThreadId;
use crate::channel::Message;
use crate::clone::SerializedMessage;
use crate::failure::Failure;
use crate::mailbox::Mailbox;
use crate::ports::Ports;

/// What an agent has of the others, and they of it.
pub(crate) struct AgentLinks {
    /// What the parent posted. Empty for ever in the main agent.
    pub(crate) from_parent: Arc<Mailbox<Message>>,
    /// What the workers of the agent posted.
    pub(crate) from_workers: Arc<Mailbox<(ThreadId, WorkerEvent)>>,
    /// Where to post to the parent.
    pub(crate) parent: Option<Arc<Mailbox<(ThreadId, WorkerEvent)>>>,
    ports: Mutex<Ports>,
    /// `workerData`, until it is read.
    data: Mutex<Option<Message>>,
    is_gone: AtomicBool,
}

impl AgentLinks {
    pub(crate) fn new(bell: &Arc<Doorbell>, parent: Option<Arc<Mailbox<(ThreadId, WorkerEvent)>>>) -> Self {
        Self {
            from_parent: Arc::new(Mailbox::new(Arc::clone(bell))),
            from_workers: Arc::new(Mailbox::new(Arc::clone(bell))),
            parent,
            ports: Mutex::new(Ports::new(bell)),
            data: Mutex::default(),
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
        self.from_parent.close();
        self.from_workers.close();
        // Out of the locks before they are dropped.
        let data = self.data().take();
        let ports = self.ports().close_all();
        drop((data, ports));
    }
}

/// What a worker posts to its parent.
pub(crate) enum WorkerEvent {
    /// Its script is about to start.
    Online,
    Message(Message),
    /// It has printed something: the stream, the text, and what that costs the worker until it is read.
    Printed(i32, String, Option<Charge>),
    /// It failed; what was thrown, if that could be copied.
    Failed(Box<Failure>, Option<SerializedMessage>),
    /// It is gone, and with it all its waits.
    Exited(i32),
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
