//! Whole programs: a main agent and its workers, as `node:worker_threads` has them.
//!
//! It is an example of embedding [`waitword_quickjs`]: it uses that crate's public interface and has no unsafe code. Who has an
//! event loop already embeds that crate instead.
//!
//! ```text
//!   Program ──► worker.rs, death.rs, observed.rs   a thread for each agent, and what it posts to its parent
//!                 └► event_loop/   one job at a time, then sleep
//!                      ├► timers.rs, mailbox.rs, ports.rs, channel.rs, thread_messages.rs, named_locks.rs, clone/   what there is to do
//!                      ├► cluster.rs, members.rs, liveness.rs   who sleeps; can anything still happen?
//!                      └► sources.rs, source_file.rs, module_loader.rs
//!   js/ ──► parts.rs, options.rs, natives/, rooms.rs, blobs.rs   the half of the host that is written in JavaScript, and what it calls
//! ```
//!
//! # When a program ends
//! An agent goes on while it has a timer or a worker that is not `unref`ed, a `waitAsync` with a timeout, or (a worker) a
//! listener for messages. A `waitAsync` without a timeout keeps it only while another agent could still notify it. When
//! nothing can happen any more, agents that merely wait are ended one by one, youngest first, and their waits reported as
//! [abandoned](Ended::abandoned). Exit code 0 then, as Node has it; 13 if the main module still awaits; 1 if an agent
//! is blocked in `Atomics.wait` for ever.

#![forbid(unsafe_code)]

mod agent_host;
mod blobs;
mod channel;
mod clone;
mod cluster;
mod death;
mod event_loop;
mod failure;
mod liveness;
mod mailbox;
mod members;
mod module_loader;
mod named_locks;
mod natives;
mod observed;
mod options;
mod parts;
mod ports;
mod rooms;
mod source_file;
mod source_line;
mod source_text;
mod sources;
mod thread_messages;
mod timers;
mod worker;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use waitword_agents::{MemoryBudget, SharedBlock};

pub use failure::{Failure, FailureKind, Place};

/// The number of an agent: `threadId` in scripts.
type ThreadId = u32;

const MAIN: ThreadId = 0;

/// The exit code of a program whose main module awaits what will never come.
const EXIT_UNSETTLED_AWAIT: i32 = 13;
/// The exit code of a program whose time is up: that of the command `timeout`.
pub const EXIT_TIMED_OUT: i32 = 124;
/// The exit code of a program whose standard output was closed: what a shell shows for a program ended by SIGPIPE.
const EXIT_OUTPUT_CLOSED: i32 = 141;

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
    script: Script,
    arguments: Vec<String>,
    main_can_block: bool,
    shared: Option<SharedBlock>,
    timeout: Option<Duration>,
    limits: Limits,
}

/// Where a program comes from.
#[derive(Clone, Debug)]
enum Script {
    File(PathBuf),
    Stdin,
}

impl Script {
    /// What stands for it in `process.argv`.
    fn name(&self) -> String {
        match self {
            Self::File(path) => path.to_string_lossy().into_owned(),
            Self::Stdin => "-".to_owned(),
        }
    }
}

/// How many workers of a program may be alive at a time unless it is [told otherwise](Program::max_workers).
///
/// Each is a thread with an engine, which takes about a MiB of memory before its script has made anything.
pub const DEFAULT_MAX_WORKERS: usize = 1024;

/// What the agents of a program may use.
#[derive(Clone, Debug)]
struct Limits {
    /// Bytes of memory of each agent.
    memory: Option<usize>,
    /// Bytes of memory of all agents.
    whole: Option<Arc<MemoryBudget>>,
    /// Pending `waitAsync` promises of each agent.
    waits: Option<usize>,
    /// Workers of the program that are alive.
    workers: usize,
}

impl Program {
    /// A module or a script. What it is follows from the extension (`.mjs`, `.cjs`), from the `type` of the nearest
    /// `package.json`, or from whether it uses `import` or `export`.
    ///
    /// The file may also be a pipe or a device. It is read in pieces, against the [memory limit](Self::memory_limit) and the
    /// [timeout](Self::timeout), and may have 512 MiB.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self::of(Script::File(file.into()))
    }

    /// What there is to read at the standard input of this process, to its end. What it requires and imports is found from the
    /// current directory; a module if it uses `import` or `export`.
    pub fn stdin() -> Self {
        Self::of(Script::Stdin)
    }

    fn of(script: Script) -> Self {
        Self {
            script,
            arguments: Vec::new(),
            main_can_block: false,
            shared: None,
            timeout: None,
            limits: Limits { memory: None, whole: None, waits: None, workers: DEFAULT_MAX_WORKERS },
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

    /// Ends the program after so long, also out of waits and endless loops, with exit code 124. What the engine does
    /// without asking whether to go on (a power of a BigInt with millions of digits, say) is not cut short: the program ends
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
    /// and what the engine of each starts with. Beyond it each agent is told what it is told there, and no worker can be made
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

    /// Runs the program to its end, with all its workers. It writes to the standard output and error of this process;
    /// how it ended is for the caller to show.
    ///
    /// # Blocking
    /// Until the program ends, which may be never. All its agents and their waits are gone when this returns.
    pub fn run(self) -> Ended {
        worker::run_main(self)
    }
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "it says whether the program failed"]
pub struct Ended {
    /// What the process should exit with.
    pub exit_code: i32,
    /// The error that ended it.
    pub failure: Option<Failure>,
    /// The waits that were pending when nothing could happen any more, or when time was up.
    pub abandoned: Vec<AbandonedWait>,
    /// The program came to a standstill before its agents were done: all of them slept or were blocked.
    pub is_standstill: bool,
    /// Its [time](Program::timeout) was up.
    pub is_timed_out: bool,
    /// The main module still awaited something: `await` at its top level, of a promise that can never be settled.
    pub is_awaiting: bool,
}

/// A wait that nobody can end any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbandonedWait {
    /// The agent that waits.
    pub agent: AgentName,
    /// Whether it is blocked in `Atomics.wait`, or awaits the promise of `Atomics.waitAsync`.
    pub is_blocked: bool,
    /// Which shared memory: equal for waits on the same block, and otherwise meaningless.
    pub block: usize,
    /// Where in the block, in bytes.
    pub byte_index: usize,
    /// The line of the script that waits: `file:line:column`, if the stack says so.
    pub place: Option<String>,
}

/// An agent as people call it: `main`, `worker 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgentName(ThreadId);

impl AgentName {
    /// `threadId` in its scripts: 0 in the main agent, counted up in workers.
    pub fn thread_id(self) -> u32 {
        self.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            MAIN => f.write_str("main"),
            id => write!(f, "worker {id}"),
        }
    }
}
