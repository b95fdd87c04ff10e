//! Figures: one per contender and round, their median over the rounds, and their format.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::{Command, Stdio};

/// One figure of one contender in one round.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// The operation, for instance `enqueue`.
    pub(crate) what: &'static str,
    /// The number of waiters, words or threads.
    pub(crate) n: usize,
    pub(crate) unit: Unit,
    pub(crate) value: f64,
    /// The wall time, if `value` is the CPU time of the only thread that worked.
    pub(crate) wall: Option<f64>,
}

impl Sample {
    pub(crate) fn new(what: &'static str, n: usize, unit: Unit, value: f64) -> Self {
        Self { what, n, unit, value, wall: None }
    }
}

/// Times of several operations of the same size.
pub(crate) fn nanos<const N: usize>(n: usize, figures: [(&'static str, f64); N]) -> Vec<Sample> {
    figures.map(|(what, value)| Sample::new(what, n, Unit::Nanos, value)).into()
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Nanos,
    Bytes,
    Count,
    PerSecond,
    /// One figure divided by another, from 0 to 1.
    Ratio,
}

/// The figures of one workload.
pub(crate) struct Figures {
    workload: &'static str,
    series: Vec<Series>,
}

/// The samples of one contender for one operation and size.
struct Series {
    contender: &'static str,
    /// In the order of the rounds.
    samples: Vec<Sample>,
}

impl Figures {
    pub(crate) fn of(workload: &'static str) -> Self {
        Self { workload, series: Vec::new() }
    }

    /// Adds the figures of one contender in one round.
    pub(crate) fn add(&mut self, contender: &'static str, sample: Sample) {
        let same = |it: &&mut Series| {
            it.contender == contender && (it.samples[0].what, it.samples[0].n) == (sample.what, sample.n)
        };
        match self.series.iter_mut().find(same) {
            Some(series) => series.samples.push(sample),
            None => self.series.push(Series { contender, samples: vec![sample] }),
        }
    }
}

/// All rows as CSV, in units without prefixes and with four significant digits.
pub(crate) fn csv(all: &[Figures]) -> String {
    let mut text = "workload,operation,n,contender,unit,median,least,most,wall\n".to_owned();
    for Figures { workload, series } in all {
        for Series { contender, samples } in series {
            let Sample { what, n, unit, .. } = samples[0];
            let unit = match unit {
                Unit::Nanos => "ns",
                Unit::Bytes => "B",
                Unit::Count => "count",
                Unit::PerSecond => "per second",
                Unit::Ratio => "ratio",
            };
            let values = samples.iter().map(|sample| sample.value).collect::<Vec<_>>();
            let walls = samples.iter().filter_map(|sample| sample.wall).collect::<Vec<_>>();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let [median, least, most] = [median(&values), least, most].map(four_digits);
            let wall = if walls.is_empty() { "" } else { &four_digits(self::median(&walls)).to_string() };
            let row =
                format!("{workload},\"{what}\",{n},\"{contender}\",{unit},{median},{least},{most},{wall}");
            let _ = writeln!(text, "{row}");
        }
    }
    text
}

fn four_digits(value: f64) -> f64 {
    // Rust can parse each number that it formats.
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The median. There is at least one value.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

/// The script that makes tables, the page of missed goals and pictures from CSV.
pub(crate) fn report() -> Command {
    let mut node = Command::new("node");
    node.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/report.mjs"));
    node
}

/// Runs a program with the text as its input. Returns whether the program exists.
///
/// # Errors
/// If the program does not read the text, or fails.
pub(crate) fn pipe(text: &str, program: &mut Command) -> io::Result<bool> {
    let mut child = match program.stdin(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let written = child.stdin.take().expect("it is piped").write_all(text.as_bytes());
    let ended = child.wait()?;
    if ended.success() {
        written.map(|()| true)
    } else {
        Err(io::Error::other(format!("{program:?}: {ended}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_has_a_row_for_each_contender_and_size() {
        let mut figures = Figures::of("test");
        for value in [1.0, 123_456.0, 2.0] {
            let wait = Sample { wall: Some(value), ..Sample::new("wait, then", 8, Unit::Nanos, value) };
            figures.add("waitword", wait);
        }
        figures.add("peer, other", Sample::new("size", 1, Unit::Bytes, 0.0));
        assert_eq!(
            csv(&[figures]),
            "workload,operation,n,contender,unit,median,least,most,wall\n\
             test,\"wait, then\",8,\"waitword\",ns,2,1,123500,2\n\
             test,\"size\",1,\"peer, other\",B,0,0,0,\n"
        );
    }

    #[test]
    fn the_median_ignores_one_bad_round() {
        assert_eq!(median(&[3.0, 900.0, 1.0]), 3.0);
        assert_eq!(median(&[4.0, 2.0]), 3.0);
    }

    /// The tests of the report, and of the runner of scripts.
    #[test]
    fn the_scripts_pass_their_tests() {
        let mut tests = Command::new("node");
        tests.args(["--test", concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/tests.mjs")]);
        if !pipe("", tests.stdout(Stdio::null())).unwrap() {
            crate::skip::skip("tests of the benchmarks' report", "Node is not installed");
        }
    }
}
