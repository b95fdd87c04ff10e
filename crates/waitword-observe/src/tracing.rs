//! Findings as events of the `tracing` crate, with the target `waitword`. Never a span for a lock: that costs more than the lock.

use std::time::Duration;

use ::tracing::{Level, enabled, error, info, warn};

use crate::blame::Slow;
use crate::finding::Finding;
use crate::report::Report;
use crate::text::lasting;

/// Emits one event for the finding: an error if it is a fault, otherwise an info. Its message is the text of the report.
pub fn emit_finding(finding: &Finding) {
    let (kind, since_ms) = kind_and_age(finding);
    if finding.is_fault() {
        error!(target: "waitword", finding = kind, since_ms, "{finding}");
    } else {
        info!(target: "waitword", finding = kind, since_ms, "{finding}");
    }
}

fn kind_and_age(finding: &Finding) -> (&'static str, u64) {
    let kind = match finding {
        Finding::Cycle(_) => "cycle",
        Finding::PotentialDeadlock(_) => "potential_deadlock",
        Finding::NeverPolled(_) => "never_polled",
        Finding::LongWait(_) => "long_wait",
        Finding::NoKnownNotifier(_) => "no_known_notifier",
        Finding::HolderEnded(_) => "holder_ended",
        Finding::HolderWaits(_) => "holder_waits",
    };
    (kind, u64::try_from(finding.since().as_millis()).unwrap_or(u64::MAX))
}

/// Emits one event, a warning, for a slow hold.
pub fn emit_slow(slow: &Slow) {
    let longest_ms = u64::try_from(slow.longest.as_millis()).unwrap_or(u64::MAX);
    warn!(target: "waitword", finding = "slow", waiters = slow.waiters, longest_ms, "{slow}");
}

/// Emits one event, an info, for the report, with its JSON as a field, and one for each finding.
pub fn emit_report(report: &Report) {
    let (waiters, locks) = (report.snapshot.waiters(), report.snapshot.locks.len());
    info!(target: "waitword", waiters, locks, json = %report.to_json(), "{waiters} waiters at {locks} locks");
    report.findings.iter().for_each(emit_finding);
}

/// Whether a subscriber receives a fault that is emitted on this thread.
pub(crate) fn receives_faults() -> bool {
    enabled!(target: "waitword", Level::ERROR)
}

/// One event, a warning, for a finding that is not a fault and has lasted for `lasted`.
pub(crate) fn emit_lasting(finding: &Finding, lasted: Duration) {
    let (kind, since_ms) = kind_and_age(finding);
    warn!(target: "waitword", finding = kind, since_ms, "{}", lasting(finding, lasted));
}

/// Whether a subscriber receives a warning that is emitted on this thread.
pub(crate) fn receives_warnings() -> bool {
    enabled!(target: "waitword", Level::WARN)
}
