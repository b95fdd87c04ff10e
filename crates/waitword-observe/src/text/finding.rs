//! One finding.

use std::fmt;

use super::cycle::cycle;
use super::words::{actor, duration, lock, site, wrapped};
use crate::finding::{Finding, LongWait, NeverPolled, NoKnownNotifier};

/// One or more lines of at most 100 columns, without a line break at the end.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self {
            Self::Cycle(found) => cycle(found),
            Self::NeverPolled(wait) => wrapped(&never_polled(wait), 2),
            Self::LongWait(waits) => wrapped(&long_wait(waits), 2),
            Self::NoKnownNotifier(waits) => wrapped(&no_known_notifier(waits), 2),
        })
    }
}

fn never_polled(wait: &NeverPolled) -> String {
    let NeverPolled { lock: name, site: at, age, behind, .. } = wait;
    let [who, name] = [actor(&wait.actor), lock(name)];
    let [age, at] = [duration(*age), site(at.as_ref())];
    format!(
        "never polled (futurelock): {who} waits {age} for {name} at {at}; it was signalled, did not run and was skipped; {behind} behind it"
    )
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
    let NoKnownNotifier { lock: name, waiters, longest, site: at } = waits;
    let verb = if *waiters == 1 { "waits" } else { "wait" };
    let [name, longest, at] = [lock(name), duration(*longest), site(at.as_ref())];
    format!("{name}: {waiters} {verb}, longest {longest} ({at}); nobody is known who could notify")
}
