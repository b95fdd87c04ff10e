//! The tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::platform::cpu_model;
use crate::report::chart::Chart;
use crate::report::goals;
use crate::results::Results;
use crate::series::{Figure, Series};
use crate::workload::{OURS, Page, Topic};

/// Everything that belongs on one page.
pub(crate) fn page(results: &[Results<'_>], page: Page, against: &[String]) -> String {
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
    let _ = writeln!(text, "Written by `{command}` on {cpu}, {cpus} CPUs,");
    let _ = writeln!(text, "{}. Against: {against}.\n", std::env::consts::OS);
    text.push_str(reading);
    for results in results.iter().filter(|results| results.topic.page == page) {
        section(&mut text, results);
    }
    text
}

const READING_QUEUE: &str = "\
A cell is the median over all rounds (least–most). `×` compares the median at the largest size with that of the
contender in *italics*. Times are CPU time of the measured thread unless said otherwise; `wall` is the median wall
time of the same rounds at the largest size. Why goals are missed, and what was tried: [costs](../../docs/costs.md).
";

const READING_LOCKS: &str = "\
A cell is the median over all rounds (least–most). `×` compares the median at the largest size with that of the
contender in *italics*. Uncontended times are CPU time of the measured thread; all else is wall time, with whatever the
scheduler does in it. A wait is timed from the call to having the lock, if it was not free at once. What is worked with
and without a lock is a chain of multiplications that touches no memory, calibrated at the start against the CPU time of
a thread. Why goals are missed, and what was tried: [costs](../../docs/costs.md).
";

const READING_JAVASCRIPT: &str = "\
The programs are in [benches/js](../js), one per heading, and every engine runs the same files, in a process of its own for each
round. A cell is the median over all rounds (least–most). `×` is waitword's median divided by that of the engine in *italics*:
below 1.00, waitword is ahead. Times are wall time, as the script sees it. Memory is what the process holds of the machine's, as
the operating system tells the runner. Node runs with `--expose-gc`, and garbage is collected before memory is measured. Why
goals are missed: [costs](../../docs/costs.md).
";

/// The charts, to be shown below the tables.
pub(crate) fn gallery(charts: &[Chart]) -> String {
    let mut text = String::new();
    for Chart { file, title, .. } in charts {
        let _ = write!(text, "\n![{title}]({file})\n");
    }
    text
}

fn section(page: &mut String, results: &Results<'_>) {
    let _ = write!(page, "\n## {}\n\n{}\n", results.topic.name, results.topic.about);
    match results.topic.page {
        Page::JavaScript => side_by_side(page, results),
        Page::Queue | Page::Locks => {
            for what in operations(results) {
                table(page, results, what);
            }
        }
    }
    if !results.failures.is_empty() {
        page.push_str("\nNot all got to the end:\n\n");
    }
    for (contender, why) in &results.failures {
        let _ = writeln!(page, "- **failed:** {contender}: {why}");
    }
    let checks = goals::checks(results);
    if !checks.is_empty() {
        page.push_str("\nGoals, each at the size where it is met worst:\n\n");
    }
    for check in checks {
        let _ = writeln!(page, "- {} {}", if check.met { "met:" } else { "**missed:**" }, check.text);
    }
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

/// One table for all operations, a column per contender.
fn side_by_side(page: &mut String, results: &Results<'_>) {
    if results.series.is_empty() {
        return;
    }
    let Topic { baseline, contenders, .. } = &results.topic;
    let mut head = vec![String::new(), "N".to_owned()];
    head.extend(
        contenders.iter().map(|name| if name == baseline { format!("*{name}*") } else { (*name).to_owned() }),
    );
    head.push("×".to_owned());
    let _ = write!(page, "\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for what in operations(results) {
        let of_row = || results.series.iter().filter(|series| series.what == what);
        for n in of_row().map(|series| series.n).collect::<BTreeSet<_>>() {
            let mut row = vec![what.to_owned(), if n == 1 { String::new() } else { n.to_string() }];
            let find = |contender: &str| results.find(contender, what, n);
            row.extend(contenders.iter().map(|name| find(name).map_or_else(|| "–".to_owned(), cell)));
            let ratio = find(OURS).zip(find(baseline)).map(|(ours, theirs)| ours.median() / theirs.median());
            let ratio = ratio.filter(|ratio| ratio.is_finite());
            row.push(ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}")));
            let _ = writeln!(page, "| {} |", row.join(" | "));
        }
    }
}

fn table(page: &mut String, results: &Results<'_>, what: &str) {
    let of_table = || results.series.iter().filter(|series| series.what == what);
    let sizes = of_table().map(|series| series.n).collect::<BTreeSet<_>>();
    let Some(&largest) = sizes.last() else { return };
    let has_wall = of_table().any(|series| series.wall().is_some());
    let baseline = results.find(results.topic.baseline, what, largest);

    let mut head = vec![what.to_owned()];
    head.extend(
        sizes.iter().map(|n| if sizes.len() == 1 && *n == 1 { "each".into() } else { format!("N = {n}") }),
    );
    head.extend(baseline.map(|_| "×".to_owned()));
    head.extend(has_wall.then(|| "wall".to_owned()));
    let _ = write!(page, "\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));

    for contender in &results.topic.contenders {
        let find = |n| results.find(contender, what, n);
        if sizes.iter().all(|&n| find(n).is_none()) {
            continue;
        }
        let is_baseline = *contender == results.topic.baseline;
        let mut row = vec![if is_baseline { format!("*{contender}*") } else { (*contender).to_owned() }];
        row.extend(sizes.iter().map(|&n| find(n).map_or_else(|| "–".to_owned(), cell)));
        if let Some(baseline) = baseline {
            let ratio = |series: &Series| format!("{:.2}", series.median() / baseline.median());
            row.push(
                find(largest).filter(|_| baseline.median() >= 0.5).map_or_else(|| "–".to_owned(), ratio),
            );
        }
        if has_wall {
            let wall = find(largest).and_then(|series| Some(Figure(series.wall()?, series.unit).to_string()));
            row.push(wall.unwrap_or_else(|| "–".to_owned()));
        }
        let _ = writeln!(page, "| {} |", row.join(" | "));
    }
}

fn cell(series: &Series) -> String {
    let [median, least, most] =
        [series.median(), series.least(), series.most()].map(|value| Figure(value, series.unit).to_string());
    if least == most { median } else { format!("{median} ({least}–{most})") }
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
