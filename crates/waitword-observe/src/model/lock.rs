//! A lock, or whatever else has a queue.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Deed, Waiter};

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
            .ok_or_else(|| de::Error::custom(format!("{text:?} is no address such as \"0x7f3a10\"")))
    }
}

/// What has the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LockKind {
    /// A word of memory that is waited on directly.
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

/// Whether its notifies are recorded, while holders are.
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

/// Which lock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LockName {
    /// The address of its word.
    pub address: Address,
    /// What sort of lock it is.
    pub kind: LockKind,
    /// The name that it was given by [`name`](crate::name()).
    pub name: Option<String>,
    /// Its type, such as `Mutex<shop::db::Pool>`, if it is known. Text has the last names of its paths alone.
    pub type_name: Option<String>,
    /// Where it is in memory that JavaScript agents share, if it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<BlockPlace>,
}

/// A place in a block of shared memory: what a SharedArrayBuffer is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockPlace {
    /// The number of the block, from 1 in the order in which blocks were first waited on.
    pub block: u64,
    /// The byte.
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
    /// Which lock.
    #[serde(flatten)]
    pub name: LockName,
    /// Its waiters in the order of the queue.
    pub waiters: Vec<Waiter>,
    /// Of an `RwLock`, the holder of the upgradable read, if it waits for the readers to leave. It is in no queue: all waiters wait for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<Waiter>,
    /// Who changed its word last, where that is recorded: of the words of scripts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Deed>,
    /// Who notified it last, where that is recorded: of condition variables, events, and the words of scripts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notified: Option<Deed>,
}

impl Lock {
    /// A lock without waiters, of which nothing else is known.
    pub fn new(name: LockName) -> Self {
        Self { name, waiters: Vec::new(), upgrade: None, changed: None, notified: None }
    }

    /// All that wait for it: the upgrade first, then the queue.
    pub fn all_waiters(&self) -> impl Iterator<Item = &Waiter> + Clone {
        self.upgrade.iter().chain(&self.waiters)
    }

    /// How many wait for it.
    pub fn waiting(&self) -> usize {
        self.waiters.len() + usize::from(self.upgrade.is_some())
    }
}
