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
    /// Threads, tasks and agents that wait for each other.
    Cycle(Cycle),
    /// Locks that were taken in opposite orders: see [`check_lock_order`](crate::check_lock_order).
    PotentialDeadlock(PotentialDeadlock),
    /// A lock that is waited for, whose holder has ended and cannot release it.
    HolderEnded(HolderEnded),
    /// A waiter that was signalled and has not run since. If it stays so, nobody polls it (a futurelock), which is a fault.
    NeverPolled(NeverPolled),
    /// Long waits for one lock at one site.
    LongWait(LongWait),
    /// Long waits for a notify, of which nobody is known who could send it.
    NoKnownNotifier(NoKnownNotifier),
}

impl Finding {
    /// How long it has been so.
    pub fn since(&self) -> Duration {
        match self {
            Self::Cycle(cycle) => cycle.since,
            Self::PotentialDeadlock(order) => order.found,
            Self::HolderEnded(held) => held.ended,
            Self::NeverPolled(wait) => wait.age,
            Self::LongWait(waits) => waits.longest,
            Self::NoKnownNotifier(waits) => waits.longest,
        }
    }

    /// Whether it is a fault, and not just a fact: a worker that waits for work is no fault, nor is a cycle that may end by itself.
    pub fn is_fault(&self) -> bool {
        match self {
            Self::Cycle(cycle) => cycle.is_certain(),
            Self::PotentialDeadlock(_) | Self::HolderEnded(_) => true,
            Self::NeverPolled(wait) => wait.is_futurelock(),
            Self::LongWait(_) | Self::NoKnownNotifier(_) => false,
        }
    }
}

/// Each member is blocked by the next one, the last by the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycle {
    /// What is known of it.
    pub certainty: Certainty,
    /// How long the cycle has been complete: the age of its youngest wait.
    #[serde(rename = "since_ns", with = "nanos")]
    pub since: Duration,
    /// Its members.
    pub members: Vec<Member>,
    /// What would make it end by itself. Empty: nothing that is known.
    pub unless: Vec<Unless>,
}

impl Cycle {
    /// Whether nothing is known that could end it: a deadlock, or an executor that is blocked.
    ///
    /// That a borrowed guard is with another thread is not known until one that was acquired at the same line was released there: before
    /// that, a cycle through it is said to be certain, although the other thread may end it.
    pub fn is_certain(&self) -> bool {
        self.unless.is_empty() && self.certainty != Certainty::ExecutorMayBeBlocked
    }
}

/// What sort of cycle it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Every member waits for a lock that the next one holds, or stands behind it in a queue.
    Deadlock,
    /// A thread blocks that has to poll the task it waits for.
    ExecutorBlocked,
    /// A thread blocks that polled the task it waits for last; another thread may poll it.
    ExecutorMayBeBlocked,
}

/// What may end a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "unless", rename_all = "snake_case")]
pub enum Unless {
    /// It may await something else at the same time, or run something else.
    OtherWay {
        /// A task or an agent.
        actor: Actor,
    },
    /// The wait may have a deadline: it is not known.
    Timed {
        /// The waiter.
        actor: Actor,
    },
    /// It may be another than the one that acquired the lock: of both only the waker is known, which a task gets that the first one left
    /// ([`Holder::by_waker`](crate::Holder::by_waker)).
    AnotherTask {
        /// A task.
        actor: Actor,
    },
    /// The guard may be with another.
    GuardSentAway {
        /// What acquired the lock.
        actor: Actor,
    },
    /// Another may unlock it: an `AsyncLock` has no guard.
    UnlockedByAnother {
        /// What acquired the lock.
        actor: Actor,
    },
}

/// One of a cycle.
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
    /// What the member wants of it.
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
    /// It holds the lock.
    Holds {
        /// The lock.
        lock: LockName,
        /// How it holds it.
        mode: Access,
        /// Where it acquired it.
        site: Option<Site>,
        /// For how long.
        #[serde(rename = "held_ns", with = "optional_nanos", default)]
        held: Option<Duration>,
        /// Whether the guard may be with another.
        sent_away: bool,
    },
    /// It stands before it in the queue of an `RwLock`, and wants what cannot be shared.
    QueuedAhead {
        /// The lock.
        lock: LockName,
    },
    /// It waits to upgrade its upgradable read of an `RwLock`, and keeps all others out meanwhile.
    Upgrades {
        /// The lock.
        lock: LockName,
    },
    /// It is the thread that has to poll it.
    Polls {
        /// Whether no other thread can.
        only_there: bool,
    },
}

/// Each member took a lock while it held another: the one that the next member held, the last the one of the first. At one moment
/// they would have waited for each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PotentialDeadlock {
    /// How long ago it was found: when the last of these locks was released.
    #[serde(rename = "found_ns", with = "nanos")]
    pub found: Duration,
    /// Its members.
    pub members: Vec<OrderMember>,
}

/// One of a potential deadlock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderMember {
    /// The thread or task.
    pub actor: Actor,
    /// What it held.
    pub holds: LockName,
    /// How it held it.
    pub mode: Access,
    /// Where it had taken that.
    pub taken: Site,
    /// What it took then.
    pub wants: LockName,
    /// How it took it.
    pub access: Access,
    /// Where it took it.
    pub site: Site,
}

/// A lock whose holder has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderEnded {
    /// The lock.
    pub lock: LockName,
    /// Who holds it.
    pub actor: Actor,
    /// Where it acquired the lock.
    pub site: Option<Site>,
    /// How long ago it ended.
    #[serde(rename = "ended_ns", with = "nanos")]
    pub ended: Duration,
    /// How many wait.
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

/// A waiter that was signalled and has not run since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeverPolled {
    /// The lock.
    pub lock: LockName,
    /// The waiter.
    pub actor: Actor,
    /// Where it began to wait.
    pub site: Option<Site>,
    /// How long ago.
    #[serde(rename = "age_ns", with = "nanos")]
    pub age: Duration,
    /// Its state.
    pub state: State,
    /// How many waiters are behind it.
    pub behind: usize,
    /// For so long, at least, it has not run: since it was seen so in an earlier snapshot, and the lock was free. `None` where it was not.
    #[serde(
        rename = "not_run_ns",
        with = "optional_nanos",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub not_run: Option<Duration>,
}

impl NeverPolled {
    /// Whether it has not run for so long that nobody seems to poll it: for two passes of the watchdog, which makes them while others are
    /// behind it, or in two snapshots. One that was signalled just now is only late.
    pub fn is_futurelock(&self) -> bool {
        self.state == State::Skipped || self.not_run.is_some()
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
    /// How many wait.
    pub waiters: usize,
    /// The longest wait.
    #[serde(rename = "longest_ns", with = "nanos")]
    pub longest: Duration,
    /// Where the longest began.
    pub site: Option<Site>,
    /// The last notify, if that is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notified: Option<Deed>,
    /// For so long, at least, nobody has notified it: since notifies are recorded. `None` if they are not, or some were lost.
    #[serde(
        rename = "unnotified_ns",
        with = "optional_nanos",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub unnotified: Option<Duration>,
}
