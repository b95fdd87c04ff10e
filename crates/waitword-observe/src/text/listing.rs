//! The locks with their queues.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use super::who::Who;
use super::words::{counted, lock_with_address, put, short_duration, site, woken};
use crate::model::{Access, Deed, Holder, Lock, LockKind, Snapshot, State, Waiter};

/// The most locks that are listed,
const LOCKS: usize = 20;

/// the most waiters of each, from the head of its queue,
const WAITERS: usize = 10;

/// and the most holders, or sites of holders.
const HOLDERS: usize = 4;

/// The locks with the most waiters first.
pub(crate) fn listing(snapshot: &Snapshot, who: &Who<'_>) -> String {
    let mut locks: Vec<&Lock> = snapshot.locks.iter().collect();
    locks.sort_by_key(|lock| Reverse((lock.waiting(), longest(lock.all_waiters()))));
    let listed = &locks[..locks.len().min(LOCKS)];
    let mut text = String::new();
    for lock in listed {
        text += "\n";
        text += &of_lock(lock, snapshot, WAITERS, who);
    }
    if let Some(rest) = locks.get(LOCKS..).filter(|rest| !rest.is_empty()) {
        let waiters: usize = rest.iter().map(|lock| lock.waiting()).sum();
        let age = rest.iter().filter_map(|lock| longest(lock.all_waiters())).max();
        text += &format!("\n{}\n", more(rest.len(), "locks", &format!(" with {waiters} waiters"), age));
    }
    text
}

fn longest<'a>(waiters: impl Iterator<Item = &'a Waiter>) -> Option<Duration> {
    waiters.filter_map(|waiter| waiter.age).max()
}

/// `... and 12 more waiters, longest 1.2 s`
fn more(count: usize, what: &str, with: &str, longest: Option<Duration>) -> String {
    let longest = longest.map(|longest| format!(", longest {}", short_duration(longest))).unwrap_or_default();
    format!("... and {count} more {what}{with}{longest}")
}

/// An age, or "-" for an unknown one.
fn age(age: Option<Duration>) -> String {
    age.map_or("-".to_owned(), short_duration)
}

pub(super) fn of_lock(lock: &Lock, snapshot: &Snapshot, most: usize, who: &Who<'_>) -> String {
    let mut text = format!("{}: {}\n", lock_with_address(&lock.name), counted(lock.waiting(), "waiter"));
    let holders: Vec<&Holder> = snapshot.holders_of(lock.name.address).collect();
    let are_permits = lock.name.kind == LockKind::Semaphore;
    text += &if are_permits || holders.len() > HOLDERS {
        by_site(&holders, are_permits)
    } else {
        held(&holders, snapshot, who)
    };
    if let Some(recording) = &snapshot.recording
        && holders.is_empty()
        && is_held(lock)
    {
        let unrecorded = match recording.unrecorded {
            0 => String::new(),
            count => format!(", or one of {count} acquisitions not recorded"),
        };
        text += &format!("  holder unknown (taken before observation began{unrecorded})\n");
    }
    if holders.is_empty() {
        for (what, deed) in [("last changed", &lock.changed), ("last notified", &lock.notified)] {
            let Some(deed @ Deed { actor, ago, .. }) = deed else { continue };
            let [ago, at, woken] = [short_duration(*ago), site(deed.site.as_ref()), woken(deed)];
            let actor = who.is(actor);
            put(&mut text, &ago, &format!("{what} by {actor} at {at}{woken}"));
        }
    }
    let listed: Vec<&Waiter> = lock.all_waiters().take(most).collect();
    let names = listed.iter().map(|waiter| who.is(&waiter.actor).chars().count());
    let wide = names.max().unwrap_or(0);
    for Waiter { actor, age, site: at, wants, state, timed, .. } in listed {
        let [actor, age, at] = [who.is(actor), self::age(*age), site(at.as_ref())];
        let deadline = if *timed == Some(true) { ", with a deadline" } else { "" };
        let notes = [self::wants(lock, *wants), deadline, self::state(*state)].concat();
        put(&mut text, &age, &format!("{actor:wide$}  {at}{notes}"));
    }
    if let Some(rest @ 1..) = lock.waiting().checked_sub(most) {
        let longest = longest(lock.all_waiters().skip(most));
        put(&mut text, "", &more(rest, "waiters", "", longest));
    }
    text
}

/// Holders one by one, while they are few.
fn held(holders: &[&Holder], snapshot: &Snapshot, who: &Who<'_>) -> String {
    let mut text = String::new();
    for holder in holders {
        let by = if holder.sent_away { "acquired by" } else { "held by" };
        let [age, at] = [age(holder.held), site(holder.site.as_ref())];
        let ended = snapshot.ended.iter().find(|ended| ended.actor == holder.actor);
        let ended = ended.map(|ended| format!(", which ended {} ago", short_duration(ended.ago)));
        let ended = ended.unwrap_or_default();
        put(&mut text, &age, &format!("{by} {}, taken at {at}{ended}", who.is(&holder.actor)));
    }
    text
}

/// Many holders, or permits, by the places where they were acquired, those with the most first: to find a leak.
fn by_site(holders: &[&Holder], are_permits: bool) -> String {
    let mut sites: BTreeMap<(String, bool), (u64, Option<Duration>)> = BTreeMap::new();
    for holder in holders {
        let key = (site(holder.site.as_ref()), are_permits && holder.forgotten);
        let (count, oldest) = sites.entry(key).or_default();
        *count = count.saturating_add(if are_permits { holder.permits.unwrap_or(1) } else { 1 });
        *oldest = holder.held.max(*oldest);
    }
    let mut sites: Vec<_> = sites.into_iter().collect();
    sites.sort_by_key(|(_, (count, oldest))| Reverse((*count, *oldest)));
    let mut text = String::new();
    for ((at, forgotten), (count, oldest)) in sites.iter().take(HOLDERS) {
        let what = if are_permits { counted(*count, "permit") } else { format!("{count} held") };
        let forgotten = if *forgotten { " forgotten" } else { "" };
        put(&mut text, &age(*oldest), &format!("{what}{forgotten}, taken at {at}"));
    }
    let rest = sites.iter().skip(HOLDERS).fold(0_u64, |rest, (_, (count, _))| rest.saturating_add(*count));
    if rest > 0 {
        let what = if are_permits { "permits" } else { "held" };
        put(&mut text, "", &more(rest as usize, what, "", None));
    }
    text
}

/// Whether the waiters of the lock imply a holder that has a record. A lock with a signalled waiter may be free; scripts, which hold an
/// `AsyncLock`, make no records.
fn is_held(lock: &Lock) -> bool {
    use LockKind::{Mutex, OnceLock, RwLock};
    let is_owned = matches!(lock.name.kind, Mutex | RwLock | OnceLock);
    is_owned && lock.all_waiters().all(|waiter| waiter.state == State::Queued)
}

/// The access, where the kind of the lock does not imply it.
fn wants(lock: &Lock, wants: Access) -> &'static str {
    match (lock.name.kind, wants) {
        (LockKind::RwLock, Access::Shared) => ", to read",
        (LockKind::RwLock, Access::Exclusive) => ", to write",
        (LockKind::RwLock, Access::Upgradable) => ", for an upgradable read",
        (LockKind::RwLock, Access::Upgrade) => ", to upgrade",
        _ => "",
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Queued => "",
        State::Signalled => ", signalled",
        State::Overdue => ", signalled, has not run",
        State::Skipped => ", signalled, has not run, skipped",
    }
}
