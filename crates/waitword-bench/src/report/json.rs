//! Every figure of every round.

use std::io;

use serde::Serialize;

use crate::results::Results;
use crate::series::Series;

#[derive(Serialize)]
struct Entry<'a> {
    workload: &'a str,
    baseline: &'a str,
    series: &'a [Series],
}

pub(crate) fn document(results: &[Results<'_>]) -> io::Result<String> {
    let entries = results.iter().map(|results| Entry {
        workload: results.topic.name,
        baseline: results.topic.baseline,
        series: &results.series,
    });
    Ok(serde_json::to_string_pretty(&entries.collect::<Vec<_>>())? + "\n")
}
