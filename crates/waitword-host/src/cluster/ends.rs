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
use crate::clone::SerializedMessage;
use crate::ended::Failure;
use crate::mailbox::{Arrival, WorkerEvent};
use crate::members::Overdue;

impl Cluster {
    /// Brings the end of a worker about, on its own thread, which has nothing else left to do.
    pub(crate) fn end_worker(
        self: &Arc<Self>,
        id: ThreadId,
        links: &AgentLinks,
        failure: Option<(Box<Failure>, Option<SerializedMessage>)>,
        exit_code: i32,
    ) {
        if self.claim_end(id) {
            self.bring_end_about(id, links, failure, exit_code);
        } else {
            self.lock().adrift -= 1;
        }
    }

    /// The same while its thread has not come back. The caller has claimed the end.
    pub(super) fn end_without(self: &Arc<Self>, Overdue { id, links, handle }: &Overdue) {
        if let Some(handle) = handle {
            handle.abandon();
            if let Some(observer) = self.observer() {
                observer.leave(handle.id());
            }
        }
        // What Node reports for a worker that was terminated.
        self.bring_end_about(*id, links, None, 1);
    }

    fn claim_end(&self, id: ThreadId) -> bool {
        self.lock().all.get_mut(&id).is_some_and(|member| !std::mem::replace(&mut member.is_ending, true))
    }

    /// When this returns, the cluster does not know the worker any more.
    fn bring_end_about(
        self: &Arc<Self>,
        id: ThreadId,
        links: &AgentLinks,
        failure: Option<(Box<Failure>, Option<SerializedMessage>)>,
        exit_code: i32,
    ) {
        // The agent that reads of its exit finds all this gone.
        links.close();
        self.named_locks().leave(id);
        if let Some(parent) = &links.parent {
            if let Some((failure, thrown)) = failure {
                parent.post(Arrival::OfWorker(id, WorkerEvent::Failed(failure, thrown)));
            }
            self.retire(id);
            // Posted before the agent leaves the cluster: otherwise its parent could be found to wait for nothing.
            parent.post(Arrival::OfWorker(id, WorkerEvent::Exited(exit_code)));
        }
        self.leave(id);
    }

    /// It counts no more among those that are alive: the agent that reads of its exit may start another in its place.
    fn retire(&self, id: ThreadId) {
        if let Some(member) = self.lock().all.get_mut(&id) {
            member.is_retired = true;
        }
    }
}
