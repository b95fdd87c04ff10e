//! Figures: one per contender and round, and what a series of rounds says.

use std::fmt;

use serde::Deserialize;

/// What a lock gives threads and tasks that contend for it, in the words of the tables. A workload that has both has a picture.
pub(crate) const RATE: &str = "acquisitions";
pub(crate) const WAITS: [&str; 2] = ["longest wait of a thread", "longest wait of a task"];

/// One figure of one contender in one round.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Which operation, for instance `enqueue`.
    pub(crate) what: &'static str,
    /// How many waiters, words or threads there were.
    pub(crate) n: usize,
    pub(crate) unit: Unit,
    pub(crate) value: f64,
    /// Wall time, where `value` is the CPU time of the only thread that worked.
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

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Nanos,
    Bytes,
    Count,
    PerSecond,
    /// One figure divided by another, from 0 to 1.
    Ratio,
}

/// A figure with its unit, in as many digits as it deserves.
pub(crate) struct Figure(pub(crate) f64, pub(crate) Unit);

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value, unit) = *self;
        let (value, name) = match unit {
            Unit::Nanos if value >= 1e6 => (value / 1e6, " ms"),
            Unit::Nanos if value >= 1e4 => (value / 1e3, " µs"),
            Unit::Nanos => (value, " ns"),
            Unit::Bytes if value.abs() >= 1e6 => (value / 1e6, " MB"),
            Unit::Bytes if value.abs() >= 1e4 => (value / 1e3, " kB"),
            Unit::Bytes => (value, " B"),
            Unit::Count => (value, ""),
            Unit::PerSecond if value >= 1e5 => return write!(f, "{:.2} M/s", value / 1e6),
            Unit::PerSecond if value >= 1e3 => (value / 1e3, " k/s"),
            Unit::PerSecond => (value, "/s"),
            Unit::Ratio => return write!(f, "{value:.2}"),
        };
        let digits = if (0.05..10.0).contains(&value.abs()) && value.fract() != 0.0 { 1 } else { 0 };
        write!(f, "{value:.digits$}{name}")
    }
}

/// The figures of one contender for one operation and size, over all rounds.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) contender: &'static str,
    pub(crate) what: &'static str,
    pub(crate) n: usize,
    pub(crate) unit: Unit,
    /// In the order of the rounds.
    pub(crate) values: Vec<f64>,
    /// Wall time of the same rounds, where it was taken.
    pub(crate) walls: Vec<f64>,
}

impl Series {
    pub(crate) fn median(&self) -> f64 {
        median(&self.values)
    }

    pub(crate) fn wall(&self) -> Option<f64> {
        (!self.walls.is_empty()).then(|| median(&self.walls))
    }

    pub(crate) fn least(&self) -> f64 {
        self.values.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn most(&self) -> f64 {
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The middle one, or the mean of the two in the middle. There is at least one.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_one_bad_round() {
        assert_eq!(median(&[3.0, 900.0, 1.0]), 3.0);
        assert_eq!(median(&[4.0, 2.0]), 3.0);
    }

    #[test]
    fn figures_are_short() {
        assert_eq!(Figure(7.25, Unit::Nanos).to_string(), "7.2 ns");
        assert_eq!(Figure(640_000.0, Unit::Nanos).to_string(), "640 µs");
        assert_eq!(Figure(80.0, Unit::Bytes).to_string(), "80 B");
        assert_eq!(Figure(0.000_3, Unit::Count).to_string(), "0");
        assert_eq!(Figure(4.6e6, Unit::PerSecond).to_string(), "4.60 M/s");
        assert_eq!(Figure(47_100.0, Unit::PerSecond).to_string(), "47 k/s");
        assert_eq!(Figure(0.052, Unit::Ratio).to_string(), "0.05");
    }
}
