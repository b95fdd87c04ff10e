//! The agents of one test, and what goes between them: broadcasts down, reports up.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write as _};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use waitword_quickjs::{Doorbell, SharedBlock};

use super::host::Host;
use super::{THREAD_STACK, jobs, new_agent};

/// The number of an agent that a test has started.
pub(super) type Seat = usize;

/// All agents of a test but the main one, which is where the broadcasts come from and the reports go to.
pub(super) struct Agents {
    state: Mutex<State>,
    /// An agent has taken a broadcast, or is gone.
    taken: Condvar,
    start: Instant,
}

#[derive(Default)]
struct State {
    started: Seat,
    seated: BTreeMap<Seat, Inbox>,
    reports: VecDeque<String>,
}

/// What `broadcast` sends: a buffer, and a number that says which it is.
#[derive(Clone)]
pub(super) struct Broadcast {
    pub(super) block: SharedBlock,
    pub(super) id: Id,
}

/// The second argument of `broadcast`. The suite's own description allows for nothing else.
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
    pub(super) fn new() -> Self {
        Self { state: Mutex::default(), taken: Condvar::new(), start: Instant::now() }
    }

    /// Starts an agent that runs `source`, and returns when it is running.
    ///
    /// # Errors
    /// When there is no thread for it.
    pub(super) fn start(self: &Arc<Self>, source: String) -> io::Result<()> {
        let (sender, running) = channel();
        let agents = Arc::clone(self);
        thread::Builder::new().stack_size(THREAD_STACK).spawn(move || {
            let seat = Occupied::take(agents);
            if let Err(error) = live(&seat, &source, || drop(sender)) {
                // For the runner, which shows it if the test never ends. Standard error is not buffered.
                let _ = io::stderr().write_all(format!("in agent {}: {error}\n", seat.number + 1).as_bytes());
            }
        })?;
        // An error: the sender is gone, because the agent runs, or because it has failed.
        let _ = running.recv() as Result<(), _>;
        Ok(())
    }

    /// Sends a message to every agent, and blocks until each has taken it or is gone.
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

    /// Whether there is an agent that could still notify somebody.
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

/// An agent's place among the others, which it leaves when it ends, however that is.
struct Occupied {
    agents: Arc<Agents>,
    number: Seat,
    bell: Arc<Doorbell>,
}

impl Occupied {
    fn take(agents: Arc<Agents>) -> Self {
        let bell = Arc::new(Doorbell::default());
        let mut state = agents.lock();
        let number = state.started;
        state.started += 1;
        state.seated.insert(number, Inbox { bell: Arc::clone(&bell), messages: VecDeque::new() });
        drop(state);
        Self { agents, number, bell }
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        let left = self.agents.lock().seated.remove(&self.number);
        drop(left);
        self.agents.taken.notify_all();
    }
}

/// The life of an agent, on its own thread.
fn live(seat: &Occupied, source: &str, running: impl FnOnce()) -> Result<(), String> {
    let agent = new_agent(true, Arc::clone(&seat.bell))?;
    let host = Host::install(&agent, Arc::clone(&seat.agents), Some(seat.number));
    let host = host.map_err(|error| error.to_string())?;
    running();
    agent.eval("agent.js", source).map_err(|error| error.to_string())?;
    // Whoever has left may be ended, but not while a notify still counts on it.
    jobs::run(&agent, &host, || host.has_left() && !agent.has_pending())
}
