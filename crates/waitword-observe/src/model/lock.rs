//! A lock, or anything else with a queue; its waiters and its holders.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use waitword::observe::holders::Hold;
use waitword_core::observe::WaitsFor;

use super::actor::{Actor, Deed, Site};
use crate::json::{nanos, optional_nanos};

/// The address of the word in whose queue the waiters are. In JSON a string, `"0x7f3a10"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        number
            .map(Self)
            .ok_or_else(|| de::Error::custom(format!("{text:?} is not an address such as \"0x7f3a10\"")))
    }
}

/// The kind of a lock, or of anything else with a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LockKind {
    /// A word of memory on which threads, tasks or agents wait directly.
    Word,
    /// A `Mutex`.
    Mutex,
    /// An `RwLock`.
    RwLock,
    /// A `Semaphore`.
    Semaphore,
    /// A `Condvar`.
    Condvar,
    /// An `Event`.
    Event,
    /// A `WaitGroup`.
    WaitGroup,
    /// A `Barrier`.
    Barrier,
    /// A `OnceLock` or `LazyLock`.
    OnceLock,
    /// An `AsyncLock`.
    AsyncLock,
}

/// Whether notifies of this kind are recorded, while holders are.
pub(crate) fn is_notified(kind: LockKind) -> bool {
    matches!(kind, LockKind::Condvar | LockKind::Event)
}

impl fmt::Display for LockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word => f.write_str("word"),
            kind => write!(f, "{kind:?}"),
        }
    }
}

/// Identifies a lock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LockName {
    /// The address of its word.
    pub address: Address,
    /// The kind of lock.
    pub kind: LockKind,
    /// Its name, if [`name`](crate::name()) gave it one.
    pub name: Option<String>,
    /// Its type, such as `Mutex<shop::db::Pool>`, if it is known. Printed reports shorten its paths.
    pub type_name: Option<String>,
    /// Its place in memory that JavaScript agents share, if it is in such memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<BlockPlace>,
}

impl LockName {
    /// A lock of which nothing else is known.
    pub(crate) fn new(address: Address, kind: LockKind) -> Self {
        Self { address, kind, name: None, type_name: None, place: None }
    }
}

/// A byte offset in a block of shared memory, the memory of a SharedArrayBuffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockPlace {
    /// The number of the block, from 1 in the order in which blocks were first waited on.
    pub block: u64,
    /// The offset in bytes.
    pub byte_index: u64,
}

/// Prints as `block 1 +64`.
impl fmt::Display for BlockPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block {} +{}", self.block, self.byte_index)
    }
}

/// A lock and its queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// Identifies the lock.
    #[serde(flatten)]
    pub name: LockName,
    /// Its waiters in the order of the queue.
    pub waiters: Vec<Waiter>,
    /// For an `RwLock`: the upgradable reader, if it waits for the readers to release. It is in no queue, and all waiters wait for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<Waiter>,
    /// The last change of its word, where that is recorded: for words of scripts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Deed>,
    /// The last notify, where that is recorded: for condition variables, events and words of scripts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notified: Option<Deed>,
}

impl Lock {
    /// Creates a lock without waiters, of which nothing else is known.
    pub fn new(name: LockName) -> Self {
        Self { name, waiters: Vec::new(), upgrade: None, changed: None, notified: None }
    }

    /// Returns all waiters: the upgrade first, then the queue.
    pub fn all_waiters(&self) -> impl Iterator<Item = &Waiter> + Clone {
        self.upgrade.iter().chain(&self.waiters)
    }

    /// Returns the number of waiters.
    pub fn waiting(&self) -> usize {
        self.waiters.len() + usize::from(self.upgrade.is_some())
    }
}

/// The access that a waiter requests, or that a holder has acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Access {
    /// Exclusive access: a mutex, or an `RwLock` for writing.
    Exclusive,
    /// Shared access: an `RwLock` for reading.
    Shared,
    /// An upgradable read of an `RwLock`.
    Upgradable,
    /// The upgrade of an upgradable read: it waits for the other readers to release.
    Upgrade,
    /// Permits of a semaphore.
    Permits,
    /// The initialisation of a value: a holder runs it, a waiter waits for its end.
    Initialization,
    /// A notify, which has no holder.
    Notification,
}

impl Access {
    /// Whether a holder with this access excludes a waiter for the other.
    pub(crate) fn excludes(self, wanted: Self) -> bool {
        match self {
            // An upgrade waits for the readers, not for its own upgradable read.
            Self::Shared => matches!(wanted, Self::Exclusive | Self::Upgrade),
            Self::Upgradable => matches!(wanted, Self::Exclusive | Self::Upgradable),
            Self::Exclusive | Self::Initialization | Self::Upgrade => true,
            Self::Permits | Self::Notification => false,
        }
    }
}

/// The kind of lock, and the access that the waiter wants.
pub(crate) fn sort(waits_for: WaitsFor) -> (LockKind, Access) {
    match waits_for {
        WaitsFor::Mutex => (LockKind::Mutex, Access::Exclusive),
        WaitsFor::Read => (LockKind::RwLock, Access::Shared),
        WaitsFor::Write => (LockKind::RwLock, Access::Exclusive),
        WaitsFor::UpgradableRead => (LockKind::RwLock, Access::Upgradable),
        WaitsFor::Upgrade => (LockKind::RwLock, Access::Upgrade),
        WaitsFor::Semaphore => (LockKind::Semaphore, Access::Permits),
        WaitsFor::Condvar => (LockKind::Condvar, Access::Notification),
        WaitsFor::Event => (LockKind::Event, Access::Notification),
        WaitsFor::WaitGroup => (LockKind::WaitGroup, Access::Notification),
        WaitsFor::Barrier => (LockKind::Barrier, Access::Notification),
        WaitsFor::OnceLock => (LockKind::OnceLock, Access::Initialization),
        WaitsFor::AsyncLock => (LockKind::AsyncLock, Access::Exclusive),
        // A kind that this version does not know is still a word.
        _ => (LockKind::Word, Access::Notification),
    }
}

/// The kind of lock, and the access that is held.
pub(crate) fn held_as(hold: Hold) -> (LockKind, Access) {
    match hold {
        Hold::Mutex => (LockKind::Mutex, Access::Exclusive),
        Hold::Read => (LockKind::RwLock, Access::Shared),
        Hold::UpgradableRead => (LockKind::RwLock, Access::Upgradable),
        Hold::Write => (LockKind::RwLock, Access::Exclusive),
        Hold::Permits => (LockKind::Semaphore, Access::Permits),
        Hold::Initialiser => (LockKind::OnceLock, Access::Initialization),
        Hold::AsyncLock => (LockKind::AsyncLock, Access::Exclusive),
        _ => (LockKind::Word, Access::Exclusive),
    }
}

/// Whether a waiter was signalled, and whether it responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not signalled.
    Queued,
    /// Signalled, and has not run since.
    Signalled,
    /// Signalled, and has not run for one pass of the watchdog.
    Overdue,
    /// Signalled, and has not run for two passes of the watchdog, so that the waiters behind it are signalled instead.
    Skipped,
}

/// One wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiter {
    /// How many waiters of the same lock are ahead of it.
    pub position: usize,
    /// Its thread, task or agent.
    pub actor: Actor,
    /// The access that it wants.
    pub wants: Access,
    /// Whether it was signalled.
    pub state: State,
    /// Where the wait began. `None` for a wait of a script.
    pub site: Option<Site>,
    /// How long it has been queued. `None` if the clock did not run when it enqueued ([`enable`](crate::enable)).
    #[serde(rename = "age_ns", with = "optional_nanos", default)]
    pub age: Option<Duration>,
    /// Whether the wait has a deadline. `None` if that is not known.
    pub timed: Option<bool>,
    /// For a signalled task, the age of the earliest snapshot that saw it signalled, and since which it has not run.
    #[serde(rename = "signalled_ns", with = "optional_nanos", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signalled: Option<Duration>,
}

/// One hold of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Identifies the hold in its present mode: if two snapshots show the same number, the hold lasted from the one to the other, in the same
    /// mode. `None` if its beginning is enough to identify it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The word of the lock.
    pub lock: Address,
    /// The kind of lock.
    pub kind: LockKind,
    /// The thread, task or agent that acquired it.
    pub actor: Actor,
    /// Whether it is a task of which only the waker is known (see [`identify`](crate::identify)). If it has ended since, another task may
    /// have that waker by now, and would be shown as the holder.
    #[serde(default)]
    pub by_waker: bool,
    /// The access that is held.
    pub mode: Access,
    /// How many permits of a semaphore are held.
    #[serde(default)]
    pub permits: Option<u64>,
    /// Where it was acquired.
    pub site: Option<Site>,
    /// How long it has been held.
    #[serde(rename = "held_ns", with = "optional_nanos", default)]
    pub held: Option<Duration>,
    /// Whether the guard may be with another thread or task than the one that acquired it: the guard is owned, or another thread has released
    /// a guard that was acquired at the same line. Reports then say "acquired by".
    pub sent_away: bool,
    /// Whether no guard will release it: forgotten permits, a leaked guard.
    #[serde(default)]
    pub forgotten: bool,
}

/// How complete the records of holders are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// How long holders have been recorded. Earlier acquisitions have no record.
    #[serde(rename = "since_ns", with = "nanos")]
    pub since: Duration,
    /// How many acquisitions since then were not recorded, because no record was free.
    pub unrecorded: u64,
    /// How often the record of an object's last notify was overwritten by that of another object.
    #[serde(default)]
    pub lost_notifies: u64,
}

/// The thread that polled a task last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastPoll {
    /// The task.
    pub task: Actor,
    /// The thread that polled it last.
    pub thread: Actor,
    /// Whether no other thread can poll the task, as on a current-thread runtime.
    pub only_there: bool,
}
