//! What a new agent is made of: its script, how it is read, its `workerData`, and what it may use.

use std::path::PathBuf;
use std::sync::Arc;

use waitword_agents::{MemoryBudget, SharedBlock};

use crate::channel::Message;
use crate::path_text::text_of;

/// What a worker is made of.
pub(crate) struct WorkerOptions {
    pub(crate) entry: Entry,
    pub(crate) shape: Shape,
    /// How many bytes it may hold, if that is less than its parent may.
    pub(crate) memory: Option<usize>,
    /// Whether what it prints goes to its parent alone: of its standard output and its standard error.
    pub(crate) keeps: [bool; 2],
    /// What follows the script in `process.argv`.
    pub(crate) arguments: Vec<String>,
    pub(crate) data: Data,
}

/// What stands for a file name in stacks of source text that was passed to `new Worker(text, { eval: true })`.
pub(crate) const EVAL: &str = "[worker eval]";

/// What an agent runs.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    File(PathBuf),
    Source(String),
    /// The module in a `data:` URL.
    Data(String),
    /// What there is to read at the standard input.
    Stdin,
}

impl Entry {
    /// What stands for it in `process.argv`.
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
    /// A module or a CommonJS script, whichever it is.
    Node,
    /// As a page's worker of type "classic": a script whose declarations are global.
    WebScript,
    /// As a page's worker of type "module".
    WebModule,
}

/// What `workerData` is made of.
pub(crate) enum Data {
    /// A worker's: what its parent wrote.
    OfParent {
        data: Message,
        /// Its environment: names and values in turn.
        variables: Vec<String>,
        /// Of one of the web's shape.
        name: Option<String>,
    },
    /// The main agent's: what the embedder shares, if it does.
    OfEmbedder(Option<SharedBlock>),
}

/// How many workers of a program may be alive at a time unless [set otherwise](crate::Program::max_workers).
///
/// Each is a thread with an engine, which takes about a MiB of memory before its script has made anything.
pub const DEFAULT_MAX_WORKERS: usize = 1024;

/// What the agents of a program may use.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Bytes of memory of each agent.
    pub(crate) memory: Option<usize>,
    /// Bytes of memory of all agents.
    pub(crate) whole: Option<Arc<MemoryBudget>>,
    /// Pending `waitAsync` promises of each agent.
    pub(crate) waits: Option<usize>,
    /// Workers of the program that are alive.
    pub(crate) workers: usize,
}
