//! What came out of a workload: a series per contender, operation and size.

use crate::series::{Sample, Series};
use crate::workload::Topic;

/// What came out of one workload.
pub(crate) struct Results<'a> {
    pub(crate) topic: Topic<'a>,
    pub(crate) series: Vec<Series>,
    /// The contenders that did not finish, and why, in the words of the report.
    pub(crate) failures: Vec<(&'static str, String)>,
}

impl Results<'_> {
    /// Adds what one contender measured in one round.
    pub(crate) fn add(&mut self, contender: &'static str, sample: Sample) {
        let Sample { what, n, unit, value, wall } = sample;
        let known = self.series.iter().position(|s| s.contender == contender && s.what == what && s.n == n);
        let index = known.unwrap_or_else(|| {
            self.series.push(Series { contender, what, n, unit, values: Vec::new(), walls: Vec::new() });
            self.series.len() - 1
        });
        self.series[index].values.push(value);
        self.series[index].walls.extend(wall);
    }

    /// The series of one contender, operation and size.
    pub(crate) fn find(&self, contender: &str, what: &str, n: usize) -> Option<&Series> {
        self.series.iter().find(|s| s.contender == contender && s.what == what && s.n == n)
    }
}
