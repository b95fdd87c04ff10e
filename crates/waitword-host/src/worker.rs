//! The threads of a program: starting an agent, and reporting its end to its parent.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use waitword_agents::{Charge, MemoryBudget, SharedBlock, Timeout};
use waitword_quickjs::{
    Doorbell, JsAgent, JsAgentOptions, Realm, RuntimeOptions, WaitObserver, WordObserver,
};

use crate::agent_host::{self, Host, Parts, Worker};
use crate::agent_links::{AgentLinks, Tap};
use crate::agent_name::{AgentName, ThreadId};
use crate::channel::channel;
use crate::cluster::{Cluster, Woken};
use crate::ended::AbandonedWait;
use crate::event_loop::{EventLoop, Stop};
use crate::exit::Exit;
use crate::mailbox::PortId;
use crate::module_loader::Loader;
use crate::recorder::Recorder;
use crate::worker_options::{Data, Entry, Limits, Shape, WorkerOptions};

/// The stack of an agent's thread, in bytes. Scripts may use [`SCRIPT_STACK`] of it; the rest is for the host.
const THREAD_STACK: usize = 8 << 20;
const SCRIPT_STACK: usize = 4 << 20;

/// More bytes than an agent's engine holds when its script is about to start. They are charged to the program's budget in advance, so that
/// of many agents created at a time, only those that fit are started.
const AGENT_START: usize = 1 << 20;

/// Everything that the thread of a new agent needs.
pub(crate) struct SpawnOptions {
    pub(crate) parts: Parts,
    pub(crate) entry: Entry,
    pub(crate) data: Data,
    pub(crate) can_block: bool,
    /// The memory for its start, charged to the whole program's budget.
    pub(crate) advance: Option<Charge>,
}

/// Starts a worker of an agent. Returns the worker's number and that of the port to it.
///
/// # Errors
/// A message for the user, if a limit of the program is reached or the system cannot start a thread.
pub(crate) fn spawn(parent: &Host, worker: WorkerOptions) -> Result<(ThreadId, PortId), String> {
    let WorkerOptions { entry, shape, memory, keeps, arguments, data } = worker;
    let advance = match parent.limits.whole.as_ref().map(|whole| whole.charge(AGENT_START)) {
        Some(None) => return Err("not enough memory for another agent".to_owned()),
        advance => advance.flatten(),
    };
    // A worker's limit may be lower than its parent's, never higher.
    let memory = [memory, parent.limits.memory].into_iter().flatten().min();
    let bell = Arc::new(Doorbell::default());
    let most = parent.limits.workers;
    let links = Arc::new(AgentLinks::new(&bell, Some(Arc::clone(&parent.links.mailbox))));
    let enlisted = parent.cluster.enlist_within(most, parent.id, Arc::clone(&bell), Arc::clone(&links));
    let Some(id) = enlisted else {
        return Err(format!("too many workers: the limit is {most}; end some, or raise the limit"));
    };
    for (stream, is_kept) in [1, 2].into_iter().zip(keeps) {
        match is_kept {
            true => links.observed.set_tap(stream, Tap::Kept),
            // A page's worker has no streams.
            false if shape != Shape::Node => links.observed.set_tap(stream, Tap::Unwanted),
            false => {}
        }
    }
    let options = SpawnOptions {
        parts: Parts {
            id,
            cluster: Arc::clone(&parent.cluster),
            bell,
            argv: argv(entry.name(), arguments),
            shape,
            limits: Limits { memory, ..parent.limits.clone() },
            links: Arc::clone(&links),
            spawn,
        },
        entry,
        data,
        can_block: true,
        advance,
    };
    let cluster = Arc::clone(&parent.cluster);
    let (here, there) = channel();
    // The first of the worker's ports, and so 1: `parentPort`.
    links.ports().adopt(there);
    // Before the worker can post, so that its messages come before its end.
    let port = parent.links.ports().adopt(here);
    parent.links.ports().listen(port, true, false);
    let its_links = Arc::clone(&links);
    let started = thread_for(id).spawn(move || {
        let exit = run_agent(options);
        cluster.end_worker(id, &its_links, exit.failure, exit.exit_code);
    });
    match started {
        Ok(_) => {
            parent.workers.borrow_mut().insert(id, Worker { links, keeps_alive: true });
            Ok((id, port))
        }
        Err(error) => {
            parent.cluster.leave(id);
            parent.links.ports().close(port, false);
            Err(format!("cannot start a thread: {error}"))
        }
    }
}

pub(crate) fn thread_for(id: ThreadId) -> thread::Builder {
    thread::Builder::new().name(AgentName(id).to_string()).stack_size(THREAD_STACK)
}

pub(crate) fn argv(script: String, arguments: Vec<String>) -> Vec<String> {
    let program = std::env::current_exe()
        .map_or_else(|_| "waitword".into(), |path| path.to_string_lossy().into_owned());
    [program, script].into_iter().chain(arguments).collect()
}

/// The whole life of an agent, on its own thread. When this returns, the agent, its waits, its workers and theirs have ended, as the other
/// agents see them (`cluster/ends.rs`).
pub(crate) fn run_agent(options: SpawnOptions) -> Exit {
    let id = options.parts.id;
    // A panic is a bug of ours, and has been printed. The program must end with an error, and not hang.
    catch_unwind(AssertUnwindSafe(|| run_to_exit(options)))
        .unwrap_or_else(|_| Exit::internal(id, "the host panicked: this is a bug in waitword".to_owned()))
}

fn run_to_exit(options: SpawnOptions) -> Exit {
    let SpawnOptions { parts, entry, data, can_block, advance } = options;
    let Limits { memory: memory_limit, whole, waits, .. } = &parts.limits;
    let most = memory_limit.unwrap_or(usize::MAX);
    let budget = match (advance, whole) {
        (Some(advance), _) => Some(MemoryBudget::with_advance(advance, most)),
        (None, Some(whole)) => Some(MemoryBudget::part_of(whole, most)),
        (None, None) => None,
    };
    let runtime = RuntimeOptions { stack_size: SCRIPT_STACK, memory_limit: *memory_limit, budget };
    let max_waits = waits.unwrap_or(usize::MAX);
    let agent = match JsAgent::with_doorbell(&JsAgentOptions { can_block, runtime }, Arc::clone(&parts.bell))
    {
        Ok(agent) => agent,
        Err(error) => return Exit::internal(parts.id, error.to_string()),
    };
    agent.agent().set_max_waits(max_waits);
    parts.cluster.attach(parts.id, agent.handle());
    let host = Rc::new(Host::new(parts));
    agent.runtime().set_state(Rc::clone(&host));
    agent.runtime().set_module_loader(Loader);
    agent.runtime().track_rejections();
    let observer = host.cluster.observer.as_ref();
    let recorder = observer.map(|observer| Recorder::new(observer, AgentName(host.id), &agent)).transpose();
    let Ok(recorder) = recorder else {
        return Exit::internal(host.id, "not enough memory to observe the agent".to_owned());
    };
    if let Some(recorder) = &recorder {
        agent.set_word_observer(Rc::clone(recorder) as Rc<dyn WordObserver>);
    }
    agent.set_wait_observer(Watch {
        recorder,
        id: host.id,
        cluster: Arc::clone(&host.cluster),
        realm: agent.realm().clone(),
        endless: Cell::new(None),
    });
    let event_loop = EventLoop::new(&agent, &host);
    let stop = event_loop.run(entry, data);
    if host.cluster.wants_report(host.id) && !host.links.is_gone() {
        host.begin_report(agent.realm());
        host.cluster.report(event_loop.abandoned());
    }
    let workers: Vec<ThreadId> = host.workers.borrow().keys().copied().collect();
    host.cluster.end(&workers);
    match stop {
        // A blocked agent has not read its mail, which may contain the reason: the worker that was to wake it failed.
        Stop::Terminated if host.is_main() && host.cluster.lock().standstill.is_some() => {
            Exit::of(event_loop.unread_failure().unwrap_or(Stop::Terminated), 1)
        }
        stop => Exit::of(stop, event_loop.failure_code.get()),
    }
}

/// Reports to the cluster when the agent is blocked without a deadline.
struct Watch {
    recorder: Option<Rc<Recorder>>,
    id: ThreadId,
    cluster: Arc<Cluster>,
    realm: Realm,
    /// The wait without a timeout in which the agent is blocked.
    endless: Cell<Option<(usize, usize)>>,
}

impl WaitObserver for Watch {
    fn before_wait(&self, block: &SharedBlock, byte_index: usize, timeout: Timeout) {
        if let Some(recorder) = &self.recorder {
            recorder.blocks(block, byte_index, timeout);
        }
        if timeout == Timeout::Never {
            self.endless.set(Some((block.id(), byte_index)));
            self.cluster.block(self.id);
        }
    }

    fn after_wait(&self) {
        if let Some(recorder) = &self.recorder {
            recorder.runs();
        }
        let Some((block, byte_index)) = self.endless.take() else { return };
        let woken = self.cluster.awake(self.id);
        // The script has not been unwound yet, so the line of the wait is still available.
        if woken == Woken::Dismissed || self.cluster.wants_report(self.id) {
            if let Ok(host) = agent_host::of(&self.realm) {
                host.begin_report(&self.realm);
            }
            let (agent, place) = (AgentName(self.id), self.realm.current_line());
            self.cluster.report([AbandonedWait { agent, is_blocked: true, block, byte_index, place }]);
        }
    }
}
