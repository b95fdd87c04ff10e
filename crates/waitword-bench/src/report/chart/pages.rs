//! Which charts a page has.

use std::collections::BTreeSet;

use super::lines::{self, MILLIONS, NANOS};
use super::scatter;
use crate::results::Results;
use crate::series::{Series, Unit};
use crate::workload::{Charts, OURS, Page};

/// A picture and where it goes.
pub(crate) struct Chart {
    pub(crate) workload: String,
    /// What it shows of the workload.
    pub(crate) what: String,
    pub(crate) file: String,
    pub(crate) svg: String,
}

/// The charts that belong on one page.
pub(crate) fn all(results: &[Results<'_>], page: Page) -> Vec<Chart> {
    results.iter().filter(|results| results.topic.page == page).flat_map(of_workload).collect()
}

fn of_workload(results: &Results<'_>) -> Vec<Chart> {
    match results.topic.charts {
        Charts::None => Vec::new(),
        Charts::CostAgainstN => {
            let ours = results.series.iter().filter(|s| s.contender == OURS && s.unit == Unit::Nanos);
            let operations = ours.map(|series| series.what).collect::<BTreeSet<_>>();
            operations.into_iter().filter_map(|what| against_n(results, what, &NANOS)).collect()
        }
        Charts::RateAgainstN { rate } => against_n(results, rate, &MILLIONS).into_iter().collect(),
        Charts::RateAgainstWait { rate, waits } => {
            let rates = results.series.iter().filter(|series| series.what == rate);
            let sizes = rates.map(|series| series.n).collect::<BTreeSet<_>>();
            sizes.into_iter().filter_map(|n| rate_against_wait(results, rate, waits, n)).collect()
        }
    }
}

fn against_n(results: &Results<'_>, what: &str, measure: &lines::Measure) -> Option<Chart> {
    let shown = results.series.iter().filter(|series| series.what == what).collect::<Vec<_>>();
    let sizes = shown.iter().map(|series| series.n as f64);
    let (least, most) = sizes.fold((f64::INFINITY, 0.0), |(least, most), n| (n.min(least), n.max(most)));
    if least >= most {
        return None;
    }
    let title = format!("{}: {what}, {}", results.topic.name, measure.title);
    let mut svg = String::new();
    // Drawing into a string fails only if the numbers cannot be drawn.
    lines::draw(&mut svg, &title, &results.topic.contenders, &shown, (least, most), measure).ok()?;
    let file = format!("{}-{}.svg", results.topic.name, what.replace(", ", "-").replace(' ', "-"));
    Some(Chart { workload: results.topic.name.to_owned(), what: what.to_owned(), file, svg })
}

fn rate_against_wait(results: &Results<'_>, rate: &str, waits: &[&str], n: usize) -> Option<Chart> {
    let name = results.topic.name;
    let points = results.topic.contenders.iter().copied().filter_map(|contender| {
        let waits = waits.iter().filter_map(|wait| results.find(contender, wait, n));
        let longest = waits.map(Series::median).fold(0.0, f64::max);
        let per_second = results.find(contender, rate, n)?.median();
        Some((contender, longest, per_second))
    });
    let points = points.collect::<Vec<_>>();
    let title = format!("{name}, N = {n}: {rate} (million/s) against the longest wait (ms)");
    let mut svg = String::new();
    // As above.
    scatter::draw(&mut svg, &title, &points).ok()?;
    let what = format!("{rate} against the longest wait, N = {n}");
    Some(Chart { workload: name.to_owned(), what, file: format!("{name}-{n}.svg"), svg })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Sample;
    use crate::workload::{Contender, Workload};

    fn charts(charts: Charts) -> Vec<Chart> {
        let contenders = [OURS, "peer"].map(|name| Contender { name, run: |_| Vec::new() }).into();
        let (page, goals) = (Page::Locks, Vec::new());
        let workload =
            Workload { name: "test", about: "", baseline: "peer", contenders, goals, page, charts };
        let mut results = Results { topic: workload.topic(), series: Vec::new(), failures: Vec::new() };
        for (n, contender) in [(4, OURS), (4, "peer"), (16, OURS), (16, "peer")] {
            results.add(contender, Sample::new("rate", n, Unit::PerSecond, 1e6 * n as f64));
            results.add(contender, Sample::new("wait", n, Unit::Nanos, 0.0));
        }
        assert!(all(&[], Page::Locks).is_empty());
        all(&[results], Page::Locks)
    }

    #[test]
    fn rates_have_one_chart_with_all_contenders() {
        let charts = charts(Charts::RateAgainstN { rate: "rate" });
        let [chart] = &charts[..] else { panic!("{} charts", charts.len()) };
        assert_eq!((&*chart.workload, &*chart.what, &*chart.file), ("test", "rate", "test-rate.svg"));
        assert!(chart.svg.contains(OURS) && chart.svg.contains("peer"));
    }

    #[test]
    fn rates_against_waits_have_one_chart_per_size_even_without_a_wait() {
        let charts = charts(Charts::RateAgainstWait { rate: "rate", waits: &["wait"] });
        let files = charts.iter().map(|chart| chart.file.as_str()).collect::<Vec<_>>();
        assert_eq!(files, ["test-4.svg", "test-16.svg"]);
        assert!(charts.iter().all(|chart| chart.svg.contains(OURS) && chart.svg.contains("peer")));
    }
}
