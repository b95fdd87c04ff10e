//! Goals against figures.

use crate::runner::Results;
use crate::series::{Figure, Series};
use crate::workloads::{Goal, Limit, OURS};

/// How one goal was met, at every size.
pub(crate) struct Verdict {
    pub(crate) met: bool,
    /// "enqueue, N = 1000: 27 ns, goal 25 ns".
    pub(crate) text: String,
}

pub(crate) fn verdicts(results: &Results<'_>) -> Vec<Verdict> {
    results.workload.goals.iter().flat_map(|goal| verdicts_on(results, goal)).collect()
}

fn verdicts_on(results: &Results<'_>, goal: &Goal) -> Vec<Verdict> {
    let ours = |what: &str| {
        let mut ours =
            results.series.iter().filter(|s| s.contender == OURS && s.what == what).collect::<Vec<_>>();
        ours.sort_by_key(|series| series.n);
        ours
    };
    let of_goal = ours(goal.what);
    let smallest = of_goal.first().map(|series| (series.n, series.median()));
    of_goal.iter().filter_map(|series| verdict(results, series, goal.limit, smallest)).collect()
}

/// Nothing where the figure to compare with was not measured.
fn verdict(
    results: &Results<'_>,
    series: &Series,
    limit: Limit,
    smallest: Option<(usize, f64)>,
) -> Option<Verdict> {
    let n = series.n;
    let (allowed, because) = match limit {
        Limit::AtMost(most) => (most, String::new()),
        Limit::Times(factor, peer) => {
            let theirs = results.find(peer, series.what, n)?.median();
            (factor * theirs, format!(" ({factor:.2} × {peer})"))
        }
        Limit::TimesOwn(factor, what) => {
            let own = results.find(OURS, what, n)?.median();
            (factor * own, format!(" ({factor:.2} × {what})"))
        }
        Limit::TimesSmallest(factor) => {
            let (least, own) = smallest.filter(|&(least, _)| least != n)?;
            (factor * own, format!(" ({factor:.2} × that at N = {least})"))
        }
    };
    let median = series.median();
    let [median_text, allowed_text] = [median, allowed].map(|value| Figure(value, series.unit).to_string());
    let text = format!("{}, N = {n}: {median_text}, goal ≤ {allowed_text}{because}", series.what);
    Some(Verdict { met: median <= allowed, text })
}
