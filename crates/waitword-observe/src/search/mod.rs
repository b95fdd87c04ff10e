//! Conclusions from one snapshot, or from two.

mod cycles;
mod graph;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use crate::finding::{Finding, FirstWaiter, HolderEnded, LongWait, NeverPolled, NoKnownNotifier};
use crate::model::{
    Actor, Address, Ended, Holder, Lock, LockKind, Site, Snapshot, State, Waiter, is_notified,
};

/// A signalled waiter that has been queued for less is not a finding: its executor may be busy.
const NEVER_POLLED_AFTER: Duration = Duration::from_secs(1);

/// Shorter waits are not findings.
const LONG_WAIT: Duration = Duration::from_secs(1);

/// Cycles of threads, tasks and agents that are in both `earlier` and `later`.
///
/// Both snapshots are of one process, `earlier` taken before `later`. A cycle is made only of waits and holds that are in both, with the
/// same beginnings. So all of them existed at the same moment, and no cycle is put together from parts of different times. There are no
/// cycles if holders are not recorded, or if the clock did not run when the waits began.
///
/// Members of a cycle are waiters that wait for a turn without a deadline. Semaphores, condition variables and events are not followed:
/// permits and notifies may come from anywhere.
pub fn cycles(earlier: &Snapshot, later: &Snapshot) -> Vec<Finding> {
    let both = later.unchanged_since(earlier);
    cycles::find(&both).into_iter().map(Finding::Cycle).collect()
}

/// Whether `snapshot` seems to have a cycle, which only a second snapshot can confirm.
pub(crate) fn has_cycle(snapshot: &Snapshot) -> bool {
    !cycles::find(snapshot).is_empty()
}

/// Conclusions from the waiters of `snapshot` alone: signalled waiters that are not polled, and long waits.
pub fn waits(snapshot: &Snapshot) -> Vec<Finding> {
    let mut findings = Vec::new();
    let ended = holds_of_ended(snapshot);
    for lock in &snapshot.locks {
        let holds = ended.get(&lock.name.address).into_iter().flatten();
        // If the lock has been released on behalf of the actor, its word says so, and it has no waiters.
        let holds = holds.filter(|_| lock.waiting() > 0);
        findings.extend(holds.map(|(holder, ended)| holder_ended(lock, holder, ended)));
        findings.extend(never_polled(lock).map(Finding::NeverPolled));
        match lock.name.kind {
            LockKind::Word | LockKind::Condvar | LockKind::Event => {
                findings.extend(no_known_notifier(lock, snapshot).map(Finding::NoKnownNotifier));
            }
            _ => findings.extend(long_waits(lock).into_iter().map(Finding::LongWait)),
        }
    }
    findings
}

/// How many waiters a finding names.
const FIRST: usize = 4;

/// The holds of actors that have ended, by the lock.
fn holds_of_ended(snapshot: &Snapshot) -> HashMap<Address, Vec<(&Holder, &Ended)>> {
    let ended: HashMap<&Actor, &Ended> =
        snapshot.ended.iter().rev().map(|ended| (&ended.actor, ended)).collect();
    let mut holds = HashMap::<_, Vec<_>>::new();
    // As a rule nothing has ended, and the holders need not be searched.
    let holders = snapshot.holders.iter().flatten().take_while(|_| !ended.is_empty());
    for (holder, ended) in holders.filter_map(|holder| Some((holder, *ended.get(&holder.actor)?))) {
        holds.entry(holder.lock).or_default().push((holder, ended));
    }
    holds
}

/// An actor that has ended releases nothing.
fn holder_ended(lock: &Lock, holder: &Holder, ended: &Ended) -> Finding {
    let first = lock.all_waiters().take(FIRST);
    let first = first.map(|waiter| FirstWaiter { actor: waiter.actor.clone(), site: waiter.site.clone() });
    Finding::HolderEnded(HolderEnded {
        lock: lock.name.clone(),
        actor: holder.actor.clone(),
        site: holder.site.clone(),
        ended: ended.ago,
        waiters: lock.waiting(),
        first: first.collect(),
    })
}

/// Tasks that were signalled in `earlier` and have not run since: the lock was free for them in both snapshots. The watchdog does not check
/// a task that no waiter is queued behind. These are faults, which [`waits`] of one snapshot may report as facts.
pub(crate) fn unpolled(earlier: &Snapshot, later: &Snapshot) -> Vec<Finding> {
    let held = |snapshot: &Snapshot| -> HashSet<Address> {
        snapshot.holders.iter().flatten().map(|holder| holder.lock).collect()
    };
    let held = [held(earlier), held(later)];
    let both = later.unchanged_since(earlier);
    let wait = |wait: NeverPolled| ((wait.lock.address, wait.actor), wait.site);
    let same: HashSet<_> = both.locks.iter().flat_map(never_polled).map(wait).collect();
    let is_new = |found: &NeverPolled| {
        let address = found.lock.address;
        let is_free = both.holders.is_some() && !held.iter().any(|held| held.contains(&address));
        found.state != State::Skipped && is_free && same.contains(&wait(found.clone()))
    };
    let waits = later.locks.iter().flat_map(never_polled).filter(is_new);
    let not_run = later.taken.checked_sub(earlier.taken);
    waits.map(|wait| Finding::NeverPolled(NeverPolled { not_run, ..wait })).collect()
}

/// Whether the waiter was signalled and nobody has polled it. A thread in this state has not been scheduled.
fn is_unpolled(waiter: &Waiter) -> bool {
    waiter.state != State::Queued && !waiter.actor.blocks()
}

fn never_polled(lock: &Lock) -> impl Iterator<Item = NeverPolled> {
    lock.all_waiters().enumerate().filter(|(_, waiter)| is_unpolled(waiter)).filter_map(|(at, waiter)| {
        let age = waiter.age.filter(|age| *age >= NEVER_POLLED_AFTER)?;
        Some(NeverPolled {
            lock: lock.name.clone(),
            actor: waiter.actor.clone(),
            site: waiter.site.clone(),
            age,
            state: waiter.state,
            behind: lock.waiting() - at - 1,
            not_run: None,
        })
    })
}

/// Long waits by site, without the waiters that could have the lock.
fn long_waits(lock: &Lock) -> Vec<LongWait> {
    let mut sites: BTreeMap<Option<&Site>, (usize, Duration)> = BTreeMap::new();
    for waiter in lock.all_waiters().filter(|waiter| !is_unpolled(waiter)) {
        if let Some(age) = waiter.age.filter(|age| *age >= LONG_WAIT) {
            let (waiters, longest) = sites.entry(waiter.site.as_ref()).or_default();
            *waiters += 1;
            *longest = age.max(*longest);
        }
    }
    let long = |(site, (waiters, longest)): (Option<&Site>, _)| LongWait {
        lock: lock.name.clone(),
        site: site.cloned(),
        waiters,
        longest,
    };
    sites.into_iter().map(long).collect()
}

fn no_known_notifier(lock: &Lock, snapshot: &Snapshot) -> Option<NoKnownNotifier> {
    let longest = lock.waiters.iter().max_by_key(|waiter| waiter.age)?;
    let age = longest.age.filter(|age| *age >= LONG_WAIT)?;
    let recording = snapshot.recording.as_ref().filter(|recording| recording.lost_notifies == 0);
    let unnotified = recording.filter(|_| is_notified(lock.name.kind) && lock.notified.is_none());
    Some(NoKnownNotifier {
        lock: lock.name.clone(),
        waiters: lock.waiters.len(),
        longest: age,
        site: longest.site.clone(),
        notified: lock.notified.clone(),
        unnotified: unnotified.map(|recording| recording.since),
    })
}
