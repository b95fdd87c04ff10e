//! The names of threads: where several threads of a text have one name, each is shown with its number.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;
use crate::model::{Actor, Lock, Snapshot};

/// The names that several threads have.
pub(crate) struct Who<'a>(BTreeSet<&'a str>);

impl<'a> Who<'a> {
    fn among(actors: impl Iterator<Item = &'a Actor>) -> Self {
        let mut first = BTreeMap::new();
        let mut shared = BTreeSet::new();
        for actor in actors {
            if let Actor::Thread { id, name: Some(name) } = actor
                && first.entry(name.as_str()).or_insert(id) != &id
            {
                shared.insert(name.as_str());
            }
        }
        Self(shared)
    }

    pub(super) fn in_finding(finding: &'a Finding) -> Self {
        Self::among(of_finding(finding).into_iter())
    }

    pub(crate) fn in_snapshot(snapshot: &'a Snapshot, findings: &'a [Finding]) -> Self {
        let of_lock = |lock: &'a Lock| {
            let deeds = lock.changed.iter().chain(&lock.notified);
            lock.all_waiters().map(|waiter| &waiter.actor).chain(deeds.map(|deed| &deed.actor))
        };
        let holders = snapshot.holders.iter().flatten().map(|holder| &holder.actor);
        let waiters = snapshot.locks.iter().flat_map(of_lock);
        Self::among(waiters.chain(holders).chain(findings.iter().flat_map(of_finding)))
    }

    /// `thread "worker" 7`, if another thread has this name; otherwise as the actor prints.
    pub(super) fn is(&self, actor: &Actor) -> String {
        match actor {
            Actor::Thread { id, name: Some(name) } if self.0.contains(name.as_str()) => {
                format!("{actor} {id}")
            }
            _ => actor.to_string(),
        }
    }
}

fn of_finding(finding: &Finding) -> Vec<&Actor> {
    match finding {
        Finding::Cycle(cycle) => cycle.members.iter().map(|member| &member.actor).collect(),
        Finding::PotentialDeadlock(order) => order.members.iter().map(|member| &member.actor).collect(),
        Finding::HolderEnded(held) => {
            let first = held.first.iter().map(|waiter| &waiter.actor);
            first.chain([&held.actor]).collect()
        }
        Finding::NeverPolled(wait) => vec![&wait.actor],
        Finding::LongWait(_) => Vec::new(),
        Finding::NoKnownNotifier(waits) => waits.notified.iter().map(|deed| &deed.actor).collect(),
        Finding::HolderWaits(waits) => vec![&waits.actor],
    }
}
