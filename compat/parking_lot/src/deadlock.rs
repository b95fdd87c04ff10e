//! Deadlocks of threads, of which waitword's observer knows. The feature `deadlock_detection` turns it on.
//!
//! What differs from the original: a thread stays blocked and cannot tell its stack, so [`Backtrace`] has the lines of its acquisitions. A
//! cycle with a task in it has no place in this API: `WAITWORD_OBSERVE=1` prints it.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{LazyLock, Mutex, Once, PoisonError};
use std::thread::{self, ThreadId};

use waitword_observe::{Actor, Cycle, Finding, Member, enable, report};

/// The threads that have acquired something, by the numbers that reports have.
static THREADS: LazyLock<Mutex<HashMap<u64, ThreadId>>> = LazyLock::new(Mutex::default);

/// One of the threads of a deadlock.
pub struct DeadlockedThread {
    thread_id: ThreadId,
    backtrace: Backtrace,
}

impl DeadlockedThread {
    /// Which thread.
    pub fn thread_id(&self) -> ThreadId {
        self.thread_id
    }

    /// What it waits for, and what the one before it waits for.
    pub fn backtrace(&self) -> &Backtrace {
        &self.backtrace
    }
}

/// Where a thread of a deadlock waits, and where it took what it holds.
pub struct Backtrace(Member);

impl fmt::Debug for Backtrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#?}", (&self.0.waits, &self.0.blocks))
    }
}

/// The deadlocks that have come about since the last call: the threads of each, every one of which waits for the next.
pub fn check_deadlock() -> Vec<Vec<DeadlockedThread>> {
    // A thread does not get out of a deadlock.
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

/// The members, if all are threads and nothing is known that could end the cycle.
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

/// Before each acquisition: from the first on, who holds what is recorded, and which threads there are.
#[inline]
pub(crate) fn record() {
    thread_local!(static THREAD: Known = Known::new());
    // A thread that is ending is known no more.
    let _ = THREAD.try_with(|_| ());
}

/// The entry of a thread in [`THREADS`].
struct Known(u64);

impl Known {
    fn new() -> Self {
        static FIRST: Once = Once::new();
        FIRST.call_once(enable);
        let id = thread::current().id();
        // The number itself is unstable; reports have it from here, too.
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
