//! Who made others wait.

use std::fmt;
use std::time::Duration;

use super::words::{counted, put, short_duration, site, wrapped};
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
        put(&mut text, &format!("  {:>TIME$}  {}", short_duration(row.delay), of_row(row)), TIME + 6);
    }
    if let Some(rest) = rows.get(ROWS..).filter(|rest| !rest.is_empty()) {
        let delay = short_duration(sum(rest.iter().copied()));
        text += &format!("  {delay:>TIME$}  {} more\n", rest.len());
    }
    text
}

/// A report that was read may have any numbers.
fn sum<'a>(rows: impl Iterator<Item = &'a Blame>) -> Duration {
    rows.fold(Duration::ZERO, |sum, row| sum.saturating_add(row.delay))
}

fn of_row(row: &Blame) -> String {
    let whom = match &row.blamed {
        Blamed::Site { site: at } => format!("{} taken at {}", row.what(), site(Some(at))),
        Blamed::NotYetRun => {
            let times = if row.releases == 1 { "once".to_owned() } else { format!("{} times", row.releases) };
            return format!("nobody: {times} a waiter was signalled and had not run yet");
        }
        Blamed::Unknown => "holders that are not known".to_owned(),
        Blamed::OtherSites => "other sites, without a row".to_owned(),
    };
    let (releases, longest) = (counted(row.releases, "release"), short_duration(row.longest));
    let at = site(row.longest_at.as_ref());
    format!("{whom}: {} waited at {releases}, longest {longest} at {at}", row.waiters)
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
