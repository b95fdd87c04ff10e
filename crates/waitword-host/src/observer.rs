//! Observes a program while it runs: which agent waits where, and for whom.
//!
//! Each agent records its waits with the lines of its scripts (`recorder.rs`). The queues, and the agents that hold words as locks, are
//! in the blocks ([`waitword_agents::observe`]). [`Observer::words`] combines both on the calling thread. It takes no lock of the cluster,
//! so that the cluster can call the observer when it finds that nothing can happen any more.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use waitword_agents::AgentId;
pub use waitword_agents::observe::{Actor, WaiterSeen, WaitsFor};
use waitword_agents::observe::{Deed, snapshot};

use crate::agent_name::AgentName;
use crate::lock::lock;
use crate::timeline::{ObservedStep, ObservedSteps, Steps};

/// The resolution of the queue's clock.
const CLOCK: Duration = Duration::from_nanos(16);

/// The number of ended agents whose names are kept.
const ENDED: usize = 1024;

/// Observes the agents of a [`Program`](crate::Program) from any thread: who waits on which word, and who holds it.
///
/// An observed program is slower, because each operation of `Atomics` that changes, notifies or waits on a word looks up the line of its
/// script.
///
/// ```no_run
/// use waitword_host::{Observer, Program};
///
/// let observer = Observer::new(|| eprintln!("the program hangs"));
/// let program = Program::new("server.mjs").observe(&observer);
/// std::thread::spawn(move || {
///     for word in observer.words() {
///         println!("block {} +{}: {} wait", word.block, word.byte_index, word.waiters.len());
///     }
/// });
/// std::process::exit(program.run().exit_code);
/// ```
#[derive(Clone)]
pub struct Observer {
    shared: Arc<Shared>,
}

struct Shared {
    agents: Mutex<BTreeMap<AgentId, Arc<Record>>>,
    hangs: Box<dyn Fn() + Send + Sync>,
    /// `None` unless steps are recorded.
    steps: Option<Steps>,
}

/// The record of an agent.
pub(crate) struct Record {
    pub(crate) name: AgentName,
    /// How a queue identifies the agent's async waits.
    inbox: usize,
    /// How a queue identifies its blocking waits.
    thread: thread::ThreadId,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    /// The wait in which its thread is blocked.
    pub(crate) blocked: Option<Wait>,
    /// Its pending async waits, by their slots.
    pub(crate) awaited: BTreeMap<usize, Wait>,
    ended: Option<Instant>,
}

/// A wait of an agent.
#[derive(Clone)]
pub(crate) struct Wait {
    /// A time before the wait was enqueued.
    pub(crate) begun: Instant,
    pub(crate) place: Option<Arc<str>>,
    pub(crate) is_timed: bool,
    pub(crate) word: StepWord,
}

/// A word of a block that may be freed later.
#[derive(Clone, Copy)]
pub(crate) struct StepWord {
    pub(crate) block: u64,
    pub(crate) byte_index: usize,
    pub(crate) address: usize,
}

/// A word that has waiters.
#[derive(Clone, Debug)]
pub struct ObservedWord {
    /// The number of its block. Blocks are numbered from 1, in the order in which they were first waited on.
    pub block: u64,
    /// The word's offset in the block, in bytes.
    pub byte_index: usize,
    /// The word's address.
    pub address: usize,
    /// The value of its first 32 bits.
    pub value: i32,
    /// Its waiters, in the order of the queue.
    pub waiters: Vec<ObservedWaiter>,
    /// The acquisition by the holder, if the word is used as a lock: an atomic step from 0 to another value.
    pub holder: Option<ObservedDeed>,
    /// The last change.
    pub changed: Option<ObservedDeed>,
    /// The last notify, and how many waiters it woke.
    pub notified: Option<(ObservedDeed, usize)>,
}

/// A waiter on a word.
#[derive(Clone, Debug)]
pub struct ObservedWaiter {
    /// The waiter as the queue reports it.
    pub seen: WaiterSeen,
    /// The agent. `None` for a Rust thread or task, or an agent of another program.
    pub agent: Option<ObservedAgent>,
    /// The line of its script: `file:line:column`.
    pub place: Option<Arc<str>>,
    /// Whether the wait has a deadline, if that is known.
    pub is_timed: Option<bool>,
}

/// Who performed the last operation of a kind on a word, where in its script, and when.
#[derive(Clone, Debug)]
pub struct ObservedDeed {
    /// The agent.
    pub agent: ObservedAgent,
    /// The line of its script: `file:line:column`.
    pub place: Option<Arc<str>>,
    /// The time of the operation.
    pub done: Instant,
}

/// The state of an agent at the time of the observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedAgent {
    /// Its name.
    pub name: AgentName,
    /// Whether its thread is blocked in `Atomics.wait`.
    pub is_blocked: bool,
    /// The time at which it ended, if it has ended.
    pub ended: Option<Instant>,
}

impl Observer {
    /// Creates an observer. `hangs` is called when the program hangs, before the program reacts to that:
    /// - when no agent can continue, and each time an agent is ended for this reason;
    /// - when the program's [timeout](crate::Program::timeout) has elapsed.
    ///
    /// `hangs` runs on a thread of the program, with locks of the program held. It may call [`words`](Self::words), and nothing else of
    /// the program.
    pub fn new(hangs: impl Fn() + Send + Sync + 'static) -> Self {
        Self::keeping(hangs, None)
    }

    /// Creates an observer as [`new`](Self::new) does, which also keeps the last 200,000 [`steps`](Self::steps).
    pub fn with_steps(hangs: impl Fn() + Send + Sync + 'static) -> Self {
        Self::keeping(hangs, Some(Steps::default()))
    }

    fn keeping(hangs: impl Fn() + Send + Sync + 'static, steps: Option<Steps>) -> Self {
        Self { shared: Arc::new(Shared { agents: Mutex::default(), hangs: Box::new(hangs), steps }) }
    }

    /// Returns the last steps of the agents, if the observer was created [with steps](Self::with_steps).
    pub fn steps(&self) -> ObservedSteps {
        self.shared.steps.as_ref().map(Steps::all).unwrap_or_default()
    }

    pub(crate) fn add_step(&self, step: ObservedStep) {
        if let Some(steps) = &self.shared.steps {
            steps.add(step);
        }
    }

    /// Returns the words that have waiters now, in all blocks of shared memory of this process.
    pub fn words(&self) -> Vec<ObservedWord> {
        // Before the words, so that all releases of an agent seen as ended are recorded.
        let agents: BTreeMap<AgentId, ObservedAgent> =
            self.agents().iter().map(|(id, record)| (*id, record.seen())).collect();
        let words = snapshot();
        let records: Vec<Arc<Record>> = self.agents().values().cloned().collect();
        let deed = |deed: Deed| {
            let agent = *agents.get(&deed.agent)?;
            Some(ObservedDeed { agent, place: deed.place, done: deed.done })
        };
        let words = words.into_iter().map(|word| ObservedWord {
            block: word.block.number(),
            byte_index: word.byte_index,
            address: word.address(),
            value: word.value,
            waiters: word.waiters.into_iter().map(|seen| observed(seen, &records)).collect(),
            holder: word.history.holder.and_then(deed),
            changed: word.history.changed.and_then(deed),
            notified: word.history.notified.and_then(|(notify, woken)| Some((deed(notify)?, woken))),
        });
        words.collect()
    }

    /// The program hangs.
    pub(crate) fn hangs(&self) {
        (self.shared.hangs)();
    }

    /// Adds an agent of this thread, which starts.
    pub(crate) fn enter(&self, id: AgentId, name: AgentName, inbox: usize) -> Arc<Record> {
        let state = Mutex::default();
        let record = Arc::new(Record { name, inbox, thread: thread::current().id(), state });
        self.agents().insert(id, Arc::clone(&record));
        record
    }

    /// Records that an agent has ended, with all its waits.
    pub(crate) fn leave(&self, id: AgentId) {
        let mut agents = self.agents();
        if let Some(record) = agents.get(&id) {
            *record.state() = State { ended: Some(Instant::now()), ..State::default() };
        }
        let ended = |record: &Arc<Record>| record.state().ended;
        if agents.values().filter(|record| ended(record).is_some()).count() > ENDED {
            let oldest = agents.iter().filter_map(|(id, record)| Some((ended(record)?, *id))).min();
            oldest.and_then(|(_, id)| agents.remove(&id));
        }
    }

    fn agents(&self) -> MutexGuard<'_, BTreeMap<AgentId, Arc<Record>>> {
        lock(&self.shared.agents)
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("agents", &self.agents().len()).finish_non_exhaustive()
    }
}

impl Record {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn seen(&self) -> ObservedAgent {
        let state = self.state();
        ObservedAgent { name: self.name, is_blocked: state.blocked.is_some(), ended: state.ended }
    }

    /// The agent's wait that the queue reports as `seen`. The slot or the thread may be in another wait by now, which began later.
    fn wait(&self, seen: &WaiterSeen) -> Option<Wait> {
        let state = self.state();
        let wait = match (&seen.actor, seen.token) {
            (Actor::Agent(inbox), Some(token)) if *inbox == self.inbox => state.awaited.get(&token),
            (Actor::Thread(thread), _) if thread.id() == self.thread => state.blocked.as_ref(),
            _ => None,
        };
        wait.filter(|wait| seen.since.is_none_or(|since| wait.begun <= since + CLOCK)).cloned()
    }

    fn is(&self, seen: &WaiterSeen) -> bool {
        match &seen.actor {
            Actor::Agent(inbox) => *inbox == self.inbox,
            Actor::Thread(thread) => thread.id() == self.thread,
            _ => false,
        }
    }
}

fn observed(seen: WaiterSeen, records: &[Arc<Record>]) -> ObservedWaiter {
    let record = records.iter().find(|record| record.is(&seen));
    let wait = record.and_then(|record| record.wait(&seen));
    ObservedWaiter {
        agent: record.map(|record| record.seen()),
        is_timed: wait.as_ref().map(|wait| wait.is_timed),
        place: wait.and_then(|wait| wait.place),
        seen,
    }
}
