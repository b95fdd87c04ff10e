//! The cluster's record of its agents, and the dismissal of agents that nothing can wake any more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use waitword_agents::AgentHandle;
use waitword_quickjs::Doorbell;

use crate::agent_links::AgentLinks;
use crate::agent_name::{AgentName, MAIN, ThreadId};
use crate::ended::{AbandonedWait, Activity, AliveAgent};
use crate::liveness::{Liveness, Reason, Standing, judge};
use crate::observer::Observer;

/// How long a terminated agent may take to end before the others continue without it.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// The agents of a program, and the state of the program's end. Guarded by the cluster's lock.
#[derive(Default)]
pub(crate) struct Members {
    pub(crate) all: BTreeMap<ThreadId, Member>,
    pub(crate) enlisted: ThreadId,
    /// How many of them run.
    pub(crate) running: usize,
    /// How many threads of workers, without which the others have continued, have not returned.
    pub(crate) adrift: usize,
    /// Whether there is a doubt: no agent runs, so perhaps nothing can happen any more.
    pub(crate) is_doubtful: bool,
    /// The thread that checks doubts, started at the first.
    pub(crate) watch: Option<JoinHandle<()>>,
    pub(crate) is_over: bool,
    /// Set when the main agent was dismissed: the program ends although agents are alive.
    pub(crate) standstill: Option<Standstill>,
    pub(crate) abandoned: Vec<AbandonedWait>,
    /// The agents that were alive at the timeout.
    pub(crate) alive: Vec<AliveAgent>,
    pub(crate) forced_exit: Option<i32>,
    pub(crate) is_timed_out: bool,
    /// Called before an agent is dismissed or the program is ended.
    pub(crate) observer: Option<Observer>,
}

/// The record of an agent.
#[derive(Default)]
pub(crate) struct Member {
    pub(crate) bell: Arc<Doorbell>,
    /// The agent that created it, and the links to close at its end; `None` for the main agent.
    pub(crate) worker: Option<(ThreadId, Arc<AgentLinks>)>,
    /// The time by which it has to end; `None` if it was not terminated.
    pub(crate) grace_ends: Option<Instant>,
    /// Whether a thread performs its end.
    pub(crate) is_ending: bool,
    /// `None` until the agent's thread has created its agent.
    pub(crate) handle: Option<AgentHandle>,
    pub(crate) doing: Doing,
    pub(crate) is_terminated: bool,
    pub(crate) is_dismissed: bool,
    /// Whether it no longer counts as alive: only the end of its thread is left.
    pub(crate) is_retired: bool,
}

/// What an agent's thread is doing.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It runs, or is blocked until a deadline.
    #[default]
    Running,
    /// It sleeps until a deadline that keeps its agent alive.
    Pausing,
    Sleeping(Reason),
    Blocked,
}

impl Doing {
    /// Whether it will run without being rung.
    fn goes_on(self) -> bool {
        matches!(self, Self::Running | Self::Pausing)
    }
}

/// How a program came to a standstill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standstill {
    /// Whether an agent is blocked forever: the program hangs, and does not only wait in vain.
    pub(crate) is_deadlock: bool,
}

impl Members {
    pub(crate) fn now(&mut self, id: ThreadId, doing: Doing) {
        if let Some(member) = self.all.get_mut(&id) {
            self.running -= usize::from(member.doing.goes_on());
            self.running += usize::from(doing.goes_on());
            member.doing = doing;
        }
    }

    pub(crate) fn now_alive(&self) -> Vec<AliveAgent> {
        let alive = self.all.iter().filter(|(_, member)| !member.is_retired);
        let seen = alive.map(|(id, member)| {
            let is_queued = || member.handle.as_ref().is_some_and(AgentHandle::is_queued);
            let activity = match member.doing {
                Doing::Pausing | Doing::Sleeping(_) => Activity::Sleeping,
                Doing::Blocked => Activity::Blocked,
                Doing::Running if is_queued() => Activity::Blocked,
                Doing::Running => Activity::Running,
            };
            AliveAgent { agent: AgentName(*id), activity }
        });
        seen.collect()
    }

    /// Decides whether anything can still happen, and acts on the answer.
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

impl Members {
    /// Terminates an agent and the workers below it. (If it ends by itself, it terminates them itself.)
    pub(crate) fn terminate(&mut self, id: ThreadId) {
        let mut ended = BTreeSet::from([id]);
        // Workers have higher numbers than the agents that made them.
        for (&id, member) in self.all.range_mut(id..) {
            let parent = member.worker.as_ref().map(|(parent, _)| *parent);
            if ended.contains(&id) || parent.is_some_and(|parent| ended.contains(&parent)) {
                ended.insert(id);
                member.terminate();
                // The program ends with the main agent, so no agent continues without it.
                member.grace_ends = member.grace_ends.or((id != MAIN).then(|| Instant::now() + GRACE));
            }
        }
    }

    /// Claims the ends of the workers whose grace is over at this time, and that have no workers of their own any more. So workers end before
    /// the agents that created them.
    pub(crate) fn claim_overdue(&mut self, now: Instant) -> Vec<Overdue> {
        let parents: Vec<_> = self
            .all
            .values()
            .filter_map(|member| member.worker.as_ref())
            .map(|(parent, _)| *parent)
            .collect();
        let mut overdue = Vec::new();
        for (&id, member) in self.all.iter_mut().rev() {
            let is_overdue = member.grace_ends.is_some_and(|ends| ends <= now) && !member.is_ending;
            if let (true, false, Some((_, links))) = (is_overdue, parents.contains(&id), &member.worker) {
                member.is_ending = true;
                self.adrift += 1;
                overdue.push(Overdue { id, links: Arc::clone(links), handle: member.handle.clone() });
            }
        }
        overdue
    }

    /// The end of the next grace after this time. A worker whose grace was over before waits for the workers below it.
    pub(crate) fn next_overdue(&self, now: Instant) -> Option<Instant> {
        self.all.values().filter_map(|member| member.grace_ends).filter(|ends| *ends > now).min()
    }
}

/// A worker whose end is to be performed by another thread.
pub(crate) struct Overdue {
    pub(crate) id: ThreadId,
    pub(crate) links: Arc<AgentLinks>,
    pub(crate) handle: Option<AgentHandle>,
}

impl Member {
    fn standing(&self) -> Standing {
        if self.is_terminated || self.is_dismissed {
            return Standing::Busy;
        }
        match self.doing {
            Doing::Running | Doing::Pausing => Standing::Busy,
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
