//! A holder of a lock, and the thread that has to run it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Access, Actor, Address, LockKind, Site};

/// A lock that is held, by one of its holders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Names the hold as it is: if two snapshots show the same number, it lasted all the time between, and was held in the same way. `None`
    /// where its beginning says as much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The word of the lock.
    pub lock: Address,
    /// What sort of lock it is.
    pub kind: LockKind,
    /// What acquired it.
    pub actor: Actor,
    /// Whether it is a task of which only the waker is known ([`identify`](crate::identify) tells more): if it has ended since, another may have
    /// that waker by now, and be shown as the same.
    #[serde(default)]
    pub by_waker: bool,
    /// How it is held.
    pub mode: Access,
    /// How many permits of a semaphore.
    #[serde(default)]
    pub permits: Option<u64>,
    /// Where it was acquired.
    pub site: Option<Site>,
    /// How long it has been held.
    #[serde(rename = "held_ns", with = "super::optional_nanos", default)]
    pub held: Option<Duration>,
    /// Whether the guard may be with another than the one that acquired it, because it was sent there or made to be sent. Reports
    /// say "acquired by" then.
    pub sent_away: bool,
    /// Whether nothing will release it: permits that were forgotten, a guard that was leaked.
    #[serde(default)]
    pub forgotten: bool,
}

/// What is known of the records of holders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// How long holders have been recorded. What was acquired before has no record.
    #[serde(rename = "since_ns", with = "super::nanos")]
    pub since: Duration,
    /// How many acquisitions were not recorded since, for want of room.
    pub unrecorded: u64,
    /// Of how many condition variables and events the last notify was displaced by those of others.
    #[serde(default)]
    pub lost_notifies: u64,
}

/// Which thread polled a task last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastPoll {
    /// The task.
    pub task: Actor,
    /// The thread that polled it last.
    pub thread: Actor,
    /// Whether no other thread can poll it, as on a current-thread runtime.
    pub only_there: bool,
}
