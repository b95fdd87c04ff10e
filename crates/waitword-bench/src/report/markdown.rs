//! The tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::platform::cpu_model;
use crate::report::chart::Chart;
use crate::report::goals::{self, Check};
use crate::results::Results;
use crate::series::{Figure, Series, Unit};
use crate::workload::{Bound, OURS, Page};

/// Everything that belongs on one page.
pub(crate) fn page(results: &[Results<'_>], page: Page, against: &[String], charts: &[Chart]) -> String {
    const HERE: &str = "cargo run --release -p waitword-bench";
    let (title, command, reading) = match page {
        Page::Queue => ("Measurements", HERE, READING_QUEUE),
        Page::Locks => ("Measurements of the locks", HERE, READING_LOCKS),
        Page::JavaScript => ("Measurements of JavaScript", "cargo xtask bench-js", READING_JAVASCRIPT),
    };
    let mut text = format!("# {title}\n\n");
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let cpu = cpu_model().unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let against = if against.is_empty() { "no other, for none was found".into() } else { against.join(", ") };
    text.push_str(reading);
    let _ = writeln!(text, "\nWritten by `{command}` on {cpu}, {cpus} CPUs,");
    let _ = writeln!(text, "{}. Against: {against}.", std::env::consts::OS);
    for results in results.iter().filter(|results| results.topic.page == page) {
        section(&mut text, results, charts);
    }
    text
}

const READING_QUEUE: &str = "\
For readers who compare wait queues. A cell is the median over all rounds, at the largest size and at those where a goal is missed worst;
`÷ best` is ours divided by the best peer's, in **bold**. Times are CPU time of the measured thread unless said otherwise. All
contenders and sizes, least, most and wall time: [queue.csv](queue.csv). Why goals are missed: [costs](../../docs/costs.md).
";

const READING_LOCKS: &str = "\
For readers who compare locks. A cell is the median over all rounds, at the largest size and at those where a goal is missed worst;
`÷ best` is ours divided by the best peer's, in **bold**. Uncontended times are CPU time, all else is wall time. A wait is timed from the
call to having the lock, if it was not free at once. Work is a chain of multiplications that touches no memory. All contenders and
sizes, least and most: [locks.csv](locks.csv). Why goals are missed: [costs](../../docs/costs.md).
";

const READING_JAVASCRIPT: &str = "\
For readers who choose where to run a script. The programs are in [benches/js](../js), one per heading; each engine runs the same files, in a
process of its own for each round. A cell is the median at the largest size; `÷ best` is waitword's divided by the best other engine's. Times are wall time,
as the script sees it; memory is what the process holds, after a garbage collection (Node: `--expose-gc`). Least and most:
[js.csv](js.csv). Why goals are missed: [costs](../../docs/costs.md).
";

fn section(page: &mut String, results: &Results<'_>, charts: &[Chart]) {
    let _ = write!(page, "\n## {}\n\n{}\n", results.topic.name, results.topic.about);
    table(page, results);
    if !results.failures.is_empty() {
        page.push_str("\nNot all got to the end:\n\n");
    }
    for (contender, why) in &results.failures {
        let _ = writeln!(page, "- **failed:** {contender}: {why}");
    }
    for Chart { what, file, .. } in charts.iter().filter(|chart| chart.workload == results.topic.name) {
        let _ = write!(page, "\n![{what}]({file})\n");
    }
}

/// A row per operation, at its largest size and at those where a goal is missed worst; a column per contender that matters.
fn table(page: &mut String, results: &Results<'_>) {
    let checks = goals::checks(results);
    let rows = rows(results, &checks);
    if rows.is_empty() {
        return;
    }
    let contenders = contenders(results, &rows);
    let mut sizes = rows.iter().map(|row| row.1).collect::<BTreeSet<_>>();
    let only = sizes.pop_first().filter(|_| sizes.is_empty());
    let mut head = match only {
        Some(1) => vec![String::new()],
        Some(n) => vec![format!("N = {n}")],
        None => vec![String::new(), "N".to_owned()],
    };
    head.extend(contenders.iter().map(|name| (*name).to_owned()));
    head.extend(["÷ best", "goal"].map(str::to_owned));
    let _ = write!(page, "\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for (what, n) in rows {
        let best = best(results, what, n);
        let cell = |name: &&str| match results.find(name, what, n) {
            Some(series) if best.is_some_and(|best| best.contender == *name) => {
                format!("**{}**", median(series))
            }
            Some(series) => median(series),
            None => "–".to_owned(),
        };
        let mut row = vec![what.to_owned()];
        row.extend(only.is_none().then(|| n.to_string()));
        row.extend(contenders.iter().map(cell));
        let ratio = results.find(OURS, what, n).zip(best).map(|(ours, best)| ours.median() / best.median());
        let ratio = ratio.filter(|ratio| ratio.is_finite());
        row.push(ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}")));
        row.push(goal(&checks, what, n, results));
        let _ = writeln!(page, "| {} |", row.join(" | "));
    }
}

/// Which goals are missed at this size; that all are met stands in the row of the largest.
fn goal(checks: &[Check], what: &str, n: usize, results: &Results<'_>) -> String {
    let of_operation = checks.iter().filter(|check| check.what == what);
    let missed = of_operation.clone().filter(|check| check.n == n && !check.met);
    let missed = missed.map(|check| check.target.as_str()).collect::<Vec<_>>();
    let largest = results.series.iter().filter(|series| series.what == what).map(|series| series.n).max();
    if !missed.is_empty() {
        format!("**missed:** {}", missed.join("; "))
    } else if largest == Some(n) && of_operation.clone().all(|check| check.met) && of_operation.count() > 0 {
        "met".to_owned()
    } else {
        String::new()
    }
}

fn rows(results: &Results<'_>, checks: &[Check]) -> Vec<(&'static str, usize)> {
    let of_operation = |what| {
        let sizes = results.series.iter().filter(move |series| series.what == what).map(|series| series.n);
        let missed = checks.iter().filter(move |check| check.what == what && !check.met).map(|check| check.n);
        let shown = sizes.max().into_iter().chain(missed).collect::<BTreeSet<_>>();
        shown.into_iter().map(move |n| (what, n))
    };
    operations(results).into_iter().flat_map(of_operation).collect()
}

/// Our own, the baseline, and each peer that is the best in a row. The others are in the CSV file.
fn contenders(results: &Results<'_>, rows: &[(&'static str, usize)]) -> Vec<&'static str> {
    let best = rows.iter().filter_map(|&(what, n)| best(results, what, n)).map(|series| series.contender);
    let best = best.collect::<BTreeSet<_>>();
    let measured = |name| rows.iter().any(|&(what, n)| results.find(name, what, n).is_some());
    let matters =
        |name: &str| name.starts_with(OURS) || name == results.topic.baseline || best.contains(name);
    let all = results.topic.contenders.iter().copied();
    all.filter(|name| matters(name) && measured(name)).collect()
}

/// The best peer, unless all have nothing. Of ratios there is none: a larger share of one side is a smaller one of the other.
fn best<'a>(results: &'a Results<'_>, what: &str, n: usize) -> Option<&'a Series> {
    let any = results.series.iter().find(|series| series.what == what && series.n == n)?;
    let bound = match any.unit {
        Unit::Nanos | Unit::Bytes | Unit::Count => Bound::AtMost,
        Unit::PerSecond => Bound::AtLeast,
        Unit::Ratio => return None,
    };
    let nothing = |best: &Series| {
        [Some(best), results.find(OURS, what, n)].into_iter().flatten().all(|s| s.median() == 0.0)
    };
    goals::best_peer(results, any, bound, |_| true).filter(|best| !nothing(best))
}

fn median(series: &Series) -> String {
    Figure(series.median(), series.unit).to_string()
}

/// In the order in which they were measured first.
fn operations<'a>(results: &Results<'a>) -> Vec<&'static str> {
    let mut operations = Vec::new();
    for series in &results.series {
        if !operations.contains(&series.what) {
            operations.push(series.what);
        }
    }
    operations
}

/// The crates that a page measures beside ours, with their versions.
pub(crate) fn peers(page: Page) -> Vec<String> {
    match page {
        Page::Queue => versions(&QUEUES),
        Page::Locks => versions(&LOCKS),
        Page::JavaScript => Vec::new(),
    }
}

const QUEUES: [&str; 6] =
    ["async-io", "event-listener", "futures-intrusive", "maitake-sync", "parking_lot_core", "tokio"];

const LOCKS: [&str; 9] = [
    "async-lock",
    "asyncband",
    "futures-intrusive",
    "futures-util",
    "maitake-sync",
    "parking_lot",
    "saa",
    "tokio",
    "usync",
];

/// The versions of these crates, as the lock file of this build has them.
fn versions(names: &[&str]) -> Vec<String> {
    let mut name = "";
    // Of two versions the later one is ours; the lock file lists it last.
    let mut versions = BTreeMap::new();
    for line in include_str!("../../../../Cargo.lock").lines() {
        let value = |prefix| line.strip_prefix(prefix).map(|rest: &str| rest.trim_matches(['"', ' ']));
        if let Some(next) = value("name = ") {
            name = next;
        } else if let Some(version) = value("version = ").filter(|_| names.contains(&name)) {
            versions.insert(name, version);
        }
    }
    versions.iter().map(|(name, version)| format!("{name} {version}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Sample;
    use crate::workload::{Charts, Contender, Limit, Workload, at_least};

    #[test]
    fn a_row_has_the_contenders_that_matter_and_says_whether_its_goals_are_met() {
        let names = [OURS, "slow", "fast", "even", "none (limit)"];
        let contenders = names.map(|name| Contender { name, run: |_| Vec::new() }).into();
        let goals = vec![
            at_least("rate", Limit::Value(1e6)),
            at_least("rate", Limit::Times(1.0, "slow")),
            at_least("share", Limit::Value(0.5)),
        ];
        let (page, charts) = (Page::Locks, Charts::None);
        let workload =
            Workload { name: "test", about: "About.", baseline: "slow", contenders, goals, page, charts };
        let mut results = Results { topic: workload.topic(), series: Vec::new(), failures: Vec::new() };
        let rates = [[2e6, 3e6], [4e6, 1e6], [1e6, 6e6], [1e6, 1e6], [9e6, 9e6]];
        for (name, rates) in names.into_iter().zip(rates) {
            for (n, rate) in [2, 16].into_iter().zip(rates) {
                results.add(name, Sample::new("rate", n, Unit::PerSecond, rate));
            }
            results.add(name, Sample::new("share", 16, Unit::Ratio, if name == "even" { 1.0 } else { 0.2 }));
        }
        let mut text = String::new();
        let chart = |workload: &str, what: &str| Chart {
            workload: workload.to_owned(),
            what: what.to_owned(),
            file: format!("{workload}-{what}.svg"),
            svg: String::new(),
        };
        section(&mut text, &results, &[chart("test", "rate"), chart("other", "rate")]);
        results.series.retain(|series| series.n == 16);
        table(&mut text, &results);
        let expected = "
## test

About.

|  | N | waitword | slow | fast | ÷ best | goal |
|---|---|---|---|---|---|---|
| rate | 2 | 2.00 M/s | **4.00 M/s** | 1.00 M/s | 0.50 | **missed:** ≥ 4.00 M/s |
| rate | 16 | 3.00 M/s | 1.00 M/s | **6.00 M/s** | 0.50 |  |
| share | 16 | 0.20 | 0.20 | 0.20 | – | **missed:** ≥ 0.50 |

![rate](test-rate.svg)

| N = 16 | waitword | slow | fast | ÷ best | goal |
|---|---|---|---|---|---|
| rate | 3.00 M/s | 1.00 M/s | **6.00 M/s** | 0.50 | met |
| share | 0.20 | 0.20 | 0.20 | – | **missed:** ≥ 0.50 |
";
        assert_eq!(text, expected);
    }
}
