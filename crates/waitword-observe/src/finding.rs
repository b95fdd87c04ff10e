//! Findings: what follows from a snapshot.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::json::{nanos, optional_nanos};
use crate::model::{Access, Actor, Deed, LockName, Site, State};

/// Something in a snapshot that deserves attention: a fault, or a fact that may be intended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finding {
    /// A cycle of threads, tasks and agents that wait for each other.
    Cycle(Cycle),
    /// Locks that were taken in opposite orders: see [`check_lock_order`](crate::check_lock_order).
    PotentialDeadlock(PotentialDeadlock),
    /// A lock with waiters whose holder has ended and cannot release it: an agent, or a thread that has not dropped its guard. It is a false
    /// alarm if the thread sent a borrowed guard away: that is not known until another thread has released
    /// a guard that was acquired at the same line.
    HolderEnded(HolderEnded),
    /// A task that was signalled and has not run since. If that lasts, it is not polled (a futurelock), which is a fault.
    NeverPolled(NeverPolled),
    /// Long waits for one lock at one site.
    LongWait(LongWait),
    /// Long waits for a notify, for which no notifier is known.
    NoKnownNotifier(NoKnownNotifier),
    /// A holder that waits for a notify while others wait long for its lock.
    HolderWaits(HolderWaits),
}

impl Finding {
    /// Returns how long the finding has lasted.
    pub fn since(&self) -> Duration {
        match self {
            Self::Cycle(cycle) => cycle.since,
            Self::PotentialDeadlock(order) => order.found,
            Self::HolderEnded(held) => held.ended,
            Self::NeverPolled(wait) => wait.age,
            Self::LongWait(waits) => waits.longest,
            Self::NoKnownNotifier(waits) => waits.longest,
            Self::HolderWaits(waits) => waits.longest.min(waits.age),
        }
    }

    /// Returns `true` if the finding is a fault. A worker that waits for work is not, nor is a cycle that may end by itself.
    pub fn is_fault(&self) -> bool {
        match self {
            Self::Cycle(cycle) => cycle.is_certain(),
            Self::PotentialDeadlock(_) | Self::HolderEnded(_) => true,
            Self::NeverPolled(wait) => wait.is_futurelock(),
            Self::LongWait(_) | Self::NoKnownNotifier(_) | Self::HolderWaits(_) => false,
        }
    }
}

/// A cycle of waits: each member is blocked by the next one, the last by the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycle {
    /// The kind of cycle.
    pub certainty: Certainty,
    /// How long the cycle has been complete: the age of its youngest wait.
    #[serde(rename = "since_ns", with = "nanos")]
    pub since: Duration,
    /// The members, the one with the youngest wait first.
    pub members: Vec<Member>,
    /// The conditions under which the cycle ends by itself. Empty: none is known.
    pub unless: Vec<Unless>,
}

impl Cycle {
    /// Returns `true` if nothing is known that could end the cycle: a deadlock, or a blocked executor.
    ///
    /// That a borrowed guard was sent to another thread is not known until another thread has released a guard that was acquired at the same
    /// line. Before that, a cycle through such a guard counts as certain, although the other thread may end it.
    pub fn is_certain(&self) -> bool {
        self.unless.is_empty() && self.certainty != Certainty::ExecutorMayBeBlocked
    }
}

/// The kind of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Every member waits for a lock that the next one holds, or is queued behind it.
    Deadlock,
    /// A thread blocks for a task that only this thread can poll.
    ExecutorBlocked,
    /// A thread blocks for a task that this thread polled last. Another thread may poll the task.
    ExecutorMayBeBlocked,
}

/// A condition under which a cycle ends by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "unless", rename_all = "snake_case")]
pub enum Unless {
    /// A task that may await something else at the same time, or an agent that may run other jobs.
    OtherWay {
        /// The task or agent.
        actor: Actor,
    },
    /// A wait that has a deadline, or may have one: of an agent's wait that is not known.
    Timed {
        /// The waiter.
        actor: Actor,
    },
    /// A task that may not be the one that acquired the lock: only its waker is known, and a new task may get the waker of a task that has
    /// ended ([`Holder::by_waker`](crate::Holder::by_waker)).
    AnotherTask {
        /// The task.
        actor: Actor,
    },
    /// A guard that may have been sent to another thread or task.
    GuardSentAway {
        /// What acquired the lock.
        actor: Actor,
    },
    /// An `AsyncLock`, which has no guard: another thread or task may unlock it.
    UnlockedByAnother {
        /// What acquired the lock.
        actor: Actor,
    },
}

/// One member of a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The thread, task or agent.
    pub actor: Actor,
    /// What it waits for. `None` for a task that waits to be polled by its thread.
    pub waits: Option<MemberWait>,
    /// How it blocks the previous member.
    pub blocks: Blocks,
}

/// A member's wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberWait {
    /// The lock.
    pub lock: LockName,
    /// The access that the member wants.
    pub wants: Access,
    /// Where the wait began.
    pub site: Option<Site>,
    /// How long it has waited.
    #[serde(rename = "age_ns", with = "nanos")]
    pub age: Duration,
}

/// How a member of a cycle blocks the previous one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "blocks", rename_all = "snake_case")]
pub enum Blocks {
    /// The member holds the lock.
    Holds {
        /// The lock.
        lock: LockName,
        /// The access that it holds.
        mode: Access,
        /// Where it acquired it.
        site: Option<Site>,
        /// How long it has held the lock.
        #[serde(rename = "held_ns", with = "optional_nanos", default)]
        held: Option<Duration>,
        /// Whether the guard may have been sent to another thread or task.
        sent_away: bool,
    },
    /// The member is queued ahead on an `RwLock`, and wants access that cannot be shared.
    QueuedAhead {
        /// The lock.
        lock: LockName,
    },
    /// The member waits to upgrade its upgradable read of an `RwLock`, and excludes all others meanwhile.
    Upgrades {
        /// The lock.
        lock: LockName,
    },
    /// The member is the thread that has to poll the previous member, a task.
    Polls {
        /// Whether no other thread can poll the task.
        only_there: bool,
    },
}

/// Locks that were acquired in opposite orders. While each member held a lock, it acquired the one that the next member held, and the last
/// member the lock of the first. At the same moment, they would have waited for each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PotentialDeadlock {
    /// How long ago it was found: when the last of these locks was released.
    #[serde(rename = "found_ns", with = "nanos")]
    pub found: Duration,
    /// The members.
    pub members: Vec<OrderMember>,
}

/// One member of a potential deadlock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderMember {
    /// The thread or task.
    pub actor: Actor,
    /// The lock that it held.
    pub holds: LockName,
    /// The access that it held.
    pub mode: Access,
    /// Where it had acquired that lock.
    pub taken: Site,
    /// The lock that it acquired meanwhile.
    pub wants: LockName,
    /// The access that it acquired.
    pub access: Access,
    /// Where it acquired it.
    pub site: Site,
}

/// A lock whose holder has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderEnded {
    /// The lock.
    pub lock: LockName,
    /// Its holder.
    pub actor: Actor,
    /// Where it acquired the lock.
    pub site: Option<Site>,
    /// How long ago the holder ended.
    #[serde(rename = "ended_ns", with = "nanos")]
    pub ended: Duration,
    /// How many waiters there are.
    pub waiters: usize,
    /// The first waiters, four at most.
    pub first: Vec<FirstWaiter>,
}

/// A waiter at the head of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstWaiter {
    /// The waiter.
    pub actor: Actor,
    /// Where its wait began.
    pub site: Option<Site>,
}

/// About a second: two checks of a thread that checks once per second may be a little less apart.
const FUTURELOCK_AFTER: Duration = Duration::from_millis(900);

/// A waiter that was signalled and has not run since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeverPolled {
    /// The lock.
    pub lock: LockName,
    /// The waiter.
    pub actor: Actor,
    /// Where it began to wait.
    pub site: Option<Site>,
    /// How long ago it began.
    #[serde(rename = "age_ns", with = "nanos")]
    pub age: Duration,
    /// Its state.
    pub state: State,
    /// How many waiters are queued behind it.
    pub behind: usize,
    /// The age of the earliest snapshot that saw it signalled, and since which it has not run. `None` if no earlier snapshot did.
    #[serde(rename = "not_run_ns", with = "optional_nanos", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_run: Option<Duration>,
}

impl NeverPolled {
    /// Returns `true` if the task is not polled: it has not run between two snapshots about a second apart. A task that was signalled just
    /// now is only late.
    pub fn is_futurelock(&self) -> bool {
        self.not_run.is_some_and(|time| time >= FUTURELOCK_AFTER)
    }
}

/// Long waits for one lock from one site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongWait {
    /// The lock.
    pub lock: LockName,
    /// Where the waits began.
    pub site: Option<Site>,
    /// How many there are.
    pub waiters: usize,
    /// The longest wait.
    #[serde(rename = "longest_ns", with = "nanos")]
    pub longest: Duration,
}

/// Long waits for a notify.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoKnownNotifier {
    /// The condition variable, event or word.
    pub lock: LockName,
    /// How many waiters there are.
    pub waiters: usize,
    /// The longest wait.
    #[serde(rename = "longest_ns", with = "nanos")]
    pub longest: Duration,
    /// Where the longest wait began.
    pub site: Option<Site>,
    /// The last notify, if it is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notified: Option<Deed>,
    /// The minimum time since the last notify: the time since the recording of notifies began. `None` if notifies are not recorded, or if
    /// some records were lost.
    #[serde(rename = "unnotified_ns", with = "optional_nanos", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unnotified: Option<Duration>,
}

/// A holder of a lock waits for a notify, while others wait for the lock. Its notifier may be among them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderWaits {
    /// The lock that it holds.
    pub lock: LockName,
    /// The holder.
    pub actor: Actor,
    /// Where it acquired the lock.
    pub taken: Option<Site>,
    /// The condition variable or event that it waits for.
    pub waits: LockName,
    /// Where it began to wait.
    pub site: Option<Site>,
    /// How long it has waited.
    #[serde(rename = "age_ns", with = "nanos")]
    pub age: Duration,
    /// How many waiters the lock has that the holder excludes.
    pub waiters: usize,
    /// The longest wait for the lock.
    #[serde(rename = "longest_ns", with = "nanos")]
    pub longest: Duration,
    /// Where the longest wait began.
    pub longest_at: Option<Site>,
}
