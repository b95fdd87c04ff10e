//! What the cluster knows of its agents, and what it does with one that nothing can wake any more.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;

use waitword_agents::AgentHandle;

use crate::doorbell::Doorbell;

use super::liveness::{Reason, Standing, Verdict, judge};
use super::{AbandonedWait, MAIN, ThreadId};

/// The agents of a program, and what is known of its end. The cluster's lock is around it.
#[derive(Default)]
pub(super) struct Members {
    pub(super) all: BTreeMap<ThreadId, Member>,
    pub(super) enlisted: ThreadId,
    /// How many of them run.
    pub(super) running: usize,
    /// Nobody runs, so perhaps nothing can happen any more.
    pub(super) is_doubtful: bool,
    /// The thread that looks into doubts, once there was one.
    pub(super) watch: Option<JoinHandle<()>>,
    pub(super) is_over: bool,
    /// Set when the main agent was dismissed: the program ends although agents are left.
    pub(super) standstill: Option<Standstill>,
    pub(super) abandoned: Vec<AbandonedWait>,
    pub(super) forced_exit: Option<i32>,
    pub(super) is_timed_out: bool,
}

/// An agent, seen by the others.
pub(super) struct Member {
    pub(super) bell: Arc<Doorbell>,
    /// `None` until the agent's thread has made its agent.
    pub(super) handle: Option<AgentHandle>,
    pub(super) doing: Doing,
    pub(super) is_terminated: bool,
    pub(super) is_dismissed: bool,
    /// It counts no more among those that are alive: nothing is left but the end of its thread.
    pub(super) is_retired: bool,
}

/// What its thread does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Running,
    Sleeping(Reason),
    Blocked,
}

/// How a program came to a standstill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standstill {
    /// An agent is blocked for ever: the program hangs, it does not merely wait in vain.
    pub(super) is_deadlock: bool,
}

impl Members {
    pub(super) fn now(&mut self, id: ThreadId, doing: Doing) {
        if let Some(member) = self.all.get_mut(&id) {
            self.running -= usize::from(member.doing == Doing::Running);
            self.running += usize::from(doing == Doing::Running);
            member.doing = doing;
        }
    }

    /// Asks whether anything can still happen, and acts on the answer.
    pub(super) fn act(&mut self) -> Verdict {
        if self.standstill.is_some() {
            return Verdict::GoesOn;
        }
        let verdict = judge(self.all.iter().map(|(id, member)| (*id, member.standing())));
        if let Verdict::Dismiss(id) = verdict {
            self.dismiss(id);
        }
        verdict
    }

    fn dismiss(&mut self, id: ThreadId) {
        if id == MAIN {
            let is_blocked = |member: &Member| matches!(member.doing, Doing::Blocked);
            self.standstill = Some(Standstill { is_deadlock: self.all.values().any(is_blocked) });
        }
        if let Some(member) = self.all.get_mut(&id) {
            member.is_dismissed = true;
            match member.doing {
                Doing::Blocked => member.terminate(),
                _ => member.bell.ring(),
            }
        }
    }
}

impl Member {
    fn standing(&self) -> Standing {
        if self.is_terminated || self.is_dismissed {
            return Standing::Busy;
        }
        match self.doing {
            Doing::Running => Standing::Busy,
            Doing::Sleeping(_) if self.bell.is_rung() => Standing::Busy,
            Doing::Sleeping(reason) => Standing::Asleep(reason),
            Doing::Blocked => {
                Standing::Blocked { queued: self.handle.as_ref().is_some_and(AgentHandle::is_queued) }
            }
        }
    }

    pub(super) fn terminate(&mut self) {
        self.is_terminated = true;
        match &self.handle {
            Some(handle) => handle.terminate(),
            None => self.bell.ring(),
        }
    }
}
