//! Traces of this process.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use waitword_core::time::Instant;

use super::events::{Trace, TraceEvent, TraceKind};
use super::sources;
use crate::model::{Actor, LockKind, Site};
use crate::names::names;
use crate::observer::{Traced, trace};
use crate::process::{more_numbers, sort, task, thread};
use crate::record::rings::{Event, EventKind, Who};

static STARTED: Mutex<Option<Tracing>> = Mutex::new(None);

/// Starts a trace of waits, signals and contended releases, until [`trace_stop`]. One that was started before goes on no more.
///
/// Costs some 260 instructions for each event, a reading of the clock among them, and 192 KiB of each thread that has one. The 4,096 youngest
/// events of each thread are kept. Holders have to be recorded for slices of holds: see [`enable`](crate::enable).
pub fn trace_start() {
    *STARTED.lock().unwrap_or_else(PoisonError::into_inner) = Some(traced(false));
}

/// As [`trace_start`], of all acquisitions and releases too.
pub fn trace_start_all() {
    *STARTED.lock().unwrap_or_else(PoisonError::into_inner) = Some(traced(true));
}

/// Ends the trace that was started, and returns it. `None`: there was none.
///
/// ```
/// use waitword::Mutex;
///
/// waitword_observe::enable();
/// waitword_observe::trace_start();
/// let mutex = Mutex::new(0);
/// *mutex.lock() += 1;
/// let trace = waitword_observe::trace_stop().unwrap();
/// std::fs::write(std::env::temp_dir().join("trace.json"), trace.to_chrome_json())?; // ui.perfetto.dev opens it
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn trace_stop() -> Option<Trace> {
    let tracing = STARTED.lock().unwrap_or_else(PoisonError::into_inner).take();
    tracing.map(Tracing::finish)
}

/// Starts a trace beside any other, with `all` one of all acquisitions.
pub fn traced(all: bool) -> Tracing {
    Tracing { traced: trace(all), all }
}

/// A trace that is being made. Dropping it ends it.
#[derive(Debug)]
#[must_use = "dropping it ends the trace"]
pub struct Tracing {
    traced: Traced,
    all: bool,
}

impl Tracing {
    /// Ends the trace, and returns it.
    pub fn finish(self) -> Trace {
        self.so_far()
    }

    /// What was traced until now. The trace goes on.
    pub fn so_far(&self) -> Trace {
        let traced = self.traced.so_far();
        let program = std::env::current_exe().ok();
        let mut trace = Trace {
            program: program.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
            process: std::process::id(),
            events: events(&traced.events, traced.start),
            all: self.all,
            dropped: traced.dropped,
        };
        sources::complete(&mut trace, traced.start);
        trace
    }
}

/// Names locks and actors.
fn events(seen: &[Event], start: Instant) -> Vec<TraceEvent> {
    let (mut tasks, mut agents) = more_numbers();
    let names = names();
    let kinds = kinds(seen);
    // Whose identities these are: a signal knows no more of the waiter.
    let mut waiters: HashMap<usize, Actor> = HashMap::new();
    let mut translated = Vec::with_capacity(seen.len());
    for event in seen {
        let on = thread(&event.thread);
        let actor = match event.who {
            Who::ThisThread => on.clone(),
            Who::Task(identity) => task(identity, &mut tasks),
            Who::Agent(agent) => Actor::Agent { number: agents.number(agent), name: None },
            Who::Waiter(waiter) => waiters.get(&waiter).cloned().unwrap_or_else(|| task(waiter, &mut tasks)),
        };
        if let EventKind::Waits(_) = event.kind {
            waiters.insert(event.identity, actor.clone());
        }
        let kind = kinds.get(&event.word).copied().unwrap_or(LockKind::Word);
        translated.push(TraceEvent {
            at: event.at.saturating_duration_since(start),
            actor,
            on,
            lock: names.of(event.word, kind),
            kind: match event.kind {
                EventKind::Waits(_) => TraceKind::Waits,
                EventKind::Signalled => TraceKind::Signalled,
                EventKind::Notified => TraceKind::Notified,
                EventKind::Acquired => TraceKind::Acquired,
                EventKind::Ended => TraceKind::Ended,
                EventKind::GaveUp => TraceKind::GaveUp,
                EventKind::Released { since } => {
                    TraceKind::Released { held: since.map(|since| event.at.saturating_duration_since(since)) }
                }
            },
            site: event.site.map(Site::from),
        });
    }
    translated
}

/// Which kinds of locks the words are that were waited for.
fn kinds(seen: &[Event]) -> HashMap<usize, LockKind> {
    let (mut kinds, mut of_condvars) = (HashMap::new(), HashMap::new());
    for event in seen {
        match (event.kind, event.who) {
            (EventKind::Waits(waits_for), _) => {
                let (kind, _) = sort(waits_for);
                kinds.entry(event.word).or_insert(kind);
                match kind {
                    LockKind::Condvar => of_condvars.insert(event.identity, event.word),
                    _ => of_condvars.remove(&event.identity),
                };
            }
            // Where a waiter of a condition variable is signalled, it was moved to: that is the mutex.
            (EventKind::Signalled, Who::Waiter(waiter))
                if of_condvars.get(&waiter).is_some_and(|condvar| *condvar != event.word) =>
            {
                kinds.entry(event.word).or_insert(LockKind::Mutex);
            }
            _ => {}
        }
    }
    kinds
}
