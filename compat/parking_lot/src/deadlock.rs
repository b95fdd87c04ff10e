//! Deadlock detection for threads, by waitword's observer. The feature `deadlock_detection` enables it.
//!
//! Differences from parking_lot:
//! - A deadlocked thread stays blocked and cannot capture its stack. So a [`Backtrace`] shows the source lines of the thread's acquisitions.
//! - This API cannot express a cycle that contains a task: `WAITWORD_OBSERVE=1` prints those.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{LazyLock, Mutex, Once, PoisonError};
use std::thread::{self, ThreadId};

use waitword_observe::{Actor, Cycle, Finding, Member, enable, report};

/// The threads that have acquired a lock, by their numbers in reports.
static THREADS: LazyLock<Mutex<HashMap<u64, ThreadId>>> = LazyLock::new(Mutex::default);

/// A thread that is part of a deadlock.
pub struct DeadlockedThread {
    thread_id: ThreadId,
    backtrace: Backtrace,
}

impl DeadlockedThread {
    /// Returns the ID of this thread.
    pub fn thread_id(&self) -> ThreadId {
        self.thread_id
    }

    /// Returns where this thread waits, and where it acquired the lock that the previous thread of the cycle waits for.
    pub fn backtrace(&self) -> &Backtrace {
        &self.backtrace
    }
}

/// Where a deadlocked thread waits, and where it acquired the lock that the previous thread of the cycle waits for. `Debug` shows both.
pub struct Backtrace(Member);

impl fmt::Debug for Backtrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#?}", (&self.0.waits, &self.0.blocks))
    }
}

/// Returns the deadlocks that were not returned by an earlier call.
///
/// Each deadlock is a list of its threads, in which each thread waits for the next.
pub fn check_deadlock() -> Vec<Vec<DeadlockedThread>> {
    // No entry is ever removed, because a thread never leaves a deadlock.
    static REPORTED: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
    let threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = Vec::new();
    for finding in report().findings {
        let Finding::Cycle(cycle) = finding else { continue };
        if let Some(members) = threads_of(cycle, &threads)
            && members.iter().any(|(number, _)| !reported.contains(number))
        {
            reported.extend(members.iter().map(|(number, _)| number));
            found.push(members.into_iter().map(|(_, thread)| thread).collect());
        }
    }
    found
}

/// Returns the members of the cycle if all are threads, and if nothing is known that could end the cycle.
fn threads_of(cycle: Cycle, threads: &HashMap<u64, ThreadId>) -> Option<Vec<(u64, DeadlockedThread)>> {
    let is_certain = cycle.is_certain();
    let member = |member: Member| match member.actor {
        Actor::Thread { id, .. } if is_certain => {
            Some((id, DeadlockedThread { thread_id: *threads.get(&id)?, backtrace: Backtrace(member) }))
        }
        _ => None,
    };
    cycle.members.into_iter().map(member).collect()
}

/// Called before each acquisition. The first call enables the recording of holders; the first of each thread registers the thread.
#[inline]
pub(crate) fn record() {
    thread_local!(static THREAD: Known = Known::new());
    // Fails while the thread exits and its entry is gone already.
    let _ = THREAD.try_with(|_| ());
}

/// The entry of a thread in [`THREADS`].
struct Known(u64);

impl Known {
    fn new() -> Self {
        static FIRST: Once = Once::new();
        FIRST.call_once(enable);
        let id = thread::current().id();
        // `ThreadId::as_u64` is unstable. Reports take the number from the `Debug` text, too.
        let digits: String = format!("{id:?}").chars().filter(char::is_ascii_digit).collect();
        let number = digits.parse().unwrap_or(0);
        THREADS.lock().unwrap_or_else(PoisonError::into_inner).insert(number, id);
        Self(number)
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        THREADS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}
