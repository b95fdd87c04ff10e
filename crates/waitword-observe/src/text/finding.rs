//! One finding.

use std::fmt;

use super::cycle::cycle;
use super::order::potential_deadlock;
use super::words::{actor, duration, lock, site, woken, wrapped};
use crate::finding::{Finding, FirstWaiter, HolderEnded, LongWait, NeverPolled, NoKnownNotifier};
use crate::model::State;

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
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        if let Some(more @ 1..) = seen.checked_sub(most) {
            text += &format!("\n... and {more} more {what}{}\n", plural(more));
        }
    }
    text
}

/// One or more lines of at most 100 columns, without a line break at the end.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self {
            Self::Cycle(found) => cycle(found),
            Self::PotentialDeadlock(order) => potential_deadlock(order),
            Self::HolderEnded(held) => wrapped(&holder_ended(held), 2),
            Self::NeverPolled(wait) => wrapped(&never_polled(wait), 2),
            Self::LongWait(waits) => wrapped(&long_wait(waits), 2),
            Self::NoKnownNotifier(waits) => wrapped(&no_known_notifier(waits), 2),
        })
    }
}

fn holder_ended(held: &HolderEnded) -> String {
    let HolderEnded { lock: name, waiters, .. } = held;
    let [name, who, taken] = [lock(name), actor(&held.actor), site(held.site.as_ref())];
    let waiter = |waiter: &FirstWaiter| {
        let at = waiter.site.as_ref().map(|at| format!(" ({})", site(Some(at)))).unwrap_or_default();
        actor(&waiter.actor) + &at
    };
    let mut list: Vec<String> = held.first.iter().map(waiter).collect();
    if held.first.len() < *waiters {
        list.push("...".to_owned());
    }
    let verb = if *waiters == 1 { "waits" } else { "wait" };
    let [ended, list] = [duration(held.ended), list.join(", ")];
    format!("{name}: held by {who} ({taken}), which ended {ended} ago; {waiters} {verb}: {list}")
}

fn never_polled(wait: &NeverPolled) -> String {
    let NeverPolled { lock: name, site: at, age, behind, .. } = wait;
    let [who, name] = [actor(&wait.actor), lock(name)];
    let [age, at] = [duration(*age), site(at.as_ref())];
    let (what, signalled) = match (wait.state, wait.not_run) {
        (State::Skipped, _) => {
            ("never polled (futurelock)", "it was signalled, did not run and was skipped".to_owned())
        }
        (_, Some(time)) => {
            ("never polled (futurelock)", format!("it was signalled and has not run for {}", duration(time)))
        }
        (_, None) => ("signalled, has not run", "a futurelock if it stays so".to_owned()),
    };
    format!("{what}: {who} waits {age} for {name} at {at}; {signalled}; {behind} behind it")
}

fn long_wait(waits: &LongWait) -> String {
    let LongWait { lock: name, site: at, waiters, longest } = waits;
    format!(
        "long wait: {waiters} for {} at {}, longest {}",
        lock(name),
        site(at.as_ref()),
        duration(*longest)
    )
}

fn no_known_notifier(waits: &NoKnownNotifier) -> String {
    let NoKnownNotifier { lock: name, waiters, longest, site: at, notified, unnotified } = waits;
    let verb = if *waiters == 1 { "waits" } else { "wait" };
    let [name, longest, at] = [lock(name), duration(*longest), site(at.as_ref())];
    let notifier = match (notified, unnotified) {
        (Some(last), _) => {
            let [who, where_, ago] = [actor(&last.actor), site(last.site.as_ref()), duration(last.ago)];
            format!("last notified by {who} at {where_}, {ago} ago{}", woken(last))
        }
        (None, Some(since)) => {
            format!("nobody has notified it since observation began, {} ago", duration(*since))
        }
        (None, None) => "nobody is known who could notify".to_owned(),
    };
    format!("{name}: {waiters} {verb}, longest {longest} ({at}); {notifier}")
}
