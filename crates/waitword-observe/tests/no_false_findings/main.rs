//! Observation of programs that are not stuck finds nothing, for as long as one likes.
//!
//! The rounds of `waitword`'s own soak (`waitword/tests/soak`) drive all locks by threads and tasks, with deadlines, futures that are dropped
//! or left unpolled, and new locks in the places of old ones. Beside them `orders.rs` takes several locks at a time in every way that is no
//! potential deadlock, and `guards.rs` changes, maps and sends guards, and waits inside `timeout` and `select!`. Meanwhile holders are recorded, the order of locks is checked, reports are made one after the other, a trace is
//! started and stopped, and the switch is flipped while locks are held.
//!
//! A false finding is a cycle of any certainty, a holder that has ended, or an order of locks; of the locks of `guards.rs` that are taken
//! against each other, a cycle that is said to be certain. (Futures are left unpolled on purpose, so that `never polled` is said of some is
//! right.)
//!
//! ```sh
//! cargo xtask soak --observe --seconds 300
//! ```

#[path = "../../../waitword/tests/common/mod.rs"]
mod common;
mod guards;
mod orders;
#[path = "../../../waitword/tests/soak/world.rs"]
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use waitword_observe::{Finding, Report, check_lock_order, disable, enable, identify, lock_order, report};
use world::rounds::{seconds_and_seed, soak};

#[test]
#[ignore = "runs for a minute, or as long as WAITWORD_SOAK_SECONDS says"]
fn nothing_is_found_that_is_not_there() {
    let (time, seed) = seconds_and_seed();
    observed(seed, Some(time));
}

#[test]
fn nothing_is_found_in_a_round() {
    observed(common::given_seed().unwrap_or(1), None);
}

/// What is false in a report.
fn is_false(finding: &Finding) -> bool {
    matches!(finding, Finding::Cycle(_) | Finding::PotentialDeadlock(_) | Finding::HolderEnded(_))
        && !guards::is_of_crossed(finding)
}

#[derive(Default)]
struct Watcher {
    reports: AtomicU64,
    never_polled: AtomicU64,
    may_end: AtomicU64,
    ends: AtomicBool,
    found: Mutex<Option<Report>>,
}

impl Watcher {
    /// Makes reports, one after the other, and flips what can be flipped.
    fn run(&self) {
        let mut tracing = None;
        while !self.ends.load(Ordering::Relaxed) {
            let number = self.reports.fetch_add(1, Ordering::Relaxed);
            if number.is_multiple_of(512) {
                disable();
                enable();
                check_lock_order();
            }
            if number.is_multiple_of(100) {
                tracing = tracing.is_none().then(|| waitword_observe::traced(number.is_multiple_of(200)));
            }
            let report = report();
            let unpolled = report
                .findings
                .iter()
                .filter(|found| matches!(found, Finding::NeverPolled(wait) if wait.is_futurelock()));
            self.never_polled.fetch_add(unpolled.count() as u64, Ordering::Relaxed);
            let cycles = report.findings.iter().filter(|found| matches!(found, Finding::Cycle(_)));
            self.may_end.fetch_add(cycles.count() as u64, Ordering::Relaxed);
            if report.findings.iter().any(is_false) {
                *self.found.lock().unwrap() = Some(report);
                return;
            }
            // As often as not the players run in between.
            thread::sleep(Duration::from_micros(500));
        }
    }

    #[track_caller]
    fn check(&self, seed: u64) {
        if let Some(report) = &*self.found.lock().unwrap() {
            panic!("found what is not there (the seed is {seed}: WAITWORD_SOAK_SEED):\n{report}");
        }
    }
}

fn observed(seed: u64, time: Option<Duration>) {
    identify(|| tokio::task::try_id()?.to_string().parse().ok());
    enable();
    check_lock_order();
    let watcher = Watcher::default();
    let orders = orders::Orders::start(seed);
    thread::scope(|scope| {
        scope.spawn(|| watcher.run());
        /// Also when a check fails.
        struct Ends<'a>(&'a Watcher);
        impl Drop for Ends<'_> {
            fn drop(&mut self) {
                self.0.ends.store(true, Ordering::Relaxed);
            }
        }
        let _ends = Ends(&watcher);
        soak(seed, time, &mut || watcher.check(seed));
    });
    let steps = orders.end();
    watcher.check(seed);
    assert!(steps > 0);
    let order = lock_order();
    println!(
        "{} reports, {} times never polled, {} cycles that may end; {steps} steps with several locks, {} left out of their orders",
        watcher.reports.into_inner(),
        watcher.never_polled.into_inner(),
        watcher.may_end.into_inner(),
        order.left_out
    );
}
