//! The locks with their queues.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use super::words::{actor, duration, lock_with_address, site, woken, wrapped};
use crate::model::{Access, Deed, Holder, Lock, LockKind, Snapshot, State, Waiter};

/// So many locks are listed,
const LOCKS: usize = 20;

/// of each so many waiters from the head of its queue,
const WAITERS: usize = 10;

/// and so many holders, or sites of holders.
const HOLDERS: usize = 4;

/// The columns of a duration.
const TIME: usize = 7;

/// The locks with the most waiters first.
pub(crate) fn listing(snapshot: &Snapshot) -> String {
    let mut locks: Vec<&Lock> = snapshot.locks.iter().collect();
    locks.sort_by_key(|lock| Reverse((lock.waiting(), longest(lock.all_waiters()))));
    let listed = &locks[..locks.len().min(LOCKS)];
    let mut text = String::new();
    for lock in listed {
        text += "\n";
        text += &of_lock(lock, snapshot, WAITERS);
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
    let longest = longest.map(|longest| format!(", longest {}", duration(longest))).unwrap_or_default();
    format!("... and {count} more {what}{with}{longest}")
}

pub(super) fn of_lock(lock: &Lock, snapshot: &Snapshot, most: usize) -> String {
    let waiters = match lock.waiting() {
        1 => "1 waiter".to_owned(),
        count => format!("{count} waiters"),
    };
    let mut text = format!("{}: {waiters}\n", lock_with_address(&lock.name));
    let holders: Vec<&Holder> = snapshot.holders_of(lock.name.address).collect();
    text += &if lock.name.kind == LockKind::Semaphore { permits(&holders) } else { held(&holders, snapshot) };
    if let Some(recording) = &snapshot.recording
        && holders.is_empty()
        && is_held(lock)
    {
        let unrecorded = match recording.unrecorded {
            0 => String::new(),
            count => format!(", or one of {count} not recorded"),
        };
        text += &format!("  holder unknown (taken before observation began{unrecorded})\n");
    }
    if holders.is_empty() {
        text += &deed("last changed", lock.changed.as_ref());
        text += &deed("last notified", lock.notified.as_ref());
    }
    let listed: Vec<&Waiter> = lock.all_waiters().take(most).collect();
    let names: Vec<String> = listed.iter().map(|waiter| actor(&waiter.actor)).collect();
    let wide = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (waiter, name) in listed.into_iter().zip(&names) {
        let age = waiter.age.map_or("-".to_owned(), duration);
        let at = site(waiter.site.as_ref());
        let notes = [wants(lock, waiter.wants), state(waiter.state)].concat();
        text += &wrapped(&format!("  {age:>TIME$}  {name:wide$}  {at}{notes}"), TIME + 6);
        text += "\n";
    }
    if let Some(rest @ 1..) = lock.waiting().checked_sub(most) {
        let longest = longest(lock.all_waiters().skip(most));
        text += &format!("  {:TIME$}  {}\n", "", more(rest, "waiters", "", longest));
    }
    text
}

/// Permits by the places where they were taken, those with the most first: where a leak is looked for.
fn permits(holders: &[&Holder]) -> String {
    let mut sites: BTreeMap<(String, bool), (u64, Option<Duration>)> = BTreeMap::new();
    for holder in holders {
        let key = (site(holder.site.as_ref()), holder.forgotten);
        let (count, oldest) = sites.entry(key).or_default();
        *count = count.saturating_add(holder.permits.unwrap_or(1));
        *oldest = holder.held.max(*oldest);
    }
    let mut sites: Vec<_> = sites.into_iter().collect();
    sites.sort_by_key(|(_, (count, oldest))| Reverse((*count, *oldest)));
    let mut text = String::new();
    for ((at, forgotten), (count, oldest)) in sites.iter().take(HOLDERS) {
        let age = oldest.map_or("-".to_owned(), duration);
        let permits = if *count == 1 { "permit" } else { "permits" };
        let forgotten = if *forgotten { " forgotten" } else { "" };
        text += &wrapped(&format!("  {age:>TIME$}  {count} {permits}{forgotten}, taken at {at}"), TIME + 6);
        text += "\n";
    }
    let rest = sites.iter().skip(HOLDERS).fold(0_u64, |rest, (_, (count, _))| rest.saturating_add(*count));
    if rest > 0 {
        text += &format!("  {:TIME$}  {}\n", "", more(rest as usize, "permits", "", None));
    }
    text
}

/// What was done to the word last.
fn deed(what: &str, deed: Option<&Deed>) -> String {
    let Some(deed) = deed else { return String::new() };
    let [age, who, at] = [duration(deed.ago), actor(&deed.actor), site(deed.site.as_ref())];
    let woken = woken(deed);
    wrapped(&format!("  {age:>TIME$}  {what} by {who} at {at}{woken}"), TIME + 6) + "\n"
}

/// Holders one by one while they are few, by site if they are many.
fn held(holders: &[&Holder], snapshot: &Snapshot) -> String {
    if holders.len() <= HOLDERS {
        let line = |holder: &&Holder| {
            let by = if holder.sent_away { "acquired by" } else { "held by" };
            let age = holder.held.map_or("-".to_owned(), duration);
            let [who, at] = [actor(&holder.actor), site(holder.site.as_ref())];
            let ended = snapshot.ended.iter().find(|ended| ended.actor == holder.actor);
            let ended = ended.map(|ended| format!(", which ended {} ago", duration(ended.ago)));
            let line = format!("  {age:>TIME$}  {by} {who}, taken at {at}{}", ended.unwrap_or_default());
            wrapped(&line, TIME + 6) + "\n"
        };
        return holders.iter().map(line).collect();
    }
    let mut sites: BTreeMap<String, (usize, Option<Duration>)> = BTreeMap::new();
    for holder in holders {
        let (count, oldest) = sites.entry(site(holder.site.as_ref())).or_default();
        *count += 1;
        *oldest = holder.held.max(*oldest);
    }
    let mut sites: Vec<_> = sites.into_iter().collect();
    sites.sort_by_key(|(_, (count, oldest))| Reverse((*count, *oldest)));
    let mut text = String::new();
    for (at, (count, oldest)) in sites.iter().take(HOLDERS) {
        let age = oldest.map_or("-".to_owned(), duration);
        text += &format!("  {age:>TIME$}  {count} held, taken at {at}\n");
    }
    let rest: usize = sites.iter().skip(HOLDERS).map(|(_, (count, _))| count).sum();
    if rest > 0 {
        text += &format!("  {:TIME$}  {}\n", "", more(rest, "held", "", None));
    }
    text
}

/// Whether the waiters of the lock imply a holder that is recorded. A lock with a signalled waiter may be free; scripts, which hold an
/// `AsyncLock`, make no records.
fn is_held(lock: &Lock) -> bool {
    use LockKind::{Mutex, OnceLock, RwLock};
    let is_owned = matches!(lock.name.kind, Mutex | RwLock | OnceLock);
    is_owned && lock.all_waiters().all(|waiter| waiter.state == State::Queued)
}

/// What the kind of the lock does not say by itself.
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
