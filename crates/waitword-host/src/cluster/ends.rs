//! The end of a worker, as the other agents see it: what it held is free, its ports are closed, its parent hears of it.
//!
//! A worker's thread brings this about itself, as the last that it does. One that was terminated and has not ended within
//! [`GRACE`](crate::members::GRACE) is inside the engine, which does not ask there whether to go on, or gives back much memory: the others
//! go on without it. Then the watch brings its end about (`watch.rs`). The first of the two claims the end, and the thread that comes back
//! later reaches nobody any more.

use std::sync::Arc;

use super::Cluster;
use crate::agent_links::AgentLinks;
use crate::agent_name::ThreadId;
use crate::mailbox::{Arrival, Failed, WorkerEvent};
use crate::members::{Member, Overdue};

impl Cluster {
    /// Brings the end of a worker about, on its own thread, which has nothing else left to do.
    pub(crate) fn end_worker(
        self: &Arc<Self>,
        id: ThreadId,
        links: &AgentLinks,
        failure: Option<Failed>,
        exit_code: i32,
    ) {
        let claim = |member: &mut Member| !std::mem::replace(&mut member.is_ending, true);
        let is_claimed = self.lock().all.get_mut(&id).is_some_and(claim);
        if is_claimed {
            self.bring_end_about(id, links, failure, exit_code);
        } else {
            self.lock().adrift -= 1;
        }
    }

    /// The same while its thread has not come back. The caller has claimed the end.
    pub(super) fn end_without(self: &Arc<Self>, Overdue { id, links, handle }: &Overdue) {
        if let Some(handle) = handle {
            handle.abandon();
            if let Some(observer) = &self.observer {
                observer.leave(handle.id());
            }
        }
        // What Node reports for a worker that was terminated.
        self.bring_end_about(*id, links, None, 1);
    }

    /// When this returns, the cluster does not know the worker any more.
    fn bring_end_about(
        self: &Arc<Self>,
        id: ThreadId,
        links: &AgentLinks,
        failure: Option<Failed>,
        exit_code: i32,
    ) {
        // The agent that reads of its exit finds all this gone.
        links.close();
        self.named_locks.leave(id);
        if let Some(parent) = &links.parent {
            if let Some(failed) = failure {
                parent.post(Arrival::OfWorker(id, WorkerEvent::Failed(failed)));
            }
            // It counts no more among those that are alive: the agent that reads of its exit may start another in its place.
            if let Some(member) = self.lock().all.get_mut(&id) {
                member.is_retired = true;
            }
            // Posted before the agent leaves the cluster: otherwise its parent could be found to wait for nothing.
            parent.post(Arrival::OfWorker(id, WorkerEvent::Exited(exit_code)));
        }
        self.leave(id);
    }
}
