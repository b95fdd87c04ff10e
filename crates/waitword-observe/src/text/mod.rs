//! Findings and reports as text, for a terminal of 100 columns.

mod cycle;
mod listing;
mod who;
mod words;

use std::fmt;
use std::time::Duration;

pub(crate) use listing::listing;
pub(crate) use who::Who;
pub use words::short_duration;
pub(crate) use words::{clean, counted, short_type};
use words::{member_lines, put, site, woken, wrapped};

use crate::blame::{Blame, Blamed, Slow};
use crate::finding::{
    Finding, FirstWaiter, HolderEnded, HolderWaits, LongWait, NeverPolled, NoKnownNotifier, OrderMember,
    PotentialDeadlock,
};
use crate::model::{Access, Actor, Lock, LockKind, LockName, Snapshot, State};

/// How many findings of each kind are shown: of ten thousand long waits, the first.
const SHOWN: [(&str, usize); 3] = [("fault", 20), ("cycle", 20), ("long wait", 10)];

/// Findings in order, with an empty line before each. What is left out is counted.
pub(crate) fn findings(findings: &[Finding], who: &Who<'_>) -> String {
    if findings.is_empty() {
        return "nothing found\n".to_owned();
    }
    let (mut text, mut seen) = (String::new(), [0_usize; 3]);
    for finding in findings {
        let sort = match finding {
            fault if fault.is_fault() => 0,
            Finding::Cycle(_) => 1,
            _ => 2,
        };
        seen[sort] += 1;
        if seen[sort] <= SHOWN[sort].1 {
            text += &format!("\n{}\n", of_finding(finding, who));
        }
    }
    for (seen, (what, most)) in seen.into_iter().zip(SHOWN) {
        if let Some(more @ 1..) = seen.checked_sub(most) {
            text += &format!("\n... and {}\n", counted(more, &format!("more {what}")));
        }
    }
    text
}

/// One or more lines of at most 100 columns, without a line break at the end.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&of_finding(self, &Who::in_finding(self)))
    }
}

fn of_finding(finding: &Finding, who: &Who<'_>) -> String {
    match finding {
        Finding::Cycle(found) => cycle::cycle(found, who),
        Finding::PotentialDeadlock(order) => potential_deadlock(order, who),
        Finding::HolderEnded(held) => wrapped(&holder_ended(held, who), 2),
        Finding::NeverPolled(wait) => wrapped(&never_polled(wait, who), 2),
        Finding::LongWait(waits) => wrapped(&long_wait(waits), 2),
        Finding::NoKnownNotifier(waits) => wrapped(&no_known_notifier(waits, who), 2),
        Finding::HolderWaits(waits) => wrapped(&holder_waits(waits, who), 2),
    }
}

/// The text of a finding that is not a fault and has lasted for `lasted`. Whether it will end is not known.
pub(crate) fn lasting(finding: &Finding, lasted: Duration) -> String {
    match finding {
        Finding::Cycle(found) => cycle::lasting(found, lasted, &Who::in_finding(finding)),
        other => other.to_string(),
    }
}

fn holder_ended(held: &HolderEnded, who: &Who<'_>) -> String {
    let HolderEnded { lock, actor, waiters, first, .. } = held;
    let waiter = |waiter: &FirstWaiter| {
        let at = waiter.site.as_ref().map(|at| format!(" ({})", site(Some(at)))).unwrap_or_default();
        who.is(&waiter.actor) + &at
    };
    let mut list: Vec<String> = first.iter().map(waiter).collect();
    if first.len() < *waiters {
        list.push("...".to_owned());
    }
    let verb = if *waiters == 1 { "waits" } else { "wait" };
    let [taken, ended, list] = [site(held.site.as_ref()), short_duration(held.ended), list.join(", ")];
    // An agent has no guards.
    let unless = match actor {
        Actor::Thread { .. } => " (no fault if its guard was sent to another thread)",
        _ => "",
    };
    let actor = who.is(actor);
    format!("{lock}: held by {actor} ({taken}), which ended {ended} ago{unless}; {waiters} {verb}: {list}")
}

fn never_polled(wait: &NeverPolled, who: &Who<'_>) -> String {
    let NeverPolled { lock, behind, .. } = wait;
    let [actor, age, at] = [who.is(&wait.actor), short_duration(wait.age), site(wait.site.as_ref())];
    let what = if wait.is_futurelock() { "never polled (futurelock)" } else { "signalled, has not run" };
    let skipped = if wait.state == State::Skipped { ", skipped" } else { "" };
    let signalled = match wait.not_run.map(short_duration) {
        Some(ago) if wait.is_futurelock() => {
            format!("signalled at least {ago} ago and not run since{skipped}; poll its future or drop it")
        }
        Some(ago) => format!("signalled at least {ago} ago, a futurelock if this lasts"),
        None => "a futurelock if this lasts".to_owned(),
    };
    let behind = counted(*behind, "waiter");
    format!("{what}: {actor} waits {age} for {lock} at {at}; {signalled}; {behind} behind it")
}

fn holder_waits(waits: &HolderWaits, who: &Who<'_>) -> String {
    let HolderWaits { lock, actor, waits: notified, waiters, .. } = waits;
    let [taken, at, longest_at] = [&waits.taken, &waits.site, &waits.longest_at].map(|at| site(at.as_ref()));
    let [actor, age, longest] = [who.is(actor), short_duration(waits.age), short_duration(waits.longest)];
    let verb = if *waiters == 1 { "waits" } else { "wait" };
    format!(
        "a holder waits: {actor} holds {lock}, taken at {taken}, and waits {age} for a notify of {notified} at {at}; {waiters} {verb} for \
         {lock}, longest {longest} at {longest_at}"
    )
}

fn long_wait(waits: &LongWait) -> String {
    let LongWait { lock, waiters, .. } = waits;
    let [at, longest] = [site(waits.site.as_ref()), short_duration(waits.longest)];
    format!("long wait: {} for {lock} at {at}, longest {longest}", counted(*waiters, "waiter"))
}

fn no_known_notifier(waits: &NoKnownNotifier, who: &Who<'_>) -> String {
    let NoKnownNotifier { lock, waiters, notified, unnotified, .. } = waits;
    let [longest, at] = [short_duration(waits.longest), site(waits.site.as_ref())];
    let notifier = match (notified, unnotified) {
        (Some(last), _) => {
            let [at, ago] = [site(last.site.as_ref()), short_duration(last.ago)];
            format!("last notified by {} at {at}, {ago} ago{}", who.is(&last.actor), woken(last))
        }
        (None, Some(since)) => {
            format!("not notified since observation began, {} ago", short_duration(*since))
        }
        (None, None) => "no notifier is known".to_owned(),
    };
    format!("{lock}: {}, longest {longest} ({at}); {notifier}", counted(*waiters, "waiter"))
}

fn potential_deadlock(order: &PotentialDeadlock, who: &Who<'_>) -> String {
    let heading = match order.members.len() {
        2 => "potential deadlock: 2 locks were taken in opposite orders".to_owned(),
        count => format!("potential deadlock: {count} locks were taken in orders that form a cycle"),
    };
    let lines = order.members.iter().map(|member| {
        let OrderMember { holds, mode, taken, wants, access, site: at, .. } = member;
        let took = format!("took {wants}{} at {}", how(wants, *access), site(Some(at)));
        let held = format!("holding {holds}{}, taken at {}", how(holds, *mode), site(Some(taken)));
        (who.is(&member.actor), [took, held])
    });
    heading + &member_lines(&lines.collect::<Vec<_>>())
}

fn how(lock: &LockName, mode: Access) -> &'static str {
    match (lock.kind, mode) {
        (LockKind::RwLock, Access::Shared) => " for reading",
        (LockKind::RwLock, Access::Upgradable) => " for upgradable reading",
        (LockKind::RwLock, Access::Upgrade) => " to upgrade",
        (LockKind::RwLock, _) => " for writing",
        _ => "",
    }
}

impl Snapshot {
    /// Returns the text about one lock of this snapshot, as in a report: its holders, and at most `waiters` waiters from the head of its
    /// queue. Lines have at most 100 columns.
    pub fn describe(&self, lock: &Lock, waiters: usize) -> String {
        listing::of_lock(lock, self, waiters, &Who::in_snapshot(self, &[]))
    }
}

/// How many rows are listed.
const ROWS: usize = 10;

/// A table, with an empty line before it; nothing if there are no rows. Rows with less than a twentieth of all delays are left out.
pub(crate) fn blame(rows: &[Blame]) -> String {
    let all = sum(rows.iter());
    let rows: Vec<&Blame> = rows.iter().filter(|row| row.delay.saturating_mul(20) >= all).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nwho made others wait:\n");
    for row in &rows[..rows.len().min(ROWS)] {
        put(&mut text, &short_duration(row.delay), &of_row(row));
    }
    if let Some(rest) = rows.get(ROWS..).filter(|rest| !rest.is_empty()) {
        let delay = short_duration(sum(rest.iter().copied()));
        put(&mut text, &delay, &format!("{} more", rest.len()));
    }
    text
}

/// Saturating: a report that was read may have any numbers.
fn sum<'a>(rows: impl Iterator<Item = &'a Blame>) -> Duration {
    rows.fold(Duration::ZERO, |sum, row| sum.saturating_add(row.delay))
}

fn of_row(row: &Blame) -> String {
    let whom = match &row.blamed {
        Blamed::Site { site: at } => format!("{} taken at {}", row.what(), site(Some(at))),
        Blamed::NotYetRun => {
            let times = if row.releases == 1 { "once".to_owned() } else { format!("{} times", row.releases) };
            return format!("nobody: the lock was free, and its signalled waiter had not run yet ({times})");
        }
        Blamed::Unknown => "unknown holders".to_owned(),
        Blamed::OtherSites => "all other sites".to_owned(),
    };
    let (releases, longest) = (counted(row.releases, "release"), short_duration(row.longest));
    let at = site(row.longest_at.as_ref());
    let waiters = counted(row.waiters, "waiter");
    format!("{whom}: {waiters} at {releases}, longest {longest} at {at}")
}

/// One or more lines of at most 100 columns, without a line break at the end.
impl fmt::Display for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.held.map(|held| format!(" held {}", short_duration(held))).unwrap_or_default();
        let crowd = self.threads.map(|threads| match (self.waiters.saturating_sub(threads), threads) {
            (0, threads) => format!(" ({})", counted(threads, "thread")),
            (tasks, 0) => format!(" ({})", counted(tasks, "task")),
            (tasks, threads) => format!(" ({}, {})", counted(tasks, "task"), counted(threads, "thread")),
        });
        let text = format!(
            "slow: {}{held} ({}, {}); {} waited{}, longest {} at {}",
            self.lock,
            site(self.site.as_ref()),
            self.actor,
            self.waiters,
            crowd.unwrap_or_default(),
            short_duration(self.longest),
            site(self.longest_at.as_ref())
        );
        f.write_str(&wrapped(&text, 2))
    }
}
