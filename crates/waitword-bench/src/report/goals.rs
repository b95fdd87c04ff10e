//! Goals against figures.

use std::fmt;

use crate::runner::Results;
use crate::series::{Figure, Series};
use crate::workload::{Bound, Goal, Limit, OURS, Sizes, is_peer};

/// How a goal was met, at the size where it was met worst.
pub(crate) struct Check {
    pub(crate) met: bool,
    pub(crate) what: &'static str,
    pub(crate) n: usize,
    /// "27 ns"
    pub(crate) ours: String,
    /// "≤ 25 ns"
    pub(crate) target: String,
    /// " (tokio)", " (0.95 × tokio)", or nothing.
    pub(crate) because: String,
    /// How much of what the goal allows was used: at most 1 if it was met.
    used: f64,
}

/// One check per goal, if what it is about was measured.
pub(crate) fn checks(results: &Results<'_>) -> Vec<Check> {
    results.workload.goals.iter().filter_map(|goal| worst(results, goal)).collect()
}

fn worst(results: &Results<'_>, goal: &Goal) -> Option<Check> {
    let ours = || results.series.iter().filter(|series| series.contender == OURS && series.what == goal.what);
    let smallest = ours().min_by_key(|series| series.n)?;
    let largest = ours().max_by_key(|series| series.n)?;
    let judged = ours().filter(|series| match goal.at {
        Sizes::All => true,
        Sizes::Largest => series.n == largest.n,
        Sizes::Only(n) => series.n == n,
    });
    let checks = judged.filter_map(|series| check(results, series, goal, smallest));
    checks.max_by(|a, b| a.used.total_cmp(&b.used))
}

/// Nothing where the figure to compare with was not measured.
fn check(results: &Results<'_>, series: &Series, goal: &Goal, smallest: &Series) -> Option<Check> {
    let n = series.n;
    let (target, because) = match goal.limit {
        Limit::Value(value) => (value, String::new()),
        Limit::Times(factor, peer) => {
            let failed = || results.failures.iter().any(|(contender, _)| *contender == peer);
            let theirs = match results.find(peer, series.what, n) {
                Some(theirs) => theirs.median(),
                None if failed() => return Some(alone(series, peer)),
                None => return None,
            };
            (factor * theirs, of(factor, peer))
        }
        Limit::TimesBest(factor) => {
            let best = best_peer(results, series, goal.bound, |_| true)?;
            (factor * best.median(), of(factor, format!("{}, the best", best.contender)))
        }
        Limit::TimesBestWith(factor, what, least) => {
            let enough =
                |peer: &str| results.find(peer, what, n).is_some_and(|other| other.median() >= least);
            let best = best_peer(results, series, goal.bound, enough)?;
            let name = best.contender;
            (factor * best.median(), of(factor, format!("{name}, the best with {what} ≥ {least}")))
        }
        Limit::TimesOwn(factor, what) => {
            let own = results.find(OURS, what, n)?.median();
            (factor * own, of(factor, what))
        }
        Limit::TimesSmallest(_) if smallest.n == n => return None,
        Limit::TimesSmallest(factor) => {
            (factor * smallest.median(), of(factor, format!("that at N = {}", smallest.n)))
        }
    };
    let median = series.median();
    let (met, sign, less, more) = match goal.bound {
        Bound::AtMost => (median <= target, '≤', target, median),
        Bound::AtLeast => (median >= target, '≥', median, target),
    };
    let [median_text, target_text] = [median, target].map(|value| Figure(value, series.unit).to_string());
    let target = format!("{sign} {target_text}");
    let used = match met {
        false if less <= 0.0 => f64::INFINITY,
        true if less <= 0.0 => 0.0,
        _ => more / less,
    };
    Some(Check { met, what: series.what, n, ours: median_text, target, because, used })
}

/// Whose figure a goal is a multiple of.
fn of(factor: f64, whose: impl fmt::Display) -> String {
    if factor == 1.0 { format!(" ({whose})") } else { format!(" ({factor:.2} × {whose})") }
}

/// A peer that did not finish is behind.
fn alone(series: &Series, peer: &str) -> Check {
    let ours = Figure(series.median(), series.unit).to_string();
    let target = format!("to be ahead of {peer}, which did not finish");
    Check { met: true, what: series.what, n: series.n, ours, target, because: String::new(), used: 0.0 }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, n, ours, target, because, .. } = self;
        write!(f, "{what}, N = {n}: {ours}, goal {target}{because}")
    }
}

/// The peer with the best figure of the same operation and size, among those that `counts` admits.
pub(crate) fn best_peer<'a>(
    results: &'a Results<'_>,
    series: &Series,
    bound: Bound,
    counts: impl Fn(&str) -> bool,
) -> Option<&'a Series> {
    let peers = results.contenders().filter(|peer| is_peer(peer) && counts(peer));
    let figures = peers.filter_map(|peer| results.find(peer, series.what, series.n));
    figures.max_by(|a, b| match bound {
        Bound::AtMost => b.median().total_cmp(&a.median()),
        Bound::AtLeast => a.median().total_cmp(&b.median()),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{results, workload};
    use super::*;
    use crate::series::{Sample, Unit};
    use crate::workload::Workload;

    fn judged(workload: &Workload, samples: Vec<(&'static str, Sample)>) -> Vec<(bool, String)> {
        let checks = checks(&results(workload, samples));
        checks.into_iter().map(|check| (check.met, check.to_string())).collect()
    }

    #[test]
    fn a_goal_is_judged_where_it_is_met_worst() {
        let goal = |limit, at| Goal { what: "wait", bound: Bound::AtMost, limit, at };
        let goals = vec![
            goal(Limit::Times(2.0, "peer"), Sizes::All),
            goal(Limit::Times(2.0, "peer"), Sizes::Largest),
            goal(Limit::Value(40.0), Sizes::All),
            goal(Limit::TimesSmallest(2.0), Sizes::All),
        ];
        let sample = |n, value| Sample::new("wait", n, Unit::Nanos, value);
        let samples = vec![
            (OURS, sample(1, 10.0)),
            (OURS, sample(1000, 30.0)),
            ("peer", sample(1, 4.0)),
            ("peer", sample(1000, 20.0)),
        ];
        assert_eq!(
            judged(&workload(&[OURS, "peer"], goals), samples),
            [
                (false, "wait, N = 1: 10 ns, goal ≤ 8 ns (2.00 × peer)".to_owned()),
                (true, "wait, N = 1000: 30 ns, goal ≤ 40 ns (2.00 × peer)".to_owned()),
                (true, "wait, N = 1000: 30 ns, goal ≤ 40 ns".to_owned()),
                (false, "wait, N = 1000: 30 ns, goal ≤ 20 ns (2.00 × that at N = 1)".to_owned()),
            ]
        );
    }

    #[test]
    fn more_is_better_where_a_goal_says_at_least() {
        let goal = |what, limit, at| Goal { what, bound: Bound::AtLeast, limit, at };
        let goals = vec![
            goal("rate", Limit::Times(0.5, "fast"), Sizes::All),
            goal("rate", Limit::TimesBest(1.0), Sizes::All),
            goal("rate", Limit::TimesBestWith(1.0, "even", 0.5), Sizes::All),
            goal("even", Limit::Value(0.75), Sizes::Only(4)),
        ];
        let rate = |n, value| Sample::new("rate", n, Unit::PerSecond, value);
        let even = |n, value| Sample::new("even", n, Unit::Ratio, value);
        let samples = vec![
            (OURS, rate(2, 3e6)),
            (OURS, rate(4, 2e6)),
            (OURS, even(2, 0.1)),
            (OURS, even(4, 0.75)),
            ("fast", rate(2, 4e6)),
            ("fast", rate(4, 8e6)),
            ("fast", even(2, 0.0)),
            ("fast", even(4, 0.0)),
            ("fair", rate(2, 1e6)),
            ("fair", rate(4, 1e6)),
            ("fair", even(2, 1.0)),
            ("fair", even(4, 1.0)),
            ("none (limit)", rate(2, 9e6)),
            ("none (limit)", rate(4, 9e6)),
        ];
        assert_eq!(
            judged(&workload(&[OURS, "fast", "fair", "none (limit)"], goals), samples),
            [
                (false, "rate, N = 4: 2.00 M/s, goal ≥ 4.00 M/s (0.50 × fast)".to_owned()),
                (false, "rate, N = 4: 2.00 M/s, goal ≥ 8.00 M/s (fast, the best)".to_owned()),
                (true, "rate, N = 4: 2.00 M/s, goal ≥ 1.00 M/s (fair, the best with even ≥ 0.5)".to_owned()),
                (true, "even, N = 4: 0.75, goal ≥ 0.75".to_owned()),
            ]
        );
    }
}
