//! Every figure of every round, and how each goal was met.

use std::io;

use serde::Serialize;

use crate::report::goals;
use crate::results::Results;
use crate::series::Series;

#[derive(Serialize)]
struct Entry<'a> {
    workload: &'a str,
    baseline: &'a str,
    series: &'a [Series],
    goals: Vec<Goal>,
}

#[derive(Serialize)]
struct Goal {
    met: bool,
    text: String,
}

pub(crate) fn document(results: &[Results<'_>]) -> io::Result<String> {
    let entries = results.iter().map(|results| Entry {
        workload: results.topic.name,
        baseline: results.topic.baseline,
        series: &results.series,
        goals: goals::checks(results)
            .into_iter()
            .map(|check| Goal { met: check.met, text: check.text })
            .collect(),
    });
    Ok(serde_json::to_string_pretty(&entries.collect::<Vec<_>>())? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{Sample, Unit};
    use crate::workload::{Charts, Contender, Limit, OURS, Page, Workload, goal};

    #[test]
    fn has_every_round_and_how_the_goals_are_met() {
        let contenders = vec![Contender { name: OURS, run: |_| Vec::new() }];
        let (goals, page, charts) = (vec![goal("wait", Limit::Value(1.0))], Page::Queue, Charts::None);
        let workload =
            Workload { name: "test", about: "", baseline: "peer", contenders, goals, page, charts };
        let mut results = Results { topic: workload.topic(), series: Vec::new(), failures: Vec::new() };
        for value in [2.0, 4.0] {
            results.add(OURS, Sample::new("wait", 1, Unit::Nanos, value));
        }
        let parsed = document(&[results]).unwrap().parse::<serde_json::Value>().unwrap();
        assert_eq!(parsed[0]["series"][0]["values"], serde_json::json!([2.0, 4.0]));
        let text = "wait, N = 1: 3 ns, goal ≤ 1 ns";
        assert_eq!(parsed[0]["goals"], serde_json::json!([{ "met": false, "text": text }]));
    }
}
