//! Seeing a program from outside while it runs: which agent waits where, and for whom.
//!
//! Each agent keeps a record of its waits (`recorder.rs`), with the lines of its scripts; the queues themselves, and who took which word, are
//! in the blocks ([`waitword_agents::observe`]). [`Observer::words`] puts both together, on the thread that calls it. It takes no lock
//! of the cluster's, so that the cluster can have itself observed at the moment when it finds that nothing can happen any more.

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

/// The queue's clock counts so long steps.
const CLOCK: Duration = Duration::from_nanos(16);

/// So many agents that have ended are remembered by name.
const ENDED: usize = 1024;

/// Observes the agents of a [`Program`](crate::Program), from any thread.
///
/// An observed program is slower: where a script changes or notifies a word by `Atomics`, or begins to wait, the line that does so is looked
/// up.
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
    /// Kept if it is asked for.
    steps: Option<Steps>,
}

/// What is known of an agent.
pub(crate) struct Record {
    pub(crate) name: AgentName,
    /// What a queue has of it where it waits in promises,
    inbox: usize,
    /// and where it blocks.
    thread: thread::ThreadId,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    /// The wait that its thread is in.
    pub(crate) blocked: Option<Wait>,
    /// Those of its promises, by their slots.
    pub(crate) awaited: BTreeMap<usize, Wait>,
    ended: Option<Instant>,
}

/// A wait of an agent.
#[derive(Clone)]
pub(crate) struct Wait {
    /// Before it was enqueued.
    pub(crate) begun: Instant,
    pub(crate) place: Option<Arc<str>>,
    pub(crate) is_timed: bool,
    pub(crate) word: StepWord,
}

/// A word of a block, which may be gone later.
#[derive(Clone, Copy)]
pub(crate) struct StepWord {
    pub(crate) block: u64,
    pub(crate) byte_index: usize,
    pub(crate) address: usize,
}

/// A word that somebody waits on.
#[derive(Clone, Debug)]
pub struct ObservedWord {
    /// The number of its block, from 1 in the order in which blocks were first waited on.
    pub block: u64,
    /// Where in the block it is.
    pub byte_index: usize,
    /// Its address.
    pub address: usize,
    /// What its first 32 bits hold.
    pub value: i32,
    /// Its waiters, in the order of the queue.
    pub waiters: Vec<ObservedWaiter>,
    /// The agent that has taken it, if it is used as a lock: by a step that found 0.
    pub holder: Option<ObservedDeed>,
    /// Who changed it last.
    pub changed: Option<ObservedDeed>,
    /// Who notified it last, and how many waiters that woke.
    pub notified: Option<(ObservedDeed, usize)>,
}

/// A waiter.
#[derive(Clone, Debug)]
pub struct ObservedWaiter {
    /// As the queue has it.
    pub seen: WaiterSeen,
    /// Which agent it is. `None`: a thread or a task of Rust, or an agent of another program.
    pub agent: Option<ObservedAgent>,
    /// The line of its script: `file:line:column`.
    pub place: Option<Arc<str>>,
    /// Whether the wait has a deadline, if that is known.
    pub is_timed: Option<bool>,
}

/// Something that an agent did.
#[derive(Clone, Debug)]
pub struct ObservedDeed {
    /// The agent.
    pub agent: ObservedAgent,
    /// The line of its script: `file:line:column`.
    pub place: Option<Arc<str>>,
    /// When.
    pub done: Instant,
}

/// An agent, as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedAgent {
    /// Its name.
    pub name: AgentName,
    /// Whether its thread blocks in `Atomics.wait`.
    pub is_blocked: bool,
    /// When it ended, if it has.
    pub ended: Option<Instant>,
}

impl Observer {
    /// An observer. `hangs` is called when the program is found to hang, before anything is done about that: when no agent can go on, each
    /// time an agent is ended for it, and when the program's [time](crate::Program::timeout) is up.
    ///
    /// It runs on a thread of the program's, some of whose locks are held, so it does no more than look at [`words`](Self::words).
    pub fn new(hangs: impl Fn() + Send + Sync + 'static) -> Self {
        Self::keeping(hangs, None)
    }

    /// As [`new`](Self::new); also keeps the last 200,000 [`steps`](Self::steps).
    pub fn with_steps(hangs: impl Fn() + Send + Sync + 'static) -> Self {
        Self::keeping(hangs, Some(Steps::default()))
    }

    fn keeping(hangs: impl Fn() + Send + Sync + 'static, steps: Option<Steps>) -> Self {
        Self { shared: Arc::new(Shared { agents: Mutex::default(), hangs: Box::new(hangs), steps }) }
    }

    /// What the agents did so far, if that is kept.
    pub fn steps(&self) -> ObservedSteps {
        self.shared.steps.as_ref().map(Steps::all).unwrap_or_default()
    }

    pub(crate) fn add_step(&self, step: ObservedStep) {
        if let Some(steps) = &self.shared.steps {
            steps.add(step);
        }
    }

    /// The words that somebody waits on at this moment, in all blocks of shared memory of this process.
    pub fn words(&self) -> Vec<ObservedWord> {
        // Before the words: what an agent that has ended by now has released is recorded.
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

    /// An agent of this thread begins.
    pub(crate) fn enter(&self, id: AgentId, name: AgentName, inbox: usize) -> Arc<Record> {
        let state = Mutex::default();
        let record = Arc::new(Record { name, inbox, thread: thread::current().id(), state });
        self.agents().insert(id, Arc::clone(&record));
        record
    }

    /// An agent has ended, with all its waits.
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

    /// Its wait that the queue has as `seen`. A slot or a thread may be in another wait by now: that one began later.
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
