//! The options of a new agent: its script, how it is read, its `workerData`, and its limits.

use std::path::PathBuf;
use std::sync::Arc;

use waitword_agents::{MemoryBudget, SharedBlock};

use crate::channel::Message;
use crate::path_text::text_of;

/// The options of a new worker.
pub(crate) struct WorkerOptions {
    pub(crate) entry: Entry,
    pub(crate) shape: Shape,
    /// The limit of its memory in bytes, if it is less than its parent's.
    pub(crate) memory: Option<usize>,
    /// Whether its standard output and its standard error go to its parent only.
    pub(crate) keeps: [bool; 2],
    /// The arguments after the script in `process.argv`.
    pub(crate) arguments: Vec<String>,
    pub(crate) data: Data,
}

/// The file name in stacks of source text that was passed to `new Worker(text, { eval: true })`.
pub(crate) const EVAL: &str = "[worker eval]";

/// The script of an agent.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    File(PathBuf),
    Source(String),
    /// The module in a `data:` URL.
    Data(String),
    /// The text from standard input.
    Stdin,
}

impl Entry {
    /// The script's name in `process.argv`.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(path) => text_of(path),
            Self::Source(_) => EVAL.to_owned(),
            Self::Data(url) => url.clone(),
            Self::Stdin => "-".to_owned(),
        }
    }
}

/// How the script of an agent is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// As Node does: a module or a CommonJS script, depending on the file.
    Node,
    /// As a web worker of type "classic": a script whose declarations are global.
    WebScript,
    /// As a web worker of type "module".
    WebModule,
}

/// The source of `workerData`.
pub(crate) enum Data {
    /// Of a worker: the message that its parent wrote.
    OfParent {
        data: Message,
        /// Its environment: alternating names and values.
        variables: Vec<String>,
        /// The name of a web worker.
        name: Option<String>,
    },
    /// Of the main agent: the memory that the embedder shares, if it does.
    OfEmbedder(Option<SharedBlock>),
}

/// The default limit of live workers in a program (see [`Program::max_workers`](crate::Program::max_workers)).
///
/// Each worker is a thread with an engine, which takes about 1 MiB of memory before its script allocates anything.
pub const DEFAULT_MAX_WORKERS: usize = 1024;

/// The limits of a program's agents.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// The memory of each agent, in bytes.
    pub(crate) memory: Option<usize>,
    /// The memory of all agents.
    pub(crate) whole: Option<Arc<MemoryBudget>>,
    /// The pending `waitAsync` promises of each agent.
    pub(crate) waits: Option<usize>,
    /// The live workers of the program.
    pub(crate) workers: usize,
}
