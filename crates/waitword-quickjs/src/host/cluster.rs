//! The agents of one program: who there is, who sleeps, and who is told to stop.
//!
//! Whether anything can still happen is a question about all agents at once. No agent pays for it: one that goes to sleep
//! as the last one awake only raises a doubt, and a thread that has nothing else to do looks into it.
//!
//! Lock order: the cluster's lock, then a bell's. Terminating an agent rings its bell and takes no other lock of ours.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use waitword_agents::AgentHandle;

use crate::doorbell::Doorbell;

use super::liveness::{Reason, Standing, Verdict, judge};
use super::rooms::Rooms;
use super::{AbandonedWait, EXIT_TIMED_OUT, MAIN, ThreadId};

/// How long a doubt waits for its answer: until agents have got into and out of queues. Only promptness depends on it.
const MOMENT: Duration = Duration::from_millis(1);

/// All agents of one program.
pub(super) struct Cluster {
    members: Mutex<Members>,
    left: Condvar,
    /// Told when a doubt is raised, and when the program is over.
    doubt: Condvar,
    /// Told when the program is over.
    over: Condvar,
    /// False when threads outside of the program may notify: then no wait is hopeless.
    is_closed: bool,
    rooms: Rooms,
}

#[derive(Default)]
struct Members {
    all: BTreeMap<ThreadId, Member>,
    enlisted: ThreadId,
    /// How many of them run.
    running: usize,
    /// Nobody runs, so perhaps nothing can happen any more.
    is_doubtful: bool,
    /// The thread that looks into doubts, once there was one.
    watch: Option<JoinHandle<()>>,
    is_over: bool,
    /// Set when the main agent was dismissed: the program ends although agents are left.
    standstill: Option<Standstill>,
    abandoned: Vec<AbandonedWait>,
    forced_exit: Option<i32>,
    is_timed_out: bool,
}

struct Member {
    bell: Arc<Doorbell>,
    /// `None` until the agent's thread has made its agent.
    handle: Option<AgentHandle>,
    doing: Doing,
    is_terminated: bool,
    is_dismissed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
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

/// Why an agent woke up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// It was called, or its deadline has come.
    Called,
    /// Nothing can happen any more: it need not go on.
    Dismissed,
}

impl Cluster {
    /// A program with its main agent. `is_closed`: nobody but its agents ever notifies.
    pub(super) fn new(main: Arc<Doorbell>, is_closed: bool) -> Arc<Self> {
        let (members, rooms) = (Mutex::default(), Rooms::default());
        let cluster = Self {
            members,
            left: Condvar::new(),
            doubt: Condvar::new(),
            over: Condvar::new(),
            is_closed,
            rooms,
        };
        cluster.enlist(main);
        Arc::new(cluster)
    }

    /// A number for a new agent. It counts as running from now on, so that nobody is found hopeless while its thread
    /// starts.
    pub(super) fn enlist(&self, bell: Arc<Doorbell>) -> ThreadId {
        let mut members = self.lock();
        let id = members.enlisted;
        members.enlisted += 1;
        members.running += 1;
        let doing = Doing::Running;
        members
            .all
            .insert(id, Member { bell, handle: None, doing, is_terminated: false, is_dismissed: false });
        id
    }

    /// The agent exists now and can be terminated; if someone already wanted that, it is.
    pub(super) fn attach(&self, id: ThreadId, handle: AgentHandle) {
        if let Some(member) = self.lock().all.get_mut(&id) {
            if member.is_terminated {
                handle.terminate();
            }
            member.handle = Some(handle);
        }
    }

    /// Where agents of this program meet by name.
    pub(super) fn rooms(&self) -> &Rooms {
        &self.rooms
    }

    /// Blocks this thread until its agent is called, `deadline` has come, or the agent is dismissed.
    pub(super) fn sleep(self: &Arc<Self>, id: ThreadId, deadline: Option<Instant>, reason: Reason) -> Woken {
        let mut members = self.lock();
        let Some(member) = members.all.get(&id) else { return Woken::Dismissed };
        let bell = Arc::clone(&member.bell);
        // A deadline that may not keep the agent alive (an `unref`ed timer) does not keep it from being dismissed either.
        if deadline.is_none() || reason == Reason::WaitsOnly {
            members.now(id, Doing::Sleeping(reason));
            self.consider(&mut members);
        }
        drop(members);
        bell.sleep(deadline);
        self.awake(id)
    }

    /// This agent is about to block in `Atomics.wait` without a timeout; [`awake`](Self::awake) ends it.
    pub(super) fn block(self: &Arc<Self>, id: ThreadId) {
        let mut members = self.lock();
        members.now(id, Doing::Blocked);
        self.consider(&mut members);
    }

    /// This agent runs again.
    pub(super) fn awake(&self, id: ThreadId) -> Woken {
        let mut members = self.lock();
        members.now(id, Doing::Running);
        let is_dismissed = members.all.get(&id).is_none_or(|member| member.is_dismissed);
        if is_dismissed { Woken::Dismissed } else { Woken::Called }
    }

    /// Tells an agent to stop, also out of a wait or a busy loop.
    pub(super) fn terminate(&self, id: ThreadId) {
        if let Some(member) = self.lock().all.get_mut(&id) {
            member.terminate();
        }
    }

    /// The agent is gone, and with it all its waits.
    pub(super) fn leave(self: &Arc<Self>, id: ThreadId) {
        let mut members = self.lock();
        members.now(id, Doing::Sleeping(Reason::Letters));
        members.all.remove(&id);
        self.consider(&mut members);
        drop(members);
        self.left.notify_all();
    }

    /// Terminates these agents and blocks until they are gone.
    pub(super) fn end(&self, doomed: impl Fn(ThreadId) -> bool) {
        let mut members = self.lock();
        for (_, member) in members.all.iter_mut().filter(|(id, _)| doomed(**id)) {
            member.terminate();
        }
        while members.all.keys().any(|id| doomed(*id)) {
            members = self.left.wait(members).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the whole program, on behalf of whichever agent, with this exit code.
    pub(super) fn end_program(&self, exit_code: i32) {
        self.lock().forced_exit = Some(exit_code);
        self.terminate(MAIN);
    }

    /// The exit code of [`end_program`](Self::end_program).
    pub(super) fn forced_exit(&self) -> Option<i32> {
        self.lock().forced_exit
    }

    /// Whether the program ends because nothing can happen any more.
    pub(super) fn standstill(&self) -> Option<Standstill> {
        self.lock().standstill
    }

    /// Blocks this thread until the program is over, and ends it when it is not over by then.
    pub(super) fn end_after(&self, timeout: Duration) {
        let left = self.over.wait_timeout_while(self.lock(), timeout, |members| !members.is_over);
        let (mut members, _) = left.unwrap_or_else(PoisonError::into_inner);
        if !members.is_over {
            members.is_timed_out = true;
            drop(members);
            self.end_program(EXIT_TIMED_OUT);
        }
    }

    /// Whether [`end_after`](Self::end_after) ended the program.
    pub(super) fn is_timed_out(&self) -> bool {
        self.lock().is_timed_out
    }

    /// Whether this agent should say which waits it leaves behind.
    pub(super) fn wants_report(&self, id: ThreadId) -> bool {
        let members = self.lock();
        members.standstill.is_some()
            || members.is_timed_out
            || members.all.get(&id).is_some_and(|member| member.is_dismissed)
    }

    pub(super) fn report(&self, waits: impl IntoIterator<Item = AbandonedWait>) {
        self.lock().abandoned.extend(waits);
    }

    pub(super) fn take_reports(&self) -> Vec<AbandonedWait> {
        let mut waits = std::mem::take(&mut self.lock().abandoned);
        waits.sort_by_key(|wait| wait.agent);
        waits
    }

    /// The last agent has left: ends the watch.
    pub(super) fn close(&self) {
        let watch = {
            let mut members = self.lock();
            members.is_over = true;
            members.watch.take()
        };
        self.doubt.notify_all();
        self.over.notify_all();
        // It cannot have panicked in a way that matters now.
        let _ = watch.map(JoinHandle::join);
    }

    /// Raises a doubt if nobody runs.
    fn consider(self: &Arc<Self>, members: &mut Members) {
        if !self.is_closed || members.running > 0 || members.is_doubtful || members.all.is_empty() {
            return;
        }
        if members.all.len() == 1 && members.act() != Verdict::AskAgain {
            return;
        }
        members.is_doubtful = true;
        self.doubt.notify_one();
        if members.watch.is_none() {
            let cluster = Arc::clone(self);
            let watch =
                thread::Builder::new().name("waitword liveness".into()).spawn(move || cluster.watch());
            // Without a thread the program may hang where it could have said so; it does nothing wrong.
            members.watch = watch.ok();
        }
    }

    /// Looks into each doubt until the answer is certain.
    fn watch(&self) {
        let mut members = self.lock();
        while !members.is_over {
            if !members.is_doubtful {
                members = self.doubt.wait(members).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let moment = self.doubt.wait_timeout_while(members, MOMENT, |members| !members.is_over);
            (members, _) = moment.unwrap_or_else(PoisonError::into_inner);
            members.is_doubtful = members.act() == Verdict::AskAgain;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Members {
    fn now(&mut self, id: ThreadId, doing: Doing) {
        if let Some(member) = self.all.get_mut(&id) {
            self.running -= usize::from(member.doing == Doing::Running);
            self.running += usize::from(doing == Doing::Running);
            member.doing = doing;
        }
    }

    /// Asks whether anything can still happen, and acts on the answer.
    fn act(&mut self) -> Verdict {
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

    fn terminate(&mut self) {
        self.is_terminated = true;
        match &self.handle {
            Some(handle) => handle.terminate(),
            None => self.bell.ring(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleepers_are_dismissed_youngest_first_and_the_main_agent_last() {
        let cluster = Cluster::new(Arc::default(), true);
        let workers = [(); 2].map(|()| cluster.enlist(Arc::default()));
        let (sender, dismissed) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            for id in workers {
                let (cluster, sender) = (&cluster, sender.clone());
                scope.spawn(move || {
                    assert_eq!(cluster.sleep(id, None, Reason::WaitsOnly), Woken::Dismissed);
                    sender.send(id).unwrap();
                    cluster.leave(id);
                });
            }
            assert_eq!(cluster.sleep(MAIN, None, Reason::Letters), Woken::Dismissed);
        });
        assert_eq!(dismissed.try_iter().collect::<Vec<_>>(), [2, 1]);
        assert_eq!(cluster.standstill(), Some(Standstill { is_deadlock: false }));
        cluster.leave(MAIN);
        cluster.close();
    }

    #[test]
    fn a_rung_bell_keeps_its_sleeper() {
        let bells = [(); 2].map(|()| Arc::<Doorbell>::default());
        let cluster = Cluster::new(Arc::clone(&bells[0]), true);
        let worker = cluster.enlist(Arc::clone(&bells[1]));
        bells[1].ring();
        assert_eq!(cluster.sleep(worker, None, Reason::WaitsOnly), Woken::Called);
        cluster.leave(worker);
        bells[0].ring();
        assert_eq!(cluster.sleep(MAIN, None, Reason::WaitsOnly), Woken::Called);
        bells[0].clear();
        assert_eq!(cluster.sleep(MAIN, None, Reason::WaitsOnly), Woken::Dismissed);
    }

    #[test]
    fn nobody_is_dismissed_while_outsiders_may_notify() {
        let bell = Arc::<Doorbell>::default();
        let cluster = Cluster::new(Arc::clone(&bell), false);
        thread::scope(|scope| {
            let sleeper = scope.spawn(|| cluster.sleep(MAIN, None, Reason::WaitsOnly));
            bell.ring();
            assert_eq!(sleeper.join().unwrap(), Woken::Called);
        });
    }

    #[test]
    fn an_agent_is_terminated_although_it_was_not_there_yet() {
        let cluster = Cluster::new(Arc::default(), true);
        let id = cluster.enlist(Arc::default());
        cluster.terminate(id);
        let agent = waitword_agents::Agent::new(true, || {});
        cluster.attach(id, agent.handle());
        assert!(agent.is_terminated());
    }
}
