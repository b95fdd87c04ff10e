//! What arrives at a subscriber of `tracing` and at a recorder of `metrics`.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use waitword_observe::{
    Actor, Address, Finding, LockKind, LockName, Metrics, NeverPolled, Report, Slow, State, emit_report,
    emit_slow, snapshot,
};

/// Keeps each event as one line.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let value = if field.name() == "json" { "...".to_owned() } else { format!("{value:?}") };
        write!(self.0, " {}={value}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        panic!("there is no span for a lock")
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = format!("{} {}", event.metadata().level(), event.metadata().target());
        event.record(&mut Fields(&mut line));
        self.0.lock().unwrap().push(line);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn lock() -> LockName {
    LockName {
        address: Address(0xa0),
        kind: LockKind::Mutex,
        name: Some("db".into()),
        type_name: None,
        place: None,
    }
}

#[test]
fn a_report_is_one_event_and_so_is_each_finding() {
    let lines = Lines::default();
    let actor = Actor::Task { number: 7, name: None };
    let never_polled = NeverPolled {
        lock: lock(),
        actor: actor.clone(),
        site: None,
        age: Duration::from_millis(3_900),
        state: State::Skipped,
        behind: 5,
        not_run: Some(Duration::from_secs(2)),
    };
    let report = Report::new(vec![Finding::NeverPolled(never_polled)], snapshot());
    let slow = Slow {
        lock: lock(),
        site: None,
        actor,
        held: Some(Duration::from_secs(3)),
        waiters: 12,
        threads: Some(3),
        longest: Duration::from_millis(2_970),
        longest_at: None,
    };
    tracing::subscriber::with_default(lines.clone(), || {
        emit_report(&report);
        emit_slow(&slow);
    });
    let lines = lines.0.lock().unwrap();
    let [whole, finding, slow] = &lines[..] else { panic!("{lines:?}") };
    assert!(
        whole.starts_with("INFO waitword ") && whole.contains("locks=") && whole.contains("json=..."),
        "{whole}"
    );
    let start = "ERROR waitword message=never polled (futurelock): task 7 waits 3.9 s for Mutex \"db\"";
    assert!(finding.starts_with(start), "{finding}");
    assert!(finding.ends_with("finding=\"never_polled\" since_ms=3900"), "{finding}");
    let text = "WARN waitword message=slow: Mutex \"db\" held 3.0 s (an unknown site, task 7); 12 waited (9 tasks, 3 threads)";
    assert!(slow.starts_with(text) && slow.contains("longest_ms=2970"), "{slow}");
}

#[test]
fn waits_and_holds_are_histograms_by_site() {
    waitword_observe::enable();
    let mutex = waitword::Mutex::new(());
    let _name = waitword_observe::name(&mutex, "accounts");
    let held = mutex.lock();
    thread::scope(|scope| {
        scope.spawn(|| drop(mutex.lock()));
        while snapshot().waiters() == 0 {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(20));
        drop(held);
    });
    let recorder = DebuggingRecorder::new();
    let kept = recorder.snapshotter();
    let seen = || {
        let keys = kept.snapshot().into_vec();
        let found = keys.into_iter().filter_map(|(key, _, _, value)| match value {
            DebugValue::Histogram(values) if key.key().name() == "waitword_wait_seconds" => {
                assert!(
                    ["site", "lock"].iter().all(|name| key.key().labels().any(|label| label.key() == *name))
                );
                Some(values.into_iter().map(|value| value.into_inner()).collect::<Vec<_>>())
            }
            _ => None,
        });
        found.flatten().collect::<Vec<f64>>()
    };
    let mut metrics = Metrics::default();
    metrics::with_local_recorder(&recorder, || metrics.publish());
    let values = seen();
    assert!(values.iter().any(|value| *value >= 0.010), "the wait of 20 ms, to a factor of two: {values:?}");
    metrics::with_local_recorder(&recorder, || metrics.publish());
    assert_eq!(seen(), [0.0; 0], "nothing was added");
}
