//! The agents of one test, and their communication: broadcasts from the main agent, reports to it.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write as _};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use waitword_quickjs::{Doorbell, SharedBlock};

/// Bytes of stack for an agent's thread, of which scripts may use a half.
pub(super) const THREAD_STACK: usize = 8 << 20;

/// The number of an agent that a test started.
pub(super) type Seat = usize;

/// The whole life of an agent on its thread: runs the source text, and calls the last argument when the agent is running. It is
/// passed as a function, because the agent's `$262` calls this module.
pub(super) type Life = fn(&Place, &str, Box<dyn FnOnce()>) -> Result<(), String>;

/// All agents of a test except the main one, which sends the broadcasts and receives the reports.
pub(super) struct Agents {
    state: Mutex<State>,
    /// Notified when an agent has taken a broadcast, or has ended.
    taken: Condvar,
    start: Instant,
    life: Life,
}

#[derive(Default)]
struct State {
    started: Seat,
    seated: BTreeMap<Seat, Inbox>,
    reports: VecDeque<String>,
}

/// The message of `broadcast`: a buffer, and a number that identifies it.
#[derive(Clone)]
pub(super) struct Broadcast {
    pub(super) block: SharedBlock,
    pub(super) id: Id,
}

/// The second argument of `broadcast`. The suite's description allows no other types.
#[derive(Clone, Copy)]
pub(super) enum Id {
    Missing,
    Number(f64),
    BigInt(i128),
}

/// The broadcasts that an agent has not taken yet.
struct Inbox {
    bell: Arc<Doorbell>,
    messages: VecDeque<Broadcast>,
}

impl Agents {
    pub(super) fn new(life: Life) -> Self {
        Self { life, state: Mutex::default(), taken: Condvar::new(), start: Instant::now() }
    }

    /// Starts an agent that runs `source`, and returns when it is running.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub(super) fn start(self: &Arc<Self>, source: String) -> io::Result<()> {
        let (sender, running) = channel();
        let agents = Arc::clone(self);
        thread::Builder::new().stack_size(THREAD_STACK).spawn(move || {
            let life = agents.life;
            let place = Place::take(agents);
            if let Err(error) = life(&place, &source, Box::new(|| drop(sender))) {
                // For the runner, which shows it if the test never ends. Standard error is not buffered.
                let _ = io::stderr().write_all(format!("in agent {}: {error}\n", place.seat + 1).as_bytes());
            }
        })?;
        // An error means that the sender was dropped, because the agent is running, or because it failed.
        let _ = running.recv() as Result<(), _>;
        Ok(())
    }

    /// Sends a message to every agent, and blocks until each has taken it or ended.
    pub(super) fn broadcast(&self, message: &Broadcast) {
        let mut state = self.lock();
        for inbox in state.seated.values_mut() {
            inbox.messages.push_back(message.clone());
            inbox.bell.ring();
        }
        while state.seated.values().any(|inbox| !inbox.messages.is_empty()) {
            state = self.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The first broadcast that an agent has not taken yet.
    pub(super) fn receive(&self, seat: Seat) -> Option<Broadcast> {
        let message = self.lock().seated.get_mut(&seat)?.messages.pop_front();
        self.taken.notify_all();
        message
    }

    pub(super) fn report(&self, text: String) {
        self.lock().reports.push_back(text);
    }

    /// The first report that was not read yet.
    pub(super) fn get_report(&self) -> Option<String> {
        self.lock().reports.pop_front()
    }

    /// Whether there is an agent that could still notify.
    pub(super) fn any(&self) -> bool {
        !self.lock().seated.is_empty()
    }

    /// Milliseconds on a clock that all agents share.
    pub(super) fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64() * 1000.0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An agent's membership among the others, which ends with the agent, even by a panic.
pub(super) struct Place {
    pub(super) agents: Arc<Agents>,
    pub(super) seat: Seat,
    pub(super) bell: Arc<Doorbell>,
}

impl Place {
    fn take(agents: Arc<Agents>) -> Self {
        let bell = Arc::new(Doorbell::default());
        let mut state = agents.lock();
        let seat = state.started;
        state.started += 1;
        state.seated.insert(seat, Inbox { bell: Arc::clone(&bell), messages: VecDeque::new() });
        drop(state);
        Self { agents, seat, bell }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let left = self.agents.lock().seated.remove(&self.seat);
        drop(left);
        self.agents.taken.notify_all();
    }
}
