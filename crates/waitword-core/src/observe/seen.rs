//! What is seen of a waiter.

use crate::time::Instant;
use std::thread::Thread;

use super::origin::WaitsFor;
use super::site::Site;

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

/// A thread, a task or an agent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Actor {
    /// A blocked thread.
    Thread(Thread),
    /// A task, by the data pointer of its waker: the same in each poll with most executors.
    Task(usize),
    /// A task, by the number that it had when it acquired a lock (`identify`). For holders: a waiter keeps its
    /// waker, so its address says as much (`task_number`).
    Identified(u64),
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
    /// Where the wait began. `None` for a script's, and for a wait of a library that was loaded at run time more than 2 GiB
    /// away from this crate.
    pub site: Option<&'static Site>,
    /// When it enqueued. `None` if the clock did not run then (`start_clock`).
    pub since: Option<Instant>,
    /// Whether it ends at a deadline. `None` for a script's.
    pub timed: Option<bool>,
    /// Its thread, task or agent.
    pub actor: Actor,
    /// What an agent calls its wait (`InboxWait::token`); `None` of all others.
    pub token: Option<usize>,
    /// Whether it was signalled.
    pub state: WaiterState,
}

/// What is copied of a waiter under the lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    pub(crate) word: usize,
    pub(crate) ticket: u64,
    pub(crate) waits_for: WaitsFor,
    pub(crate) site: Option<&'static Site>,
    pub(crate) is_timed: bool,
    pub(crate) who: usize,
    /// Of an agent's wait.
    pub(crate) token: Option<usize>,
    pub(crate) state: WaiterState,
    /// It has not begun to wait: it is about to release a lock.
    pub(crate) releases: bool,
}
