//! Findings from one snapshot, or from two.

mod cycles;
mod graph;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::finding::{
    Finding, FirstWaiter, HolderEnded, HolderWaits, LongWait, NeverPolled, NoKnownNotifier,
};
use crate::model::{
    Actor, Address, Ended, Holder, Lock, LockKind, Site, Snapshot, State, Waiter, is_notified,
};

/// A signalled waiter that has been queued for less is not a finding: its executor may be busy.
const NEVER_POLLED_AFTER: Duration = Duration::from_secs(1);

/// A finding that is no fault, and may end by itself, is printed when it has lasted for this long.
pub(crate) const LASTING: Duration = Duration::from_secs(10);

/// Shorter waits are not findings.
const LONG_WAIT: Duration = Duration::from_secs(1);

/// Returns the cycles of threads, tasks and agents that are in both `earlier` and `later`.
///
/// Both snapshots are of one process, `earlier` taken before `later`. A cycle is made only of waits and holds that are in both, with the
/// same beginnings. So all of them existed at the same moment, and no cycle is put together from parts of different times. No cycle is found
/// if holders are not recorded, or if the clock did not run when the waits began.
///
/// Members of a cycle are queued for a lock that only its holders can release. A waiter with a deadline is a member once its wait is a
/// second old: the cycle may end by itself, but not soon. Semaphores, condition variables and events are not followed, because permits and
/// notifies may come from any thread or task.
pub fn cycles(earlier: &Snapshot, later: &Snapshot) -> Vec<Finding> {
    let both = later.unchanged_since(earlier);
    cycles::find(&both).into_iter().map(Finding::Cycle).collect()
}

/// Returns `true` if `snapshot` seems to have a cycle, which only a second snapshot can confirm.
pub(crate) fn has_cycle(snapshot: &Snapshot) -> bool {
    !cycles::find(snapshot).is_empty()
}

/// Returns the findings that need only one snapshot: signalled waiters that are not polled, long waits, holders that have ended, and holders
/// that wait for a notify.
pub fn waits(snapshot: &Snapshot) -> Vec<Finding> {
    let mut findings = Vec::new();
    let ended = holds_of_ended(snapshot);
    for lock in &snapshot.locks {
        let holds = ended.get(&lock.name.address).into_iter().flatten();
        // If the lock has been released on behalf of the actor, its word says so, and it has no waiters.
        let holds = holds.filter(|(holder, ended)| match holder.actor {
            Actor::Thread { .. } => is_left(lock, holder, ended, snapshot),
            _ => lock.waiting() > 0,
        });
        findings.extend(holds.map(|(holder, ended)| holder_ended(lock, holder, ended)));
        findings.extend(never_polled(lock).map(Finding::NeverPolled));
        match lock.name.kind {
            LockKind::Word | LockKind::Condvar | LockKind::Event => {
                findings.extend(no_known_notifier(lock, snapshot).map(Finding::NoKnownNotifier));
            }
            _ => findings.extend(long_waits(lock).into_iter().map(Finding::LongWait)),
        }
    }
    findings.extend(holders_that_wait(snapshot).into_iter().map(Finding::HolderWaits));
    findings
}

/// How many waiters a finding names.
const FIRST: usize = 4;

/// The holds of actors that have ended, by lock.
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

/// Returns `true` if a thread that has ended seems to have left its lock held: a waiter has waited for a second, and no other holder is known
/// that excludes it. An owned guard, or one whose line sent guards before, may be with another thread.
fn is_left(lock: &Lock, holder: &Holder, ended: &Ended, snapshot: &Snapshot) -> bool {
    let has_ended = |holder: &Holder| snapshot.ended.iter().any(|ended| ended.actor == holder.actor);
    let waits = |waiter: &&Waiter| {
        let is_long = waiter.age.is_some_and(|age| age >= LONG_WAIT);
        waiter.state == State::Queued && is_long && holder.mode.excludes(waiter.wants)
    };
    let is_kept_out = |waiter: &Waiter| {
        let mut holders = snapshot.holders_of(lock.name.address);
        holders.all(|holder| has_ended(holder) || !holder.mode.excludes(waiter.wants))
    };
    ended.ago >= LONG_WAIT && !holder.sent_away && lock.all_waiters().find(waits).is_some_and(is_kept_out)
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

/// Returns `true` if the waiter is a task or an agent that was signalled and has not run. A signalled thread has only not been scheduled.
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
            not_run: waiter.signalled,
        })
    })
}

/// Long waits by site, without the waiters to which the lock was offered.
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

/// Holders that have waited for a notify for [`LASTING`], while others have waited for their lock for as long.
fn holders_that_wait(snapshot: &Snapshot) -> Vec<HolderWaits> {
    let is_old = |age: Option<Duration>| age.filter(|age| *age >= LASTING);
    let notified = snapshot.locks.iter().filter(|lock| is_notified(lock.name.kind));
    let waits = notified.flat_map(|lock| lock.waiters.iter().map(move |waiter| (lock, waiter)));
    let waits: HashMap<&Actor, _> = waits
        .filter_map(|(lock, waiter)| Some((&waiter.actor, (lock, waiter, is_old(waiter.age)?))))
        .collect();
    // As a rule there is none, and the holders need not be searched.
    let holders = snapshot.holders.iter().flatten().take_while(|_| !waits.is_empty());
    let holds = holders.filter(|holder| !holder.sent_away).filter_map(|holder| {
        let (notified, waiter, age) = *waits.get(&holder.actor)?;
        // What it has acquired since then may be the mutex of the condition variable.
        holder.held.filter(|held| *held >= age)?;
        let lock = snapshot.locks.iter().find(|lock| lock.name.address == holder.lock)?;
        let kept_out = lock.all_waiters().filter(|waiter| holder.mode.excludes(waiter.wants));
        let longest = kept_out.clone().max_by_key(|waiter| waiter.age)?;
        Some(HolderWaits {
            lock: lock.name.clone(),
            actor: holder.actor.clone(),
            taken: holder.site.clone(),
            waits: notified.name.clone(),
            site: waiter.site.clone(),
            age,
            waiters: kept_out.count(),
            longest: is_old(longest.age)?,
            longest_at: longest.site.clone(),
        })
    });
    holds.collect()
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
