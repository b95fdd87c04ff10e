//! All figures for other programs: CSV with a row for every contender at every size, JSON with every round.

use std::fmt::Write as _;
use std::io;

use serde::Serialize;

use super::goals;
use crate::runner::Results;
use crate::series::{Series, Unit};

/// All rows, in units without prefixes and in four significant digits.
pub(super) fn csv(results: &[Results<'_>]) -> String {
    let mut text = "workload,operation,n,contender,unit,median,least,most,wall\n".to_owned();
    for results in results {
        for series in &results.series {
            let figures = [series.median(), series.least(), series.most()].map(four_digits);
            let [median, least, most] = figures;
            let wall = series.wall().map(|wall| four_digits(wall).to_string()).unwrap_or_default();
            let (name, what, contender) = (results.topic.name, series.what, series.contender);
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

/// What JSON says of a workload.
#[derive(Serialize)]
struct Entry<'a> {
    workload: &'a str,
    series: &'a [Series],
    goals: Vec<Goal>,
}

#[derive(Serialize)]
struct Goal {
    met: bool,
    text: String,
}

/// Every figure of every round, and how each goal was met.
pub(super) fn json(results: &[Results<'_>]) -> io::Result<String> {
    let entries = results.iter().map(|results| Entry {
        workload: results.topic.name,
        series: &results.series,
        goals: goals::checks(results)
            .into_iter()
            .map(|check| Goal { met: check.met, text: check.to_string() })
            .collect(),
    });
    Ok(serde_json::to_string_pretty(&entries.collect::<Vec<_>>())? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Sample;
    use crate::workload::{Contender, Limit, OURS, Workload, goal};

    fn workload() -> Workload {
        Workload {
            name: "test",
            about: "",
            contenders: [OURS, "peer, other"].map(|name| Contender { name, run: |_| Vec::new() }).into(),
            goals: vec![goal("wait, then", Limit::Value(1.0))],
        }
    }

    fn results(workload: &Workload) -> [Results<'_>; 1] {
        let mut results = Results::new(workload.topic());
        for value in [1.0, 123_456.0, 2.0] {
            let sample = Sample { wall: Some(value), ..Sample::new("wait, then", 8, Unit::Nanos, value) };
            results.add(OURS, sample);
        }
        results.add("peer, other", Sample::new("size", 1, Unit::Bytes, 0.0));
        [results]
    }

    #[test]
    fn csv_has_a_row_for_each_contender_and_size() {
        let workload = workload();
        assert_eq!(
            csv(&results(&workload)),
            "workload,operation,n,contender,unit,median,least,most,wall\n\
             test,\"wait, then\",8,\"waitword\",ns,2,1,123500,2\n\
             test,\"size\",1,\"peer, other\",B,0,0,0,\n"
        );
    }

    #[test]
    fn json_has_every_round_and_how_the_goals_are_met() {
        let workload = workload();
        let parsed = json(&results(&workload)).unwrap().parse::<serde_json::Value>().unwrap();
        assert_eq!(parsed[0]["series"][0]["values"], serde_json::json!([1.0, 123_456.0, 2.0]));
        let text = "wait, then, N = 8: 2 ns, goal ≤ 1 ns";
        assert_eq!(parsed[0]["goals"], serde_json::json!([{ "met": false, "text": text }]));
    }
}
