//! A program and its limits, as an embedder gives them, and the run from its first agent to its end.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use waitword_agents::{MemoryBudget, SharedBlock};
use waitword_quickjs::Doorbell;

use crate::agent_host::Parts;
use crate::agent_links::AgentLinks;
use crate::agent_name::MAIN;
use crate::cluster::Cluster;
use crate::ended::Ended;
use crate::exit::Exit;
use crate::observer::Observer;
use crate::worker::{self, SpawnOptions};
use crate::worker_options::{DEFAULT_MAX_WORKERS, Data, Entry, Limits, Shape};

/// A program to run: a file of JavaScript, and how to run it.
///
/// ```no_run
/// use waitword_host::Program;
///
/// let ended = Program::new("examples/article/async-lock.js").arguments(["3"]).run();
/// std::process::exit(ended.exit_code);
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    entry: Entry,
    arguments: Vec<String>,
    main_can_block: bool,
    shared: Option<SharedBlock>,
    timeout: Option<Duration>,
    limits: Limits,
    observer: Option<Observer>,
}

impl Program {
    /// A module or a script. What it is follows from the extension (`.mjs`, `.cjs`), from the `type` of the nearest
    /// `package.json`, or from whether it uses `import` or `export`.
    ///
    /// The file may also be a pipe or a device. It is read in pieces, against the [memory limit](Self::memory_limit) and the
    /// [timeout](Self::timeout), and may have 512 MiB.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self::of(Entry::File(file.into()))
    }

    /// What there is to read at the standard input of this process, to its end. What it requires and imports is found from the
    /// current directory; a module if it uses `import` or `export`.
    pub fn stdin() -> Self {
        Self::of(Entry::Stdin)
    }

    fn of(entry: Entry) -> Self {
        Self {
            entry,
            arguments: Vec::new(),
            main_can_block: false,
            shared: None,
            timeout: None,
            limits: Limits { memory: None, whole: None, waits: None, workers: DEFAULT_MAX_WORKERS },
            observer: None,
        }
    }

    /// What follows the file's name in `process.argv`.
    #[must_use]
    pub fn arguments<A: Into<String>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// Whether `Atomics.wait` may block the main agent, as in Node. Otherwise, and by default, it is a TypeError there, as
    /// in a browser. Workers can always block.
    #[must_use]
    pub fn main_can_block(mut self, can_block: bool) -> Self {
        self.main_can_block = can_block;
        self
    }

    /// Ends the program after so long, also out of waits and endless loops, with exit code 124. What the engine does in the main
    /// agent without asking whether to go on (a power of a BigInt with millions of digits, say) is not cut short: the program ends
    /// when that does.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The most bytes that the scripts of one agent may hold: values, SharedArrayBuffers that they made, until the last agent lets
    /// go of them, and messages that they posted, until they are taken. Beyond it they get an InternalError, "out of memory"; a
    /// RangeError from SharedArrayBuffer, a DataCloneError from `postMessage`, which then has moved nothing. A script that goes
    /// on until there is no memory even for an error is ended.
    #[must_use]
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.limits.memory = Some(bytes);
        self
    }

    /// The most `Atomics.waitAsync` promises that may be pending in one agent at a time. Beyond it `waitAsync` throws a
    /// RangeError where it would have to wait.
    #[must_use]
    pub fn max_waits(mut self, waits: usize) -> Self {
        self.limits.waits = Some(waits);
        self
    }

    /// The most workers of the program that may be alive at a time, wherever they were made; [`DEFAULT_MAX_WORKERS`] unless
    /// this is called. Where one more is made, the constructor throws an Error with the code `ERR_WORKER_INIT_FAILED`. A worker
    /// counts from its constructor until its thread has ended.
    #[must_use]
    pub fn max_workers(mut self, workers: usize) -> Self {
        self.limits.workers = workers;
        self
    }

    /// The most bytes that all agents of the program may hold together: what [`memory_limit`](Self::memory_limit) counts of each,
    /// and what the engine of each starts with. Beyond it each agent gets the errors that it gets there, and no worker can be made
    /// (`ERR_WORKER_INIT_FAILED`). The stacks of the threads do not count.
    ///
    /// ```no_run
    /// use waitword_host::Program;
    ///
    /// let ended = Program::new("untrusted.js").memory_limit(64 << 20).total_memory(512 << 20).max_workers(16).run();
    /// # drop(ended);
    /// ```
    #[must_use]
    pub fn total_memory(mut self, bytes: usize) -> Self {
        self.limits.whole = Some(MemoryBudget::new(bytes));
        self
    }

    /// Shares memory with the program: its main agent finds a SharedArrayBuffer on this block as `workerData`.
    ///
    /// From then on threads outside of the program may notify its waits, so none is ever hopeless: the program goes on
    /// until its last wait is over, and never ends by [standstill](Ended::is_standstill).
    #[must_use]
    pub fn share(mut self, block: SharedBlock) -> Self {
        self.shared = Some(block);
        self
    }

    /// Lets `observer` see the program while it runs.
    #[must_use]
    pub fn observe(mut self, observer: &Observer) -> Self {
        self.observer = Some(observer.clone());
        self
    }

    /// Runs the program to its end, with all its workers. It writes to the standard output and error of this process;
    /// how it ended is for the caller to show.
    ///
    /// # Blocking
    /// Until the program ends, which may be never. All its agents and their waits are gone when this returns, but for the thread of a
    /// worker that was terminated inside the engine, where it does not ask whether to go on, and has not come back within a second: that
    /// reaches nothing of the program any more but the shared memory that it has, and ends as soon as it is back.
    pub fn run(self) -> Ended {
        // The main agent gets a thread like any other, so that stacks are the same for all.
        let bell = Arc::new(Doorbell::default());
        let cluster = Cluster::new(Arc::clone(&bell), self.shared.is_none(), self.observer);
        let options = SpawnOptions {
            parts: Parts {
                id: MAIN,
                cluster: Arc::clone(&cluster),
                links: Arc::new(AgentLinks::new(&bell, None)),
                bell,
                argv: worker::argv(self.entry.name(), self.arguments),
                shape: Shape::Node,
                limits: self.limits,
                spawn: worker::spawn,
            },
            entry: self.entry,
            data: Data::OfEmbedder(self.shared),
            can_block: self.main_can_block,
            advance: None,
        };
        let clock = match self.timeout.map(|timeout| start_clock(&cluster, timeout)).transpose() {
            Ok(clock) => clock,
            Err(error) => {
                return Exit::internal(MAIN, format!("cannot start a thread for the timeout: {error}"))
                    .end(&cluster);
            }
        };
        let exit =
            worker::thread_for(MAIN).spawn(move || worker::run_agent(options)).map(thread::JoinHandle::join);
        let exit = match exit {
            Ok(Ok(exit)) => exit,
            Ok(Err(_)) => Exit::internal(MAIN, "the main thread panicked".to_owned()),
            Err(error) => Exit::internal(MAIN, format!("cannot start a thread: {error}")),
        };
        let ended = exit.end(&cluster);
        // The program is over, so the clock has stopped.
        let _ = clock.map(thread::JoinHandle::join);
        ended
    }
}

fn start_clock(cluster: &Arc<Cluster>, timeout: Duration) -> io::Result<thread::JoinHandle<()>> {
    let cluster = Arc::clone(cluster);
    thread::Builder::new().name("waitword timeout".into()).spawn(move || cluster.end_after(timeout))
}
