//! The end of an agent: its exit code, and the report of its failure.

use std::sync::Arc;

use crate::agent_name::{MAIN, ThreadId};
use crate::cluster::Cluster;
use crate::ended::{EXIT_UNSETTLED_AWAIT, Ended, Failure};
use crate::event_loop::Stop;
use crate::mailbox::Failed;

/// How an agent ended.
pub(crate) struct Exit {
    pub(crate) exit_code: i32,
    pub(crate) is_awaiting: bool,
    pub(crate) failure: Option<Failed>,
}

impl Exit {
    /// Converts the end of the main agent into that of the program. Every agent has ended its own workers, so all have ended.
    pub(crate) fn end(self, cluster: &Arc<Cluster>) -> Ended {
        cluster.leave(MAIN);
        cluster.close();
        let mut members = cluster.lock();
        let mut abandoned = std::mem::take(&mut members.abandoned);
        abandoned.sort_by_key(|wait| wait.agent);
        let is_deadlock = members.standstill.is_some_and(|standstill| standstill.is_deadlock);
        Ended {
            exit_code: match self.exit_code {
                0 if is_deadlock => 1,
                code => members.forced_exit.unwrap_or(code),
            },
            failure: self.failure.map(|(failure, _)| *failure),
            abandoned,
            is_standstill: members.standstill.is_some(),
            is_timed_out: members.is_timed_out,
            alive: std::mem::take(&mut members.alive),
            is_awaiting: self.is_awaiting,
        }
    }

    /// `failure_code`: the exit code if it failed.
    pub(crate) fn of(stop: Stop, failure_code: i32) -> Self {
        match stop {
            Stop::Done { exit_code: 0, is_awaiting: true } => {
                Self { is_awaiting: true, ..Self::with(EXIT_UNSETTLED_AWAIT) }
            }
            Stop::Done { exit_code, is_awaiting } => Self { is_awaiting, ..Self::with(exit_code) },
            Stop::Exit(exit_code) => Self::with(exit_code),
            // What Node reports for a worker that was terminated.
            Stop::Terminated => Self::with(1),
            Stop::Failed(failure, thrown) => {
                Self { failure: Some((failure, thrown)), ..Self::with(failure_code) }
            }
        }
    }

    pub(crate) fn internal(id: ThreadId, message: String) -> Self {
        Self { failure: Some((Box::new(Failure::internal(id, message)), None)), ..Self::with(1) }
    }

    fn with(exit_code: i32) -> Self {
        Self { exit_code, is_awaiting: false, failure: None }
    }
}
