//! The watch: a thread that decides whether anything can still happen in a program, and whether a terminated agent has ended in time.

use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::Cluster;
use crate::liveness::Liveness;
use crate::members::Members;

/// The time before a doubt is checked, so that agents can finish entering or leaving queues. Only promptness depends on it.
const MOMENT: Duration = Duration::from_millis(1);

impl Cluster {
    /// Ends the watch, after the last agent has left.
    pub(crate) fn close(&self) {
        let watch = {
            let mut members = self.lock();
            members.is_over = true;
            members.watch.take()
        };
        self.doubt.notify_all();
        self.over.notify_all();
        // Ignored: a panic of the watch does not matter any more.
        let _ = watch.map(JoinHandle::join);
    }

    /// Raises a doubt if no agent runs.
    pub(super) fn consider(self: &Arc<Self>, members: &mut Members) {
        if !self.is_closed || members.running > 0 || members.is_doubtful || members.all.is_empty() {
            return;
        }
        if members.all.len() == 1 && members.act() != Liveness::AskAgain {
            return;
        }
        members.is_doubtful = true;
        self.keep_watch(members);
    }

    /// Makes the watch check again.
    pub(super) fn keep_watch(self: &Arc<Self>, members: &mut Members) {
        self.doubt.notify_one();
        if members.watch.is_none() {
            let cluster = Arc::clone(self);
            let watch =
                thread::Builder::new().name("waitword liveness".into()).spawn(move || cluster.watch());
            // Without this thread the program may hang where it could have ended or continued. It does nothing wrong.
            members.watch = watch.ok();
        }
    }

    /// Checks each doubt until the answer is certain, and performs the ends of overdue workers.
    fn watch(self: &Arc<Self>) {
        let mut members = self.lock();
        while !members.is_over {
            let now = Instant::now();
            let overdue = members.claim_overdue(now);
            if !overdue.is_empty() {
                drop(members);
                overdue.iter().for_each(|overdue| self.end_without(overdue));
                members = self.lock();
            } else if members.is_doubtful {
                let moment = self.doubt.wait_timeout_while(members, MOMENT, |members| !members.is_over);
                (members, _) = moment.unwrap_or_else(PoisonError::into_inner);
                members.is_doubtful = members.act() == Liveness::AskAgain;
            } else if let Some(ends) = members.next_overdue(now) {
                let grace = self.doubt.wait_timeout(members, ends.saturating_duration_since(Instant::now()));
                (members, _) = grace.unwrap_or_else(PoisonError::into_inner);
            } else {
                members = self.doubt.wait(members).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}
