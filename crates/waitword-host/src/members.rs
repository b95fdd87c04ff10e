//! What the cluster knows of its agents, and what it does with one that nothing can wake any more.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;

use waitword_agents::AgentHandle;

use waitword_quickjs::Doorbell;

use crate::agent_name::{MAIN, ThreadId};
use crate::ended::AbandonedWait;
use crate::liveness::{Liveness, Reason, Standing, judge};
use crate::observer::Observer;

/// The agents of a program, and what is known of its end. The cluster's lock is around it.
#[derive(Default)]
pub(crate) struct Members {
    pub(crate) all: BTreeMap<ThreadId, Member>,
    pub(crate) enlisted: ThreadId,
    /// How many of them run.
    pub(crate) running: usize,
    /// Nobody runs, so perhaps nothing can happen any more.
    pub(crate) is_doubtful: bool,
    /// The thread that checks doubts, once there was one.
    pub(crate) watch: Option<JoinHandle<()>>,
    pub(crate) is_over: bool,
    /// Set when the main agent was dismissed: the program ends although agents are left.
    pub(crate) standstill: Option<Standstill>,
    pub(crate) abandoned: Vec<AbandonedWait>,
    pub(crate) forced_exit: Option<i32>,
    pub(crate) is_timed_out: bool,
    /// Looks at the program before it is changed for good.
    pub(crate) observer: Option<Observer>,
}

/// An agent, seen by the others.
pub(crate) struct Member {
    pub(crate) bell: Arc<Doorbell>,
    /// `None` until the agent's thread has made its agent.
    pub(crate) handle: Option<AgentHandle>,
    pub(crate) doing: Doing,
    pub(crate) is_terminated: bool,
    pub(crate) is_dismissed: bool,
    /// It counts no more among those that are alive: nothing is left but the end of its thread.
    pub(crate) is_retired: bool,
}

/// What its thread does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Running,
    Sleeping(Reason),
    Blocked,
}

/// How a program came to a standstill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standstill {
    /// An agent is blocked for ever: the program hangs, it does not merely wait in vain.
    pub(crate) is_deadlock: bool,
}

impl Members {
    pub(crate) fn now(&mut self, id: ThreadId, doing: Doing) {
        if let Some(member) = self.all.get_mut(&id) {
            self.running -= usize::from(member.doing == Doing::Running);
            self.running += usize::from(doing == Doing::Running);
            member.doing = doing;
        }
    }

    /// Asks whether anything can still happen, and acts on the answer.
    pub(crate) fn act(&mut self) -> Liveness {
        if self.standstill.is_some() {
            return Liveness::GoesOn;
        }
        let liveness = judge(self.all.iter().map(|(id, member)| (*id, member.standing())));
        if let Liveness::Dismiss(id) = liveness {
            self.observer.iter().for_each(Observer::hangs);
            self.dismiss(id);
        }
        liveness
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

    pub(crate) fn terminate(&mut self) {
        self.is_terminated = true;
        match &self.handle {
            Some(handle) => handle.terminate(),
            None => self.bell.ring(),
        }
    }
}
