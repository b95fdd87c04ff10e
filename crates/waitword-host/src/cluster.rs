//! The agents of a program: which exist, which sleep, and which have to stop.
//!
//! Whether anything can still happen depends on all agents. No agent computes it: the last one that falls asleep only raises a doubt, which
//! a separate thread resolves (`watch.rs`).
//!
//! Lock order: the cluster's lock, then a bell's, or those that an observer takes. Terminating an agent rings its bell and takes no other lock
//! of ours.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use waitword_agents::AgentHandle;
use waitword_quickjs::Doorbell;

use crate::agent_links::AgentLinks;
use crate::agent_name::{MAIN, ThreadId};
use crate::broadcast_groups::BroadcastGroups;
use crate::ended::{AbandonedWait, EXIT_TIMED_OUT};
use crate::liveness::Reason;
use crate::members::{Doing, Member, Members};
use crate::named_locks::NamedLocks;
use crate::observer::Observer;

/// All agents of one program.
pub(crate) struct Cluster {
    members: Mutex<Members>,
    left: Condvar,
    /// Notified when a doubt is raised, and when the program is over.
    doubt: Condvar,
    /// Notified when the program is over.
    over: Condvar,
    /// False if threads outside the program may notify. Then no wait is hopeless.
    is_closed: bool,
    /// The BroadcastChannels of this program.
    pub(crate) groups: BroadcastGroups,
    /// The Web Locks of this program.
    pub(crate) named_locks: NamedLocks,
    /// The observer of the program.
    pub(crate) observer: Option<Observer>,
}

/// Why an agent woke up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Its doorbell rang, or its deadline has come.
    Rung,
    /// Nothing can happen any more, and the agent is to end.
    Dismissed,
}

impl Cluster {
    /// A program with its main agent. `is_closed`: only its own agents notify.
    pub(crate) fn new(main: Arc<Doorbell>, is_closed: bool, observer: Option<Observer>) -> Arc<Self> {
        let members = Mutex::new(Members { observer: observer.clone(), ..Members::default() });
        let cluster = Self {
            members,
            left: Condvar::new(),
            doubt: Condvar::new(),
            over: Condvar::new(),
            is_closed,
            groups: BroadcastGroups::default(),
            named_locks: NamedLocks::default(),
            observer,
        };
        cluster.enlist(main);
        Arc::new(cluster)
    }

    /// Assigns a number to a new agent. The agent counts as running from now on, so that no other is found hopeless while its thread starts.
    pub(crate) fn enlist(&self, bell: Arc<Doorbell>) -> ThreadId {
        Self::admit(&mut self.lock(), bell, None)
    }

    /// Assigns a number to a new worker, as [`enlist`](Self::enlist) does. Returns `None` if the limit of live workers is reached, which
    /// includes threads of ended workers that have not returned.
    pub(crate) fn enlist_within(
        &self,
        most: usize,
        parent: ThreadId,
        bell: Arc<Doorbell>,
        links: Arc<AgentLinks>,
    ) -> Option<ThreadId> {
        let mut members = self.lock();
        let workers = members.all.range(MAIN + 1..).filter(|(_, member)| !member.is_retired).count();
        // A terminated parent may still run after the others continued without it. Its new worker would never be terminated.
        let has_parent = members.all.get(&parent).is_some_and(|parent| parent.grace_ends.is_none());
        let is_admitted = workers + members.adrift < most && has_parent;
        is_admitted.then(|| Self::admit(&mut members, bell, Some((parent, links))))
    }

    fn admit(
        members: &mut Members,
        bell: Arc<Doorbell>,
        worker: Option<(ThreadId, Arc<AgentLinks>)>,
    ) -> ThreadId {
        let id = members.enlisted;
        members.enlisted += 1;
        members.running += 1;
        members.all.insert(id, Member { bell, worker, ..Member::default() });
        id
    }

    /// Adds the handle of the agent, which can be terminated from now on. If it was to be terminated already, it is now.
    pub(crate) fn attach(&self, id: ThreadId, handle: AgentHandle) {
        match self.lock().all.get_mut(&id) {
            Some(member) => {
                if member.is_terminated {
                    handle.terminate();
                }
                member.handle = Some(handle);
            }
            // The others have continued without it.
            None => handle.abandon(),
        }
    }

    /// Blocks this thread until the agent's doorbell rings, `deadline` has come, or the agent is dismissed.
    pub(crate) fn sleep(self: &Arc<Self>, id: ThreadId, deadline: Option<Instant>, reason: Reason) -> Woken {
        let mut members = self.lock();
        let Some(member) = members.all.get(&id) else { return Woken::Dismissed };
        let bell = Arc::clone(&member.bell);
        // A deadline that does not keep the agent alive (of an `unref`ed timer) does not prevent its dismissal either.
        if deadline.is_none() || reason == Reason::WaitsOnly {
            members.now(id, Doing::Sleeping(reason));
            self.consider(&mut members);
        } else {
            members.now(id, Doing::Pausing);
        }
        drop(members);
        bell.sleep(deadline);
        self.awake(id)
    }

    /// Records that this agent is about to block in `Atomics.wait` without a timeout, until [`awake`](Self::awake).
    pub(crate) fn block(self: &Arc<Self>, id: ThreadId) {
        let mut members = self.lock();
        members.now(id, Doing::Blocked);
        self.consider(&mut members);
    }

    /// Records that this agent runs again.
    pub(crate) fn awake(&self, id: ThreadId) -> Woken {
        let mut members = self.lock();
        members.now(id, Doing::Running);
        let is_dismissed = members.all.get(&id).is_none_or(|member| member.is_dismissed);
        if is_dismissed { Woken::Dismissed } else { Woken::Rung }
    }

    /// Terminates an agent and the workers below it, even inside a wait or a busy loop. The others continue without a worker that does not
    /// end within [`GRACE`](crate::members::GRACE).
    pub(crate) fn terminate(self: &Arc<Self>, id: ThreadId) {
        let mut members = self.lock();
        members.terminate(id);
        self.keep_watch(&mut members);
    }

    /// Stops an agent that ends itself, without a limit of time.
    pub(crate) fn stop(&self, id: ThreadId) {
        if let Some(member) = self.lock().all.get_mut(&id) {
            member.terminate();
        }
    }

    /// Removes an agent that has ended, with all its waits.
    pub(crate) fn leave(self: &Arc<Self>, id: ThreadId) {
        let mut members = self.lock();
        members.now(id, Doing::Sleeping(Reason::Messages));
        members.all.remove(&id);
        self.consider(&mut members);
        drop(members);
        self.left.notify_all();
        // Its parent may be overdue, too.
        self.doubt.notify_one();
    }

    /// Terminates these agents, and blocks until they have ended or the others continue without them.
    pub(crate) fn end(self: &Arc<Self>, doomed: &[ThreadId]) {
        if doomed.is_empty() {
            return;
        }
        let mut members = self.lock();
        doomed.iter().for_each(|id| members.terminate(*id));
        self.keep_watch(&mut members);
        while doomed.iter().any(|id| members.all.contains_key(id)) {
            members = self.left.wait(members).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the whole program with this exit code, on behalf of any agent.
    pub(crate) fn end_program(&self, exit_code: i32) {
        self.lock().forced_exit = Some(exit_code);
        self.stop(MAIN);
    }

    /// Blocks this thread until the program has ended, or ends it after `timeout`.
    pub(crate) fn end_after(&self, timeout: Duration) {
        let left = self.over.wait_timeout_while(self.lock(), timeout, |members| !members.is_over);
        let (mut members, _) = left.unwrap_or_else(PoisonError::into_inner);
        if !members.is_over {
            members.is_timed_out = true;
            members.alive = members.now_alive();
            drop(members);
            if let Some(observer) = &self.observer {
                observer.hangs();
            }
            self.end_program(EXIT_TIMED_OUT);
        }
    }

    /// Whether this agent should report the waits that it abandons.
    pub(crate) fn wants_report(&self, id: ThreadId) -> bool {
        let members = self.lock();
        members.standstill.is_some()
            || members.is_timed_out
            || members.all.get(&id).is_some_and(|member| member.is_dismissed)
    }

    pub(crate) fn report(&self, waits: impl IntoIterator<Item = AbandonedWait>) {
        self.lock().abandoned.extend(waits);
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Members> {
        crate::lock::lock(&self.members)
    }
}

mod ends;
#[cfg(test)]
mod tests;
mod watch;
