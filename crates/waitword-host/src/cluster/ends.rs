//! The end of a worker, as the other agents see it: its locks are released, its ports are closed, and its parent gets `exit`.
//!
//! Usually the worker's own thread performs this, as its last step. A worker that was terminated and has not ended within
//! [`GRACE`](crate::members::GRACE) is inside an operation of the engine that cannot be interrupted, or is freeing much memory. The others
//! continue without it, and the watch performs its end (`watch.rs`). The first of the two claims the end. A thread that returns later cannot
//! reach other agents any more.

use std::sync::Arc;

use super::Cluster;
use crate::agent_links::AgentLinks;
use crate::agent_name::ThreadId;
use crate::mailbox::{Arrival, Failed, WorkerEvent};
use crate::members::{Member, Overdue};

impl Cluster {
    /// Performs the end of a worker, on its own thread, which has nothing else left to do.
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

    /// Performs the end of a worker whose thread has not returned. The caller has claimed the end.
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

    /// When this returns, the worker is not in the cluster any more.
    fn bring_end_about(
        self: &Arc<Self>,
        id: ThreadId,
        links: &AgentLinks,
        failure: Option<Failed>,
        exit_code: i32,
    ) {
        // Before the exit event, so that an agent that gets it finds all this closed.
        links.close();
        self.named_locks.leave(id);
        if let Some(parent) = &links.parent {
            if let Some(failed) = failure {
                parent.post(Arrival::OfWorker(id, WorkerEvent::Failed(failed)));
            }
            // It does not count as alive any more, so that an agent that gets the exit event may start another in its place.
            if let Some(member) = self.lock().all.get_mut(&id) {
                member.is_retired = true;
            }
            // Posted before the agent leaves the cluster, because otherwise its parent could be found to wait for nothing.
            parent.post(Arrival::OfWorker(id, WorkerEvent::Exited(exit_code)));
        }
        self.leave(id);
    }
}
