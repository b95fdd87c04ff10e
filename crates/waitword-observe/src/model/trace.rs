//! A trace as plain data.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::actor::{Actor, Site};
use super::lock::LockName;
use crate::json::{nanos, optional_nanos};

/// Distinguishes a trace from other JSON.
#[cfg(feature = "json")]
const FORMAT: &str = "waitword-trace";
#[cfg(feature = "json")]
const SCHEMA: u32 = 1;

/// The actions of waiters and holders, in order of time.
///
/// Plain data: [`trace_stop`](crate::trace_stop) makes one of the process. A program that knows more (for example the agents of a table of
/// its own) may add events, or make a trace of its own.
///
/// ```
/// use std::time::Duration;
/// use waitword_observe::{Actor, Address, LockKind, LockName, Trace, TraceEvent, TraceKind};
///
/// let [worker, host] = [1, 2].map(|number| Actor::Agent { number, name: None });
/// let lock = LockName { address: Address(64), kind: LockKind::Word, name: None, type_name: None, place: None };
/// let event = |micros, actor: &Actor, kind| TraceEvent {
///     at: Duration::from_micros(micros),
///     actor: actor.clone(),
///     on: actor.clone(),
///     lock: lock.clone(),
///     kind,
///     site: None,
/// };
/// let mut trace = Trace::default();
/// trace.events.push(event(10, &worker, TraceKind::Waits));
/// trace.events.push(TraceEvent { on: host.clone(), ..event(30, &worker, TraceKind::Notified) });
/// trace.events.push(event(35, &worker, TraceKind::Ended));
/// # #[cfg(feature = "json")]
/// std::fs::write(std::env::temp_dir().join("trace.json"), trace.to_chrome_json())?; // https://ui.perfetto.dev opens it
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The program's name, if it is known.
    pub program: Option<String>,
    /// The number of its process.
    pub process: u32,
    /// The events, in order of time.
    pub events: Vec<TraceEvent>,
    /// Whether the trace has all acquisitions and releases, or only those for which an actor waited.
    pub all: bool,
    /// How many events were lost: overwritten by younger ones, or of a thread without a ring (256 threads have one at a time).
    pub dropped: u64,
}

/// One event of a [`Trace`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEvent {
    /// The time since the trace began.
    #[serde(rename = "at_ns", with = "nanos")]
    pub at: Duration,
    /// The waiter or holder.
    pub actor: Actor,
    /// The thread on which it happened: for a signal, the signalling thread.
    pub on: Actor,
    /// The lock.
    pub lock: LockName,
    /// What happened.
    #[serde(flatten)]
    pub kind: TraceKind,
    /// Where the wait began, or the lock was acquired.
    pub site: Option<Site>,
}

/// The kind of a [`TraceEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum TraceKind {
    /// The actor began to wait.
    Waits,
    /// The actor was signalled: the lock was offered to it.
    Signalled,
    /// The actor was notified.
    Notified,
    /// The actor acquired the lock.
    Acquired,
    /// The actor runs after a notify.
    Ended,
    /// The actor gave up without having acquired the lock or been notified.
    #[serde(rename = "gave_up")]
    GaveUp,
    /// The actor released the lock.
    Released {
        /// How long it was held, if that is known.
        #[serde(rename = "held_ns", with = "optional_nanos", default)]
        held: Option<Duration>,
    },
}

#[cfg(feature = "json")]
impl Trace {
    /// Returns the trace as JSON, in one line, for [`from_json`](Self::from_json).
    pub fn to_json(&self) -> String {
        crate::json::written(FORMAT, SCHEMA, self)
    }

    /// Reads a trace that [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// If the text is not a trace, or one of another version.
    pub fn from_json(json: &str) -> Result<Self, TraceReadError> {
        let is_trace = crate::json::head(json).is_some_and(|head| head == (FORMAT.to_owned(), SCHEMA));
        is_trace.then(|| serde_json::from_str(json).ok()).flatten().ok_or(TraceReadError)
    }
}

/// The error of [`Trace::from_json`]: the text is not a trace of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceReadError;

impl fmt::Display for TraceReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a trace of this version of waitword-observe")
    }
}

impl std::error::Error for TraceReadError {}
