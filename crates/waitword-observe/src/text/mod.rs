//! Findings and reports as text, for a terminal of 100 columns.

mod blame;
mod cycle;
mod listing;
mod words;

use std::fmt;

pub(crate) use blame::blame;
pub(crate) use cycle::lasting;
pub(crate) use listing::listing;
pub use words::short_duration;
pub(crate) use words::{clean, counted, short_type};
use words::{member_lines, site, woken, wrapped};

use crate::finding::{
    Finding, FirstWaiter, HolderEnded, LongWait, NeverPolled, NoKnownNotifier, OrderMember, PotentialDeadlock,
};
use crate::model::{Access, Lock, LockKind, LockName, Snapshot, State};

/// So many faults are shown, and so many cycles that are none,
const FAULTS: usize = 20;

/// and so many other facts: of ten thousand waits that are long, the first.
const FACTS: usize = 10;

/// In their order, with an empty line before each. What is left out is counted.
pub(crate) fn findings(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "nothing found\n".to_owned();
    }
    let (mut text, mut faults, mut cycles, mut facts) = (String::new(), 0, 0, 0);
    for finding in findings {
        let (seen, most) = match finding {
            fault if fault.is_fault() => (&mut faults, FAULTS),
            Finding::Cycle(_) => (&mut cycles, FAULTS),
            _ => (&mut facts, FACTS),
        };
        *seen += 1;
        if *seen <= most {
            text += &format!("\n{finding}\n");
        }
    }
    for (seen, most, what) in
        [(faults, FAULTS, "fault"), (cycles, FAULTS, "cycle"), (facts, FACTS, "long wait")]
    {
        if let Some(more @ 1..) = seen.checked_sub(most) {
            text += &format!("\n... and {}\n", counted(more, &format!("more {what}")));
        }
    }
    text
}

/// One or more lines of at most 100 columns, without a line break at the end.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self {
            Self::Cycle(found) => cycle::cycle(found),
            Self::PotentialDeadlock(order) => potential_deadlock(order),
            Self::HolderEnded(held) => wrapped(&holder_ended(held), 2),
            Self::NeverPolled(wait) => wrapped(&never_polled(wait), 2),
            Self::LongWait(waits) => wrapped(&long_wait(waits), 2),
            Self::NoKnownNotifier(waits) => wrapped(&no_known_notifier(waits), 2),
        })
    }
}

fn holder_ended(held: &HolderEnded) -> String {
    let HolderEnded { lock, actor, waiters, first, .. } = held;
    let waiter = |waiter: &FirstWaiter| {
        let at = waiter.site.as_ref().map(|at| format!(" ({})", site(Some(at)))).unwrap_or_default();
        format!("{}{at}", waiter.actor)
    };
    let mut list: Vec<String> = first.iter().map(waiter).collect();
    if first.len() < *waiters {
        list.push("...".to_owned());
    }
    let verb = if *waiters == 1 { "waits" } else { "wait" };
    let [taken, ended, list] = [site(held.site.as_ref()), short_duration(held.ended), list.join(", ")];
    format!("{lock}: held by {actor} ({taken}), which ended {ended} ago; {waiters} {verb}: {list}")
}

fn never_polled(wait: &NeverPolled) -> String {
    let NeverPolled { lock, actor, behind, .. } = wait;
    let [age, at] = [short_duration(wait.age), site(wait.site.as_ref())];
    let what = if wait.is_futurelock() { "never polled (futurelock)" } else { "signalled, has not run" };
    let signalled = match (wait.state, wait.not_run) {
        (State::Skipped, _) => "it was signalled, did not run and was skipped".to_owned(),
        (_, Some(time)) => format!("it was signalled and has not run for {}", short_duration(time)),
        (_, None) => "a futurelock if it stays so".to_owned(),
    };
    format!("{what}: {actor} waits {age} for {lock} at {at}; {signalled}; {behind} behind it")
}

fn long_wait(waits: &LongWait) -> String {
    let LongWait { lock, waiters, .. } = waits;
    let [at, longest] = [site(waits.site.as_ref()), short_duration(waits.longest)];
    format!("long wait: {waiters} for {lock} at {at}, longest {longest}")
}

fn no_known_notifier(waits: &NoKnownNotifier) -> String {
    let NoKnownNotifier { lock, waiters, notified, unnotified, .. } = waits;
    let verb = if *waiters == 1 { "waits" } else { "wait" };
    let [longest, at] = [short_duration(waits.longest), site(waits.site.as_ref())];
    let notifier = match (notified, unnotified) {
        (Some(last), _) => {
            let [at, ago] = [site(last.site.as_ref()), short_duration(last.ago)];
            format!("last notified by {} at {at}, {ago} ago{}", last.actor, woken(last))
        }
        (None, Some(since)) => {
            format!("nobody has notified it since observation began, {} ago", short_duration(*since))
        }
        (None, None) => "nobody is known who could notify".to_owned(),
    };
    format!("{lock}: {waiters} {verb}, longest {longest} ({at}); {notifier}")
}

fn potential_deadlock(order: &PotentialDeadlock) -> String {
    let heading = match order.members.len() {
        2 => "potential deadlock: 2 locks were taken in opposite orders".to_owned(),
        count => format!("potential deadlock: {count} locks were taken in orders that form a circle"),
    };
    let lines = order.members.iter().map(|member| {
        let OrderMember { holds, mode, taken, wants, access, site: at, .. } = member;
        let took = format!("took {wants}{} at {}", how(wants, *access), site(Some(at)));
        let held = format!("holding {holds}{}, taken at {}", how(holds, *mode), site(Some(taken)));
        (member.actor.to_string(), [took, held])
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
    /// What a report has of one lock of this snapshot: its holders, and its queue from the head, so many waiters at most. Lines of 100
    /// columns.
    pub fn describe(&self, lock: &Lock, waiters: usize) -> String {
        listing::of_lock(lock, self, waiters)
    }
}
