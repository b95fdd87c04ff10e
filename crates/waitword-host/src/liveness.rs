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

    fn judged(agents: &[Standing]) -> Liveness {
        judge((0..).zip(agents.iter().copied()))
    }

    #[test]
    fn a_running_agent_could_notify_everyone() {
        assert_eq!(judged(&[Asleep(WaitsOnly), Busy]), Liveness::GoesOn);
        assert_eq!(judged(&[Busy, QUEUED, QUEUED]), Liveness::GoesOn);
        assert_eq!(judged(&[ENTERING, Busy]), Liveness::GoesOn);
        assert_eq!(judged(&[]), Liveness::GoesOn);
    }

    #[test]
    fn the_main_agent_alone_with_its_waits_ends() {
        assert_eq!(judged(&[Asleep(WaitsOnly)]), Liveness::Dismiss(0));
    }

    #[test]
    fn waiting_workers_go_before_the_main_agent_and_the_youngest_first() {
        assert_eq!(judged(&[Asleep(WaitsOnly), Asleep(WaitsOnly), Asleep(WaitsOnly)]), Liveness::Dismiss(2));
        assert_eq!(judged(&[Asleep(Messages), Asleep(WaitsOnly), QUEUED]), Liveness::Dismiss(1));
    }

    #[test]
    fn deadlock_of_all_agents_ends_the_program() {
        assert_eq!(judged(&[Asleep(Messages), QUEUED, QUEUED]), Liveness::Dismiss(0));
        assert_eq!(judged(&[QUEUED]), Liveness::Dismiss(0));
        assert_eq!(judged(&[Asleep(Messages), Asleep(Messages)]), Liveness::Dismiss(0));
    }

    #[test]
    fn nobody_is_sentenced_while_one_enters_or_leaves_the_queue() {
        assert_eq!(judged(&[Asleep(Messages), ENTERING]), Liveness::AskAgain);
        assert_eq!(judged(&[Asleep(WaitsOnly), QUEUED, ENTERING]), Liveness::AskAgain);
    }
}
