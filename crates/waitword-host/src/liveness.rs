//! Whether anything can still happen in a program, decided for all its agents at once.
//!
//! An agent that runs can notify any other, and an agent with a deadline will run. So nothing can happen any more if every agent either
//! - sleeps in its event loop without a deadline and without a message, or
//! - is blocked in `Atomics.wait` without a timeout, and is in the queue.
//!
//! The condition "is in the queue" makes the answer exact. An agent that is about to enqueue may still find its word changed, and one that
//! was notified left the queue before the notifier could fall asleep.

use crate::agent_name::ThreadId;

/// What an agent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It runs, or will run: its doorbell was rung, it has a deadline, or it is being terminated.
    Busy,
    /// It sleeps in its event loop until its doorbell is rung.
    Asleep(Reason),
    /// It is inside `Atomics.wait` without a timeout.
    Blocked {
        /// Whether it is in the queue. If not, it is about to enter or to leave it.
        queued: bool,
    },
}

/// What keeps an agent alive that sleeps in its event loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Only `waitAsync` promises without a timeout.
    WaitsOnly,
    /// A worker of its own, or a listener for messages.
    Messages,
}

/// The conclusion for the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Liveness {
    /// Something can still happen.
    GoesOn,
    /// It depends on an agent that is just entering or leaving a queue.
    AskAgain,
    /// Nothing can happen, so this agent is to end. Its end is an event for its parent, which may make things happen again. So agents are
    /// dismissed one at a time, and the main agent, with which the program ends, last.
    Dismiss(ThreadId),
}

/// Decides for all agents of a program, in ascending order of their numbers.
pub(crate) fn judge(agents: impl IntoIterator<Item = (ThreadId, Standing)>) -> Liveness {
    let mut first = None;
    let mut youngest_waiting = None;
    let mut is_certain = true;
    for (id, standing) in agents {
        match standing {
            Standing::Busy => return Liveness::GoesOn,
            Standing::Blocked { queued } => is_certain &= queued,
            Standing::Asleep(Reason::WaitsOnly) => youngest_waiting = Some(id),
            Standing::Asleep(Reason::Messages) => {}
        }
        first = first.or(Some(id));
    }
    match youngest_waiting.or(first) {
        Some(id) if is_certain => Liveness::Dismiss(id),
        Some(_) => Liveness::AskAgain,
        None => Liveness::GoesOn,
    }
}

#[cfg(test)]
mod tests {
    use super::Reason::{Messages, WaitsOnly};
    use super::Standing::{Asleep, Blocked, Busy};
    use super::*;

    const QUEUED: Standing = Blocked { queued: true };
    const ENTERING: Standing = Blocked { queued: false };
    const WAITS: Standing = Asleep(WaitsOnly);
    const LISTENS: Standing = Asleep(Messages);

    #[test]
    fn agents_are_dismissed_when_none_can_go_on_the_youngest_that_waits_first() {
        for (agents, judged) in [
            // A running agent could notify everyone.
            (&[WAITS, Busy][..], Liveness::GoesOn),
            (&[Busy, QUEUED, QUEUED], Liveness::GoesOn),
            (&[ENTERING, Busy], Liveness::GoesOn),
            (&[], Liveness::GoesOn),
            // The main agent alone with its waits.
            (&[WAITS], Liveness::Dismiss(0)),
            // Waiting workers go before the main agent, and the youngest first.
            (&[WAITS, WAITS, WAITS], Liveness::Dismiss(2)),
            (&[LISTENS, WAITS, QUEUED], Liveness::Dismiss(1)),
            // A deadlock of all agents.
            (&[LISTENS, QUEUED, QUEUED], Liveness::Dismiss(0)),
            (&[QUEUED], Liveness::Dismiss(0)),
            (&[LISTENS, LISTENS], Liveness::Dismiss(0)),
            // No agent is dismissed while one enters or leaves the queue.
            (&[LISTENS, ENTERING], Liveness::AskAgain),
            (&[WAITS, QUEUED, ENTERING], Liveness::AskAgain),
        ] {
            assert_eq!(judge((0..).zip(agents.iter().copied())), judged, "{agents:?}");
        }
    }
}
