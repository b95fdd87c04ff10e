//! What is seen of a waiter.

use std::panic::Location;
use std::thread::Thread;
use std::time::Instant;

/// What a waiter waits for: which of the locks enqueued it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitsFor {
    /// A notify on a word of memory.
    Word,
    /// A `Mutex`.
    Mutex,
    /// Shared access to an `RwLock`.
    Read,
    /// Exclusive access to an `RwLock`.
    Write,
    /// An upgradable read of an `RwLock`, or its upgrade.
    UpgradableRead,
    /// Permits of a `Semaphore`.
    Semaphore,
    /// A notify of a `Condvar`; once notified, the mutex that goes with it.
    Condvar,
    /// An `Event`.
    Event,
    /// A `WaitGroup`.
    WaitGroup,
    /// A `Barrier`.
    Barrier,
    /// The value of a `OnceLock`.
    OnceLock,
    /// An `AsyncLock`.
    AsyncLock,
}

/// Where a wait comes from: its place in the source, and what waits.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The caller of the method that waits.
    pub site: &'static Location<'static>,
    /// What it waits for.
    pub waits_for: WaitsFor,
}

impl Origin {
    /// The caller, and what it waits for.
    #[track_caller]
    #[inline]
    pub fn here(waits_for: WaitsFor) -> Self {
        Self { site: Location::caller(), waits_for }
    }
}

/// Whether a waiter has been signalled, and responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaiterState {
    /// Not signalled: it waits for its turn.
    Queued,
    /// Signalled, and has not run since: its thread has not been scheduled, or its task has not been polled.
    Signalled,
    /// Signalled before the last pass of the watchdog, and has not run since.
    Overdue,
    /// As [`Overdue`](Self::Overdue), for a pass longer: the waiters behind it are signalled in its place. A task in this state
    /// is a futurelock, if it lasts.
    Skipped,
}

/// Who waits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Actor {
    /// A blocked thread.
    Thread(Thread),
    /// A task, by the data pointer of its waker: the same in each poll with most executors.
    Task(usize),
    /// An agent, by the address of its inbox.
    Agent(usize),
}

/// A waiter, as a snapshot saw it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WaiterSeen {
    /// The address of the word in whose queue it is.
    pub word: usize,
    /// How many waiters of that word were before it.
    pub position: usize,
    /// What it waits for.
    pub waits_for: WaitsFor,
    /// Where the wait began. `None` for a script's.
    pub site: Option<&'static Location<'static>>,
    /// When it enqueued. `None` if the clock did not run then ([`start_clock`](crate::observe::start_clock)).
    pub since: Option<Instant>,
    /// Its thread, task or agent.
    pub actor: Actor,
    /// Whether it was signalled.
    pub state: WaiterState,
}

/// What is copied of a waiter under the lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    pub(crate) word: usize,
    pub(crate) ticket: u64,
    pub(crate) origin: Option<Origin>,
    pub(crate) who: usize,
    pub(crate) is_agent: bool,
    pub(crate) state: WaiterState,
}
