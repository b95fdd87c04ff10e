//! The rows of who made others wait, as plain data.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{Address, LockKind, LockName, Site};

/// Whom a row of the table blames.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "blamed", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Blamed {
    /// The holders that took the lock at this place.
    Site {
        /// The place.
        site: Site,
    },
    /// Nobody: the lock was free, and a signalled waiter had not run yet. Also holders that barged past it for less than a barging window.
    #[serde(rename = "not_yet_run")]
    NotYetRun,
    /// Holders of which it is not known where they took the lock: before they were recorded, or where there was no room for a record.
    Unknown,
    /// Holders of all sites for which the table has no row left.
    OtherSites,
}

/// What the holders that took a lock at one site made others wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blame {
    /// Whom it is about.
    #[serde(flatten)]
    pub blamed: Blamed,
    /// What sort of lock it was, last.
    pub kind: LockKind,
    /// The lock, if it always was the same.
    pub lock: Option<LockName>,
    /// The type of the lock, such as `Mutex<shop::db::Pool>`, if it is known and always was the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// How often it was released while others waited.
    pub releases: u64,
    /// How many waited, added up over these releases.
    pub waiters: u64,
    /// How long they waited together.
    #[serde(rename = "delay_ns", with = "crate::json::nanos")]
    pub delay: Duration,
    /// The longest that one of the holders made another wait.
    #[serde(rename = "longest_ns", with = "crate::json::nanos")]
    pub longest: Duration,
    /// Where that one waited.
    pub longest_at: Option<Site>,
    /// How long these releases had made the head of the queue wait.
    pub waits: Vec<Bucket>,
    /// How long the lock had been held at these releases, as far as that is known.
    pub holds: Vec<Bucket>,
}

/// A bucket of a histogram. Empty ones are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// Its durations are less than this, and at least half of it; those in the first and the last bucket may be less or more.
    #[serde(rename = "below_ns", with = "crate::json::nanos")]
    pub below: Duration,
    /// How many there are.
    pub count: u64,
}

impl Blame {
    /// What the rows say of the lock: which one it was, or else of what type.
    pub(crate) fn what(&self) -> LockName {
        let mut lock = self.lock.clone().unwrap_or(LockName {
            address: Address(0),
            kind: self.kind,
            name: None,
            type_name: None,
            place: None,
        });
        // The lock may have gone since.
        lock.type_name = lock.type_name.or_else(|| self.type_name.clone());
        lock
    }
}

impl Blame {
    pub(super) fn add(&mut self, other: Self) {
        if self.lock != other.lock {
            self.lock = None;
        }
        if self.type_name != other.type_name {
            self.type_name = None;
        }
        self.releases += other.releases;
        self.waiters += other.waiters;
        self.delay += other.delay;
        if other.longest > self.longest {
            (self.longest, self.longest_at) = (other.longest, other.longest_at);
        }
        for (ours, theirs) in [(&mut self.waits, other.waits), (&mut self.holds, other.holds)] {
            for bucket in theirs {
                match ours.iter_mut().find(|ours| ours.below == bucket.below) {
                    Some(ours) => ours.count += bucket.count,
                    None => ours.push(bucket),
                }
            }
            ours.sort_by_key(|bucket| bucket.below);
        }
    }
}
