//! What can be concluded from a snapshot.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::json::{nanos, optional_nanos};
use crate::model::{Access, Actor, Deed, LockName, Site, State};

/// A fact that deserves attention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finding {
    /// A cycle of threads, tasks and agents that wait for each other.
    Cycle(Cycle),
    /// Locks that were taken in opposite orders: see [`check_lock_order`](crate::check_lock_order).
    PotentialDeadlock(PotentialDeadlock),
    /// A lock that is waited for, whose holder has ended and cannot release it: an agent, or a thread that has not dropped its guard. That a
    /// borrowed guard is with another thread is not known until a guard of its line was released there.
    HolderEnded(HolderEnded),
    /// A waiter that was signalled and has not run since. If that lasts, nobody polls it (a futurelock), which is a fault.
    NeverPolled(NeverPolled),
    /// Long waits for one lock at one site.
    LongWait(LongWait),
    /// Long waits for a notify, for which no notifier is known.
    NoKnownNotifier(NoKnownNotifier),
    /// A holder that waits for a notify while others wait long for its lock.
    HolderWaits(HolderWaits),
}

impl Finding {
    /// How long it has lasted.
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

    /// Whether it is a fault, and not just a fact: a worker that waits for work is no fault, nor is a cycle that may end by itself.
    pub fn is_fault(&self) -> bool {
        match self {
            Self::Cycle(cycle) => cycle.is_certain(),
            Self::PotentialDeadlock(_) | Self::HolderEnded(_) => true,
            Self::NeverPolled(wait) => wait.is_futurelock(),
            Self::LongWait(_) | Self::NoKnownNotifier(_) | Self::HolderWaits(_) => false,
        }
    }
}

/// Each member is blocked by the next one, the last by the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycle {
    /// What is known about it.
    pub certainty: Certainty,
    /// How long the cycle has been complete: the age of its youngest wait.
    #[serde(rename = "since_ns", with = "nanos")]
    pub since: Duration,
    /// Its members.
    pub members: Vec<Member>,
    /// What would make the cycle end by itself. Empty: nothing is known that would.
    pub unless: Vec<Unless>,
}

impl Cycle {
    /// Whether nothing is known that could end the cycle: a deadlock, or an executor that is blocked.
    ///
    /// That a borrowed guard was sent to another thread is not known until a guard that was acquired at the same line was released there.
    /// Before that, a cycle through it counts as certain, although the other thread may end it.
    pub fn is_certain(&self) -> bool {
        self.unless.is_empty() && self.certainty != Certainty::ExecutorMayBeBlocked
    }
}

/// What kind of cycle it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Every member waits for a lock that the next one holds, or is queued behind it.
    Deadlock,
    /// A thread blocks, and only it can poll the task that it waits for.
    ExecutorBlocked,
    /// A thread blocks that was the last to poll the task that it waits for; another thread may poll it.
    ExecutorMayBeBlocked,
}

/// What may end a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "unless", rename_all = "snake_case")]
pub enum Unless {
    /// A task or an agent that may await something else at the same time, or run something else.
    OtherWay {
        /// The task or agent.
        actor: Actor,
    },
    /// A wait that has a deadline, or may have one: of an agent's that is not known.
    Timed {
        /// The waiter.
        actor: Actor,
    },
    /// A task that may not be the one that acquired the lock: only the waker is known, and a new task may get the waker of one that has
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
    /// What it waits for. `None` for a task that waits for its thread.
    pub waits: Option<MemberWait>,
    /// How it blocks the member before it.
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

/// How a member of a cycle blocks the one before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "blocks", rename_all = "snake_case")]
pub enum Blocks {
    /// The member holds the lock.
    Holds {
        /// The lock.
        lock: LockName,
        /// The access that it has.
        mode: Access,
        /// Where it acquired it.
        site: Option<Site>,
        /// For how long it has held it.
        #[serde(rename = "held_ns", with = "optional_nanos", default)]
        held: Option<Duration>,
        /// Whether the guard may have been sent to another.
        sent_away: bool,
    },
    /// The member is queued ahead on an `RwLock`, and wants access that cannot be shared.
    QueuedAhead {
        /// The lock.
        lock: LockName,
    },
    /// The member waits to upgrade its upgradable read of an `RwLock`, and keeps all others out meanwhile.
    Upgrades {
        /// The lock.
        lock: LockName,
    },
    /// The member is the thread that has to poll the task before it.
    Polls {
        /// Whether no other thread can poll it.
        only_there: bool,
    },
}

/// Each member acquired a lock while it held another: the lock that the next member held, the last one the lock of the first. At the same
/// moment, they would have waited for each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PotentialDeadlock {
    /// How long ago it was found: when the last of these locks was released.
    #[serde(rename = "found_ns", with = "nanos")]
    pub found: Duration,
    /// Its members.
    pub members: Vec<OrderMember>,
}

/// One member of a potential deadlock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderMember {
    /// The thread or task.
    pub actor: Actor,
    /// The lock that it held.
    pub holds: LockName,
    /// The access that it had.
    pub mode: Access,
    /// Where it had acquired that lock.
    pub taken: Site,
    /// The lock that it acquired then.
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
    /// The first of them, four at most.
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

/// About a second: the passes of a thread that looks once per second are now and then a little nearer.
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
    /// How many waiters are behind it.
    pub behind: usize,
    /// How long ago it was signalled, at least: since an earlier snapshot saw it signalled it has not run. `None` if none did.
    #[serde(rename = "not_run_ns", with = "optional_nanos", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_run: Option<Duration>,
}

impl NeverPolled {
    /// Whether it has not run for so long that nobody seems to poll it: between two snapshots about a second apart. A waiter that was
    /// signalled just now is only late.
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
    /// The longest of them.
    #[serde(rename = "longest_ns", with = "nanos")]
    pub longest: Duration,
}

/// Waits for a notify.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoKnownNotifier {
    /// The condition variable, event or word.
    pub lock: LockName,
    /// How many waiters there are.
    pub waiters: usize,
    /// The longest wait.
    #[serde(rename = "longest_ns", with = "nanos")]
    pub longest: Duration,
    /// Where the longest began.
    pub site: Option<Site>,
    /// The last notify, if that is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notified: Option<Deed>,
    /// How long nobody has notified it, at least: since notifies are recorded. `None` if they are not, or if some were lost.
    #[serde(rename = "unnotified_ns", with = "optional_nanos", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unnotified: Option<Duration>,
}

/// A holder of a lock waits for a notify, while others wait for the lock. Those may include the one that would notify it.
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
    /// How many wait for the lock.
    pub waiters: usize,
    /// The longest wait for the lock.
    #[serde(rename = "longest_ns", with = "nanos")]
    pub longest: Duration,
    /// Where the longest began.
    pub longest_at: Option<Site>,
}
