//! Who made others wait.

use std::fmt;
use std::time::Duration;

use super::words::{actor, duration, lock, site, wrapped};
use crate::blame::{Blame, Blamed, Slow};

/// So many rows are listed.
const ROWS: usize = 10;

/// The columns of a duration.
const TIME: usize = 7;

/// A table, with an empty line before it; nothing if there are no rows. Rows with less than a twentieth of all delays are left out.
pub(crate) fn blame(rows: &[Blame]) -> String {
    let all = sum(rows.iter());
    let rows: Vec<&Blame> = rows.iter().filter(|row| row.delay.saturating_mul(20) >= all).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nwho made others wait:\n");
    for row in &rows[..rows.len().min(ROWS)] {
        text += &wrapped(&format!("  {:>TIME$}  {}", duration(row.delay), of_row(row)), TIME + 6);
        text += "\n";
    }
    if let Some(rest) = rows.get(ROWS..).filter(|rest| !rest.is_empty()) {
        let delay = sum(rest.iter().copied());
        text += &format!("  {:>TIME$}  {} more\n", duration(delay), rest.len());
    }
    text
}

/// A report that was read may have any numbers.
fn sum<'a>(rows: impl Iterator<Item = &'a Blame>) -> Duration {
    rows.fold(Duration::ZERO, |sum, row| sum.saturating_add(row.delay))
}

fn of_row(row: &Blame) -> String {
    let name = lock(&row.what());
    let whom = match &row.blamed {
        Blamed::Site { site: at } => format!("{name} taken at {}", site(Some(at))),
        Blamed::NotYetRun => {
            let times = if row.releases == 1 { "once".to_owned() } else { format!("{} times", row.releases) };
            return format!("nobody: {times} a waiter was signalled and had not run yet");
        }
        Blamed::Unknown => "holders that are not known".to_owned(),
        Blamed::OtherSites => "other sites, without a row".to_owned(),
    };
    let releases =
        if row.releases == 1 { "1 release".to_owned() } else { format!("{} releases", row.releases) };
    let [waited, longest, at] =
        [row.waiters.to_string(), duration(row.longest), site(row.longest_at.as_ref())];
    format!("{whom}: {waited} waited at {releases}, longest {longest} at {at}")
}

/// One or more lines of at most 100 columns, without a line break at the end.
impl fmt::Display for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&slow(self))
    }
}

fn slow(slow: &Slow) -> String {
    let held = slow.held.map(|held| format!(" held {}", duration(held))).unwrap_or_default();
    let crowd = slow.threads.map(|threads| match (slow.waiters.saturating_sub(threads), threads) {
        (0, threads) => format!(" ({})", count(threads, "thread")),
        (tasks, 0) => format!(" ({})", count(tasks, "task")),
        (tasks, threads) => format!(" ({}, {})", count(tasks, "task"), count(threads, "thread")),
    });
    let [name, taken, longest] = [lock(&slow.lock), site(slow.site.as_ref()), duration(slow.longest)];
    let text = format!(
        "slow: {name}{held} ({taken}, {}); {} waited{}, longest {longest} at {}",
        actor(&slow.actor),
        slow.waiters,
        crowd.unwrap_or_default(),
        site(slow.longest_at.as_ref())
    );
    wrapped(&text, 2)
}

fn count(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
