//! The timeline: what waiters and holders do, one event after the other, in a [`Ring`](super::Ring) for each thread.
//!
//! A thread writes to its own ring, so no event waits for another thread, and none is written under a shard's lock. Off, each place
//! that would write an event loads a flag. A thread gets its ring at its first event while there is a trace. When the thread ends the
//! ring goes to another one; the ring says from which event on each has written.
//!
//! | event | written by | when |
//! |---|---|---|
//! | waits | the waiter | it has enqueued; the time is that before |
//! | signalled, notified | the thread that signals, for each waiter | before it is woken; the time is that before it can run |
//! | acquired | the waiter, after its wait; with `all` every acquirer | it has the lock |
//! | ended | the waiter | it was notified, and runs |
//! | gave up | the waiter | its deadline passed, or it was dropped |
//! | released | the holder | others wait; with `all` at every release |

use std::thread::Thread;

use super::origin::WaitsFor;
use super::site::Site;
use crate::time::Instant;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A wait began.
    Waits(WaitsFor),
    /// A waiter was signalled: offered what it waits for.
    Signalled,
    /// A waiter was notified, and has left its queue.
    Notified,
    /// What was waited for was acquired; or what was free.
    Acquired,
    /// A wait for a notify has ended.
    Ended,
    /// A wait has ended without what it was for.
    GaveUp,
    /// A lock was released that was held since then, if that is known.
    Released {
        /// When it was acquired.
        since: Option<Instant>,
    },
}

/// Whose wait or hold it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Who {
    /// The thread that wrote the event.
    ThisThread,
    /// A task, by the data pointer of its waker.
    Task(usize),
    /// An agent, by the address of its inbox.
    Agent(usize),
    /// The waiter that began to wait under this identity: a thread, a task or an agent.
    Waiter(usize),
}

/// One event.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// When.
    pub at: Instant,
    /// The thread on which it happened.
    pub thread: Thread,
    /// What happened.
    pub kind: EventKind,
    /// The address of the word.
    pub word: usize,
    /// To whom: the waiter or holder.
    pub who: Who,
    /// The identity of the waiter, as in [`Who`]; 0 if there is none. A thread has one too.
    pub identity: usize,
    /// Where the wait began, or the lock was taken, if that is known.
    pub site: Option<&'static Site>,
}

/// What was traced.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Events {
    /// When the trace began.
    pub start: Instant,
    /// In order of time.
    pub events: Vec<Event>,
    /// How many events were overwritten by younger ones, or had no ring because too many threads wrote.
    pub dropped: u64,
}
