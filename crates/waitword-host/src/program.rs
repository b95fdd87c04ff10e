//! A program and its limits, as an embedder sets them, and its run from the first agent to the end.

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

/// A JavaScript program, and how to run it: a builder whose [`run`](Self::run) blocks until the program ends.
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
    /// Creates a program from a file. Whether it is a module or a script depends on the extension (`.mjs`, `.cjs`), else on the `type`
    /// in the nearest `package.json`, else on whether the text uses `import` or `export`.
    ///
    /// The file may also be a pipe or a device. It is read in pieces, subject to the [memory limit](Self::memory_limit) and the
    /// [timeout](Self::timeout), and may have at most 512 MiB.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self::of(Entry::File(file.into()))
    }

    /// Creates a program from the standard input of this process, which is read to its end. The program is a module if it uses `import`
    /// or `export`. Its imports are relative to the current directory.
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

    /// Sets the program's arguments: `process.argv` from position 2 on.
    #[must_use]
    pub fn arguments<A: Into<String>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// Sets whether `Atomics.wait` may block the main agent, as in Node. By default it throws a TypeError there, as in a browser.
    /// Workers can always block.
    #[must_use]
    pub fn main_can_block(mut self, can_block: bool) -> Self {
        self.main_can_block = can_block;
        self
    }

    /// Sets a timeout, after which the program ends with exit code 124, even inside a wait or an endless loop.
    ///
    /// Some operations of the engine cannot be interrupted, such as a power of a BigInt with millions of digits. If the main agent is in
    /// one, the program ends when the operation does.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Limits the bytes that the scripts of one agent may hold: values; SharedArrayBuffers that they created (until the last agent drops
    /// them); and messages that they posted (until they are received).
    ///
    /// Beyond the limit a script gets an InternalError "out of memory". SharedArrayBuffer throws a RangeError, and `postMessage` a
    /// DataCloneError, in which case nothing was transferred. A script that continues until there is no memory even for an error is ended.
    #[must_use]
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.limits.memory = Some(bytes);
        self
    }

    /// Limits the number of `Atomics.waitAsync` promises that may be pending in one agent at a time. Beyond the limit, `waitAsync`
    /// throws a RangeError if it would have to wait. Unlimited by default.
    #[must_use]
    pub fn max_waits(mut self, waits: usize) -> Self {
        self.limits.waits = Some(waits);
        self
    }

    /// Limits the number of live workers in the program, whichever agent created them; [`DEFAULT_MAX_WORKERS`] by default. Beyond the
    /// limit, the Worker constructor throws an Error with the code `ERR_WORKER_INIT_FAILED`. A worker counts from its constructor until
    /// its thread has ended.
    #[must_use]
    pub fn max_workers(mut self, workers: usize) -> Self {
        self.limits.workers = workers;
        self
    }

    /// Limits the bytes that all agents of the program may hold together: what [`memory_limit`](Self::memory_limit) counts for each,
    /// and what the engine of each starts with. Beyond the limit, agents get the errors described there, and no worker can be created
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

    /// Shares memory with the program: `workerData` of its main agent is a SharedArrayBuffer on this block.
    ///
    /// Threads outside the program may then notify its waits at any time. So the program runs until its last wait has ended, even if all
    /// agents sleep, and never comes to a [standstill](Ended::is_standstill).
    #[must_use]
    pub fn share(mut self, block: SharedBlock) -> Self {
        self.shared = Some(block);
        self
    }

    /// Attaches an observer to the program.
    #[must_use]
    pub fn observe(mut self, observer: &Observer) -> Self {
        self.observer = Some(observer.clone());
        self
    }

    /// Runs the program, and blocks until it and all its workers have ended. The program writes to standard output and standard error
    /// of this process. The caller reports how it ended.
    ///
    /// # Blocking
    /// Blocks until the program ends, which may be never. All agents and their waits are gone when this returns, with one exception: the
    /// thread of a worker that was terminated inside an operation of the engine that cannot be interrupted, and that did not return within
    /// 1 s. Such a thread reaches nothing of the program but the shared memory that it has, and ends as soon as the operation returns.
    pub fn run(self) -> Ended {
        // The main agent runs on a thread of its own, so that all agents have stacks of the same size.
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
        // The program has ended, so the timeout's thread ends, too.
        let _ = clock.map(thread::JoinHandle::join);
        ended
    }
}

fn start_clock(cluster: &Arc<Cluster>, timeout: Duration) -> io::Result<thread::JoinHandle<()>> {
    let cluster = Arc::clone(cluster);
    thread::Builder::new().name("waitword timeout".into()).spawn(move || cluster.end_after(timeout))
}
