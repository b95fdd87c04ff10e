//! The links between an agent and the others: a mailbox and ports. They may outlive the agent's thread, or end before it
//! (`cluster/ends.rs`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use waitword_quickjs::Doorbell;

use crate::channel::Message;
use crate::lock::lock;
use crate::mailbox::Mailbox;
use crate::ports::Ports;

/// The links between an agent and the others.
pub(crate) struct AgentLinks {
    /// The agent's mailbox.
    pub(crate) mailbox: Arc<Mailbox>,
    /// The mailbox of its parent.
    pub(crate) parent: Option<Arc<Mailbox>>,
    ports: Mutex<Ports>,
    /// `workerData`, until it is read.
    data: Mutex<Option<Message>>,
    /// What its parent can observe.
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

    /// Whether the others have continued without the agent. Its thread may still run.
    pub(crate) fn is_gone(&self) -> bool {
        // Relaxed: what the thread does until its native call returns, it could have done before.
        self.is_gone.load(Ordering::Relaxed)
    }

    pub(crate) fn ports(&self) -> MutexGuard<'_, Ports> {
        lock(&self.ports)
    }

    pub(crate) fn data(&self) -> MutexGuard<'_, Option<Message>> {
        lock(&self.data)
    }

    /// Closes the mailbox and the ports of an agent that has ended.
    pub(crate) fn close(&self) {
        self.is_gone.store(true, Ordering::Relaxed);
        self.mailbox.close();
        // Removed under the lock, but dropped after it.
        let data = self.data().take();
        let ports = self.ports().close_all();
        drop((data, ports));
    }
}

/// What a parent can observe of its worker: the idle time of its event loop, and its output.
#[derive(Default)]
pub(crate) struct Observed {
    usage: Mutex<Usage>,
    /// Of the standard output and the standard error.
    taps: Mutex<[Tap; 2]>,
}

#[derive(Default)]
struct Usage {
    online_since: Option<Instant>,
    idle: Duration,
    idle_since: Option<Instant>,
}

/// Whether a parent reads its worker's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tap {
    /// The job that created the worker has not ended: it may still ask for the stream, and get it from the beginning.
    #[default]
    Undecided,
    Wanted,
    Unwanted,
    /// The output goes to the parent only, from the beginning.
    Kept,
}

impl Observed {
    /// Records that the worker's script is about to start.
    pub(crate) fn goes_online(&self) {
        lock(&self.usage).online_since = Some(Instant::now());
    }

    pub(crate) fn falls_idle(&self) {
        lock(&self.usage).idle_since = Some(Instant::now());
    }

    pub(crate) fn wakes(&self) {
        let mut usage = lock(&self.usage);
        let slept = usage.idle_since.take().map_or(Duration::ZERO, |since| since.elapsed());
        usage.idle += slept;
    }

    /// How long it has been idle and active since it went online.
    pub(crate) fn idle_and_active(&self) -> (Duration, Duration) {
        let usage = lock(&self.usage);
        let Some(online_since) = usage.online_since else { return Default::default() };
        let now = Instant::now();
        let idle = usage.idle + usage.idle_since.map_or(Duration::ZERO, |since| now - since);
        (idle, (now - online_since).saturating_sub(idle))
    }

    /// `stream` is 1 for the standard output, and any other number for the standard error.
    pub(crate) fn set_tap(&self, stream: i32, tap: Tap) {
        lock(&self.taps)[usize::from(stream != 1)] = tap;
    }

    pub(crate) fn tap(&self, stream: i32) -> Tap {
        lock(&self.taps)[usize::from(stream != 1)]
    }
}
