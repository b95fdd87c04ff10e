//! Whether anything can still happen in a program, as one question about all its agents at once.
//!
//! An agent that runs can notify any other, and an agent with a deadline will run. So nothing can happen any more when
//! every agent either sleeps in its event loop without a deadline and without a message, or is blocked in `Atomics.wait`
//! without a timeout and really stands in the queue. The last half sentence is what makes the answer exact: an agent on
//! its way into the queue may still find its word changed, and one that was notified has left the queue before the
//! notifier could fall asleep.

use crate::agent_name::ThreadId;

/// What one agent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It runs, or will run: it has been called, it has a deadline, it is being terminated.
    Busy,
    /// It sleeps in its event loop until someone calls it.
    Asleep(Reason),
    /// It is inside `Atomics.wait` without a timeout.
    Blocked {
        /// It stands in the queue. If not, it is just about to enter or to leave it.
        queued: bool,
    },
}

/// What an agent that sleeps in its event loop goes on for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Only for `waitAsync` promises without a timeout.
    WaitsOnly,
    /// For a worker of its own, or for messages that it listens to.
    Messages,
}

/// What follows for the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Liveness {
    /// Something can still happen.
    GoesOn,
    /// It depends on an agent that is entering or leaving a queue this very moment.
    AskAgain,
    /// Nothing can happen, so this agent need not go on. Its end is an event for its parent, which may change things:
    /// that is why agents are dismissed one at a time, and the main agent, with whom the program ends, last.
    Dismiss(ThreadId),
}

/// Looks at all agents of a program, by ascending number.
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
            // Nobody is dismissed while one enters or leaves the queue.
            (&[LISTENS, ENTERING], Liveness::AskAgain),
            (&[WAITS, QUEUED, ENTERING], Liveness::AskAgain),
        ] {
            assert_eq!(judge((0..).zip(agents.iter().copied())), judged, "{agents:?}");
        }
    }
}
