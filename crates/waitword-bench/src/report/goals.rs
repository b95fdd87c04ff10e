//! Goals against figures.

use crate::runner::Results;
use crate::series::{Figure, Series};
use crate::workloads::{Goal, Limit, OURS, Sizes};

/// How a goal was met, at the size where it was met worst.
pub(crate) struct Verdict {
    pub(crate) met: bool,
    /// "enqueue, N = 1000: 27 ns, goal ≤ 25 ns".
    pub(crate) text: String,
    /// How much of what the goal allows was used: at most 1 if it was met.
    used: f64,
}

/// One verdict per goal, if what it is about was measured.
pub(crate) fn verdicts(results: &Results<'_>) -> Vec<Verdict> {
    results.workload.goals.iter().filter_map(|goal| worst(results, goal)).collect()
}

fn worst(results: &Results<'_>, goal: &Goal) -> Option<Verdict> {
    let ours = || results.series.iter().filter(|series| series.contender == OURS && series.what == goal.what);
    let smallest = ours().min_by_key(|series| series.n)?;
    let largest = ours().max_by_key(|series| series.n)?;
    let judged = ours().filter(|series| goal.at == Sizes::All || series.n == largest.n);
    let verdicts = judged.filter_map(|series| verdict(results, series, goal.limit, smallest));
    verdicts.max_by(|a, b| a.used.total_cmp(&b.used))
}

/// Nothing where the figure to compare with was not measured.
fn verdict(results: &Results<'_>, series: &Series, limit: Limit, smallest: &Series) -> Option<Verdict> {
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
        Limit::TimesSmallest(_) if smallest.n == n => return None,
        Limit::TimesSmallest(factor) => {
            (factor * smallest.median(), format!(" ({factor:.2} × that at N = {})", smallest.n))
        }
    };
    let median = series.median();
    let [median_text, allowed_text] = [median, allowed].map(|value| Figure(value, series.unit).to_string());
    let text = format!("{}, N = {n}: {median_text}, goal ≤ {allowed_text}{because}", series.what);
    let met = median <= allowed;
    let used = match met {
        false if allowed <= 0.0 => f64::INFINITY,
        true if allowed <= 0.0 => 0.0,
        _ => median / allowed,
    };
    Some(Verdict { met, text, used })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{Sample, Unit};
    use crate::workloads::{Contender, Workload};

    #[test]
    fn a_goal_is_judged_where_it_is_met_worst() {
        let contender = |name| Contender { name, run: |_| Vec::new() };
        let workload = Workload {
            name: "test",
            about: "",
            baseline: "peer",
            contenders: vec![contender(OURS), contender("peer")],
            goals: vec![
                Goal { what: "wait", limit: Limit::Times(2.0, "peer"), at: Sizes::All },
                Goal { what: "wait", limit: Limit::Times(2.0, "peer"), at: Sizes::Largest },
                Goal { what: "wait", limit: Limit::AtMost(40.0), at: Sizes::All },
                Goal { what: "wait", limit: Limit::TimesSmallest(2.0), at: Sizes::All },
            ],
            charted: false,
        };
        let mut results = Results { workload: &workload, series: Vec::new() };
        for (contender, n, value) in
            [(OURS, 1, 10.0), (OURS, 1000, 30.0), ("peer", 1, 4.0), ("peer", 1000, 20.0)]
        {
            results.add(contender, Sample::new("wait", n, Unit::Nanos, value));
        }
        let verdicts = verdicts(&results);
        let said = verdicts.iter().map(|verdict| (verdict.met, verdict.text.as_str())).collect::<Vec<_>>();
        assert_eq!(
            said,
            [
                (false, "wait, N = 1: 10 ns, goal ≤ 8 ns (2.00 × peer)"),
                (true, "wait, N = 1000: 30 ns, goal ≤ 40 ns (2.00 × peer)"),
                (true, "wait, N = 1000: 30 ns, goal ≤ 40 ns"),
                (false, "wait, N = 1000: 30 ns, goal ≤ 20 ns (2.00 × that at N = 1)"),
            ]
        );
    }
}
