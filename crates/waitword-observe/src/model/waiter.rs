//! A waiter in a queue.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Actor, Site};

/// What a waiter wants of a lock, or a holder has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Access {
    /// The lock for itself: a mutex, or an `RwLock` for writing.
    Exclusive,
    /// An `RwLock` for reading.
    Shared,
    /// An upgradable read of an `RwLock`.
    Upgradable,
    /// The upgrade of an upgradable read: the other readers have to leave.
    Upgrade,
    /// Permits of a semaphore.
    Permits,
    /// The initialisation of a value: a waiter waits for its end, a holder runs it.
    Initialization,
    /// A notify. Nobody holds that.
    Notification,
}

/// Whether a waiter was signalled, and responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not signalled: it waits for its turn.
    Queued,
    /// Signalled, and has not run since.
    Signalled,
    /// Signalled, and has not run for one pass of the watchdog.
    Overdue,
    /// Signalled, and has not run for two passes of the watchdog: the waiters behind it are signalled in its place.
    Skipped,
}

/// One wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiter {
    /// How many waiters of the same lock are before it.
    pub position: usize,
    /// Its thread, task or agent.
    pub actor: Actor,
    /// What it wants.
    pub wants: Access,
    /// Whether it was signalled.
    pub state: State,
    /// Where the wait began. `None` for a script's.
    pub site: Option<Site>,
    /// How long it has been queued. `None` if the clock did not run when it enqueued ([`enable`](crate::enable)).
    #[serde(rename = "age_ns", with = "super::optional_nanos", default)]
    pub age: Option<Duration>,
    /// Whether the wait ends by itself at some time. `None` if that is not known.
    pub timed: Option<bool>,
}
