//! The tables that are printed, and what is kept: the page of the goals that are missed, and all figures as CSV.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::goals::{self, Check};
use crate::platform::cpu_model;
use crate::runner::Results;
use crate::series::{Figure, Series, Unit};
use crate::workload::{Bound, OURS};

/// A table for each workload.
pub(super) fn all(results: &[Results<'_>]) -> String {
    let mut text = String::new();
    for results in results {
        let _ = write!(text, "\n## {}\n\n{}\n", results.workload.name, results.workload.about);
        table(&mut text, results);
        failures(&mut text, results);
    }
    text
}

/// A row per operation and size, a column per contender. The figures are medians; `÷ best` is ours divided by the best peer's, which is
/// in bold.
fn table(text: &mut String, results: &Results<'_>) {
    let checks = goals::checks(results);
    let measured = |name: &&str| results.series.iter().any(|series| series.contender == *name);
    let contenders = results.contenders().filter(measured).collect::<Vec<_>>();
    let head = [&["", "N"], &contenders[..], &["÷ best", "goal"]].concat();
    let _ = write!(text, "\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for (what, n) in rows(results) {
        let best = best(results, what, n);
        let cell = |name: &&str| match results.find(name, what, n) {
            Some(series) if best.is_some_and(|best| best.contender == *name) => {
                format!("**{}**", median(series))
            }
            Some(series) => median(series),
            None => "–".to_owned(),
        };
        let ratio = results.find(OURS, what, n).zip(best).map(|(ours, best)| ours.median() / best.median());
        let ratio = ratio.filter(|ratio| ratio.is_finite());
        let mut row = vec![what.to_owned(), n.to_string()];
        row.extend(contenders.iter().map(cell));
        row.push(ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}")));
        row.push(goal(&checks, what, n, results));
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
}

/// Operations in the order in which they were measured first, each with its sizes.
fn rows(results: &Results<'_>) -> Vec<(&'static str, usize)> {
    let mut operations = Vec::new();
    for series in &results.series {
        if !operations.contains(&series.what) {
            operations.push(series.what);
        }
    }
    let sizes_of = |what| {
        let sizes = results.series.iter().filter(move |series| series.what == what).map(|series| series.n);
        sizes.collect::<BTreeSet<_>>().into_iter().map(move |n| (what, n))
    };
    operations.into_iter().flat_map(sizes_of).collect()
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

fn failures(text: &mut String, results: &Results<'_>) {
    for (contender, why) in &results.failures {
        let _ = writeln!(text, "\n{}: **{contender} did not finish:** {why}", results.workload.name);
    }
}

/// The page that is kept: what was missed, when, and where all figures are.
pub(super) fn page(results: &[Results<'_>], command: &str, against: &[String], figures: &str) -> String {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let cpu = cpu_model().unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let system = std::env::consts::OS;
    let against = if against.is_empty() { "nobody".to_owned() } else { against.join(", ") };
    let mut text = format!(
        "# Goals that are missed\n\n\
         Written by `{command}` on {cpu}, {cpus} CPUs, {system}, beside {against}. All figures, of all contenders at all sizes: [{figures}]({figures}). \
         How to read them: [benches](../README.md). Why a goal is missed: [costs](../../docs/costs.md).\n\n\
         | workload: operation (N) | ours | goal |\n|---|---|---|\n"
    );
    for results in results {
        let missed = goals::checks(results).into_iter().filter(|check| !check.met).collect::<Vec<_>>();
        for same in missed.chunk_by(|one, other| (one.what, one.n) == (other.what, other.n)) {
            let Check { what, n, ours, .. } = &same[0];
            let goals = same.iter().map(|check| format!("{}{}", check.target, check.because));
            let goals = goals.collect::<Vec<_>>().join("; ");
            let _ = writeln!(text, "| {}: {what} ({n}) | {ours} | {goals} |", results.workload.name);
        }
        failures(&mut text, results);
    }
    text
}

/// All rows, in units without prefixes and in four significant digits.
pub(super) fn csv(results: &[Results<'_>]) -> String {
    let mut text = "workload,operation,n,contender,unit,median,least,most,wall\n".to_owned();
    for results in results {
        for series in &results.series {
            let figures = [series.median(), series.least(), series.most()].map(four_digits);
            let [median, least, most] = figures;
            let wall = series.wall().map(|wall| four_digits(wall).to_string()).unwrap_or_default();
            let (name, what, contender) = (results.workload.name, series.what, series.contender);
            let (n, unit) = (series.n, unit(series.unit));
            let _ =
                writeln!(text, "{name},\"{what}\",{n},\"{contender}\",{unit},{median},{least},{most},{wall}");
        }
    }
    text
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanos => "ns",
        Unit::Bytes => "B",
        Unit::Count => "count",
        Unit::PerSecond => "per second",
        Unit::Ratio => "ratio",
    }
}

fn four_digits(value: f64) -> f64 {
    // Rust reads back every number that it writes.
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{results, workload};
    use super::*;
    use crate::series::Sample;
    use crate::workload::{Limit, at_least};

    #[test]
    fn a_row_has_all_contenders_and_says_whether_its_goals_are_met() {
        let names = [OURS, "slow", "fast", "none (limit)"];
        let goals = vec![
            at_least("rate", Limit::Value(1e6)),
            at_least("rate", Limit::Times(1.0, "slow")),
            at_least("share", Limit::Value(0.5)),
            at_least("share", Limit::Value(0.75)),
        ];
        let workload = workload(&names, goals);
        let rates = [[2e6, 3e6], [4e6, 1e6], [1e6, 6e6], [9e6, 9e6]];
        let mut samples = Vec::new();
        for (name, rates) in names.into_iter().zip(rates) {
            let rate = |(n, rate)| (name, Sample::new("rate", n, Unit::PerSecond, rate));
            samples.extend([2, 16].into_iter().zip(rates).map(rate));
        }
        samples.push((OURS, Sample::new("share", 16, Unit::Ratio, 0.2)));
        let results = [results(&workload, samples)];
        let expected = "
## test

About.

|  | N | waitword | slow | fast | none (limit) | ÷ best | goal |
|---|---|---|---|---|---|---|---|
| rate | 2 | 2.00 M/s | **4.00 M/s** | 1.00 M/s | 9.00 M/s | 0.50 | **missed:** ≥ 4.00 M/s |
| rate | 16 | 3.00 M/s | 1.00 M/s | **6.00 M/s** | 9.00 M/s | 0.50 |  |
| share | 16 | 0.20 | – | – | – | – | **missed:** ≥ 0.50; ≥ 0.75 |
";
        assert_eq!(all(&results), expected);
        let expected = "
| test: rate (2) | 2.00 M/s | ≥ 4.00 M/s (slow) |
| test: share (16) | 0.20 | ≥ 0.50; ≥ 0.75 |
";
        assert!(page(&results, "measure", &[], "all.csv").ends_with(expected));
    }

    #[test]
    fn csv_has_a_row_for_each_contender_and_size() {
        let workload = workload(&[OURS, "peer, other"], Vec::new());
        let wait = |value| Sample { wall: Some(value), ..Sample::new("wait, then", 8, Unit::Nanos, value) };
        let mut samples = Vec::from([1.0, 123_456.0, 2.0].map(|value| (OURS, wait(value))));
        samples.push(("peer, other", Sample::new("size", 1, Unit::Bytes, 0.0)));
        assert_eq!(
            csv(&[results(&workload, samples)]),
            "workload,operation,n,contender,unit,median,least,most,wall\n\
             test,\"wait, then\",8,\"waitword\",ns,2,1,123500,2\n\
             test,\"size\",1,\"peer, other\",B,0,0,0,\n"
        );
    }
}
