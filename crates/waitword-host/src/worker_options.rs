//! What a new agent is made of: its script, how it is read, and its `workerData`.

use std::path::PathBuf;

use waitword_agents::SharedBlock;

use crate::channel::Message;

/// What an agent runs.
pub(crate) enum Entry {
    File(PathBuf),
    Source(String),
    /// The module in a `data:` URL.
    Data(String),
    /// What there is to read at the standard input.
    Stdin,
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
