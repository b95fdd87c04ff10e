//! A lock, or whatever else has a queue.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Waiter;

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
    /// Its type without paths, such as `Mutex<Accounts>`, if it is known.
    pub type_name: Option<String>,
}

/// A lock and its queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// Which lock.
    #[serde(flatten)]
    pub name: LockName,
    /// Its waiters in the order of the queue.
    pub waiters: Vec<Waiter>,
}
