//! What the pages leave out: every contender at every size, a row each.

use std::fmt::Write as _;

use crate::results::Results;
use crate::series::Unit;
use crate::workload::Page;

/// The rows of one page, in units without prefixes and in four significant digits.
pub(crate) fn document(results: &[Results<'_>], page: Page) -> String {
    let mut text = "workload,operation,n,contender,unit,median,least,most,wall\n".to_owned();
    for results in results.iter().filter(|results| results.topic.page == page) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Sample;
    use crate::workload::{Charts, Contender, OURS, Workload};

    #[test]
    fn has_a_row_for_each_contender_and_size() {
        let contenders = [OURS, "peer, other"].map(|name| Contender { name, run: |_| Vec::new() }).into();
        let (page, charts, goals) = (Page::Queue, Charts::None, Vec::new());
        let workload =
            Workload { name: "test", about: "", baseline: "peer", contenders, goals, page, charts };
        let mut results = Results { topic: workload.topic(), series: Vec::new(), failures: Vec::new() };
        for value in [1.0, 123_456.0, 2.0] {
            let sample = Sample { wall: Some(value), ..Sample::new("wait, then", 8, Unit::Nanos, value) };
            results.add(OURS, sample);
        }
        results.add("peer, other", Sample::new("size", 1, Unit::Bytes, 0.0));
        let results = [results];
        assert_eq!(
            document(&results, Page::Queue),
            "workload,operation,n,contender,unit,median,least,most,wall\n\
             test,\"wait, then\",8,\"waitword\",ns,2,1,123500,2\n\
             test,\"size\",1,\"peer, other\",B,0,0,0,\n"
        );
        assert_eq!(document(&results, Page::Locks).lines().count(), 1);
    }
}
