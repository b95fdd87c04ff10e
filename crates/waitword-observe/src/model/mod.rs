//! A snapshot as plain, owned data: it can be made by hand, compared, written as JSON and read back.

mod actor;
mod lock;
mod trace;

use std::collections::HashSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::json::nanos;

pub use actor::{Actor, Deed, Ended, Site};
pub use lock::{
    Access, Address, BlockPlace, Holder, LastPoll, Lock, LockKind, LockName, Recording, State, Waiter,
};
pub(crate) use lock::{held_as, is_notified, sort};
pub use trace::{Trace, TraceEvent, TraceKind, TraceReadError};

/// The waiters of a process, and the holders if they are recorded.
///
/// Plain data: [`snapshot`](crate::snapshot()) makes one of the process, and a test can make one by hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// When it was taken, on the process's monotonic clock. Only differences are meaningful.
    #[serde(rename = "taken_ns", with = "nanos")]
    pub taken: Duration,
    /// The locks that have waiters or known holders.
    pub locks: Vec<Lock>,
    /// The holders of locks. `None` if holders are not recorded.
    pub holders: Option<Vec<Holder>>,
    /// How complete the holders are. `None` if holders are not recorded.
    #[serde(default)]
    pub recording: Option<Recording>,
    /// The thread that polled each task last, where that is known.
    pub last_polls: Vec<LastPoll>,
    /// The holders that have ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<Ended>,
}

/// What identifies a wait: no two waits on a word enqueue at the same time.
type Wait<'a> = (Address, &'a Actor, State, Access, &'a Option<Site>, i128);

/// What identifies a hold.
type Hold<'a> = (Option<u64>, Address, &'a Actor, Access, &'a Option<Site>, i128);

impl Snapshot {
    /// Returns the number of waiters.
    pub fn waiters(&self) -> usize {
        self.locks.iter().map(Lock::waiting).sum()
    }

    /// Returns the known holders of the lock at `address`.
    pub fn holders_of(&self, address: Address) -> impl Iterator<Item = &Holder> {
        self.holders.iter().flatten().filter(move |holder| holder.lock == address)
    }

    /// The beginning of a wait or hold of this age. Two snapshots of one process give the same beginning for the same wait, to the nanosecond.
    pub(crate) fn began(&self, age: Duration) -> i128 {
        self.taken.as_nanos() as i128 - age.as_nanos() as i128
    }

    /// Returns what is the same in `self` and `earlier`: waits in the same state, by lock, actor, site and beginning, and holds in the same
    /// mode. A wait or hold without a known beginning is left out, because it may be another one.
    ///
    /// A snapshot does not show one moment: it copies one queue after the other, and then the holders. But a wait or hold that is in both
    /// snapshots lasted from the one to the other, so everything in the result existed at the same moment. No two waits have the same
    /// beginning, so it identifies a wait. A hold is identified by its number ([`Holder::number`]).
    pub fn unchanged_since(&self, earlier: &Self) -> Self {
        let waits_of = |lock| Lock::all_waiters(lock).filter_map(|waiter| earlier.wait(lock, waiter));
        let waits: HashSet<Wait<'_>> = earlier.locks.iter().flat_map(waits_of).collect();
        let holds = earlier.holders.iter().flatten().filter_map(|holder| earlier.hold(holder));
        let holds: HashSet<Hold<'_>> = holds.collect();
        let is_same_hold = |holder: &&Holder| self.hold(holder).is_some_and(|hold| holds.contains(&hold));
        let locks = self.locks.iter().map(|lock| {
            let is_same =
                |waiter: &&Waiter| self.wait(lock, waiter).is_some_and(|wait| waits.contains(&wait));
            Lock {
                name: lock.name.clone(),
                changed: lock.changed.clone(),
                notified: lock.notified.clone(),
                upgrade: lock.upgrade.as_ref().filter(is_same).cloned(),
                waiters: lock.waiters.iter().filter(is_same).cloned().collect(),
            }
        });
        Self {
            taken: self.taken,
            locks: locks.filter(|lock| lock.waiting() > 0).collect(),
            holders: self.holders.as_ref().map(|all| all.iter().filter(is_same_hold).cloned().collect()),
            recording: self.recording.clone(),
            last_polls: self
                .last_polls
                .iter()
                .filter(|poll| earlier.last_polls.contains(poll))
                .cloned()
                .collect(),
            ended: self.ended.clone(),
        }
    }

    /// All waits whose beginning is known: for which lock, whose, and since when, in whatever state.
    pub(crate) fn waits(&self) -> impl Iterator<Item = (Address, &Actor, i128)> {
        let waiters = self.locks.iter().flat_map(|lock| lock.all_waiters().map(move |waiter| (lock, waiter)));
        waiters.filter_map(|(lock, waiter)| Some((lock.name.address, &waiter.actor, self.began(waiter.age?))))
    }

    fn wait<'a>(&self, lock: &Lock, waiter: &'a Waiter) -> Option<Wait<'a>> {
        let Waiter { actor, state, wants, site, .. } = waiter;
        Some((lock.name.address, actor, *state, *wants, site, self.began(waiter.age?)))
    }

    fn hold<'a>(&self, holder: &'a Holder) -> Option<Hold<'a>> {
        let Holder { number, lock, actor, mode, site, .. } = holder;
        Some((*number, *lock, actor, *mode, site, self.began(holder.held?)))
    }
}
