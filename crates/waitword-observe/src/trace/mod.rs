//! The timeline: a trace of this process as plain data, its lanes and slices, and what draws them.
//!
//! Here the events of `record/rings.rs` get the names of locks and actors; `timeline.rs` pairs beginnings with ends; `chrome.rs` and
//! `svg.rs` write the result.

#[cfg(feature = "json")]
mod chrome;
mod svg;
mod timeline;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use waitword_core::lock;
use waitword_core::observe::WaiterKind;
use waitword_core::time::Instant;

use crate::model::{Actor, LockKind, Site, Trace, TraceEvent, TraceKind, sort};
use crate::names::names;
use crate::observer::traced;
use crate::process::{more_numbers, program, task, thread};
use crate::record::rings::{Event, Tracing, process_id};
use crate::sources::{Register, Source, unless_it_panics};
use timeline::Timeline;

static STARTED: Mutex<Option<Tracing>> = Mutex::new(None);

/// Starts a trace of waits, signals and contended releases, until [`trace_stop`]. Ends a trace that was started before.
///
/// Each event costs some 500 instructions, including a read of the clock, and each thread with events 288 KiB. The 4,096 youngest events of
/// each thread are kept, for 256 threads at a time; lost events are counted ([`Trace::dropped`]). Holds are shown only while holders are
/// recorded: see [`enable`](crate::enable).
///
/// Only holds that others waited for are recorded. Such a hold begins up to 10 ms too early, unless the holder had waited. A wait that ended
/// while the thread spun is not recorded.
pub fn trace_start() {
    *lock(&STARTED) = Some(traced(false));
}

/// Starts a trace, as [`trace_start`] does, that also has every acquisition and every release.
pub fn trace_start_all() {
    *lock(&STARTED) = Some(traced(true));
}

/// Ends the trace that was started, and returns it. Returns `None` if there is none.
///
/// ```
/// use waitword::Mutex;
///
/// waitword_observe::enable();
/// waitword_observe::trace_start();
/// let mutex = Mutex::new(0);
/// *mutex.lock() += 1;
/// let trace = waitword_observe::trace_stop().unwrap();
/// # #[cfg(feature = "json")]
/// std::fs::write(std::env::temp_dir().join("trace.json"), trace.to_chrome_json())?; // ui.perfetto.dev opens it
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn trace_stop() -> Option<Trace> {
    let tracing = lock(&STARTED).take();
    tracing.map(Tracing::finish)
}

impl Tracing {
    /// Ends the trace and returns it.
    pub fn finish(self) -> Trace {
        self.so_far()
    }

    /// Returns the trace until now, which continues.
    pub fn so_far(&self) -> Trace {
        let traced = self.events();
        let mut trace = Trace {
            program: program(),
            process: process_id(),
            events: events(&traced.events, traced.start),
            all: self.all,
            dropped: traced.dropped,
        };
        for complete in COMPLETES.all() {
            unless_it_panics(|| complete(&mut trace, traced.start));
        }
        trace.events.sort_by_key(|event| event.at);
        trace
    }
}

impl Trace {
    /// Returns the trace in Chrome's format, which <https://ui.perfetto.dev>, `chrome://tracing` and Firefox's profiler open.
    ///
    /// Each thread, task and agent has a lane; slices are waits and holds; a flow leads from each release or notify to the wait that it ended.
    /// Slices of one lane that overlap without one being inside the other are put on further lanes of the same name.
    #[cfg(feature = "json")]
    pub fn to_chrome_json(&self) -> String {
        chrome::written(&Timeline::of(self), self)
    }

    /// Returns the trace as an SVG picture: the last 400 slices of up to 24 lanes.
    pub fn to_svg(&self) -> String {
        svg::drawn(&Timeline::of(self))
    }
}

type Complete = Arc<dyn Fn(&mut Trace, Instant) + Send + Sync>;

static COMPLETES: Register<Complete> = Register::new();

/// Registers a function that completes each [`Trace`] of this process, until the returned [`Source`] is dropped. The function adds events,
/// and removes those about which it knows more. `waitword run` adds the events of its program's agents this way, with the lines of their
/// scripts.
///
/// `complete` is called with the trace and the time at which it began, from which the times of its events count. It is also called for a
/// trace that has not ended ([`Tracing::so_far`]). The events are sorted afterwards. A panic of `complete` is caught.
///
/// ```
/// use std::time::Instant;
/// use waitword_observe::{Trace, add_trace_source, traced};
///
/// let _source = add_trace_source(|trace: &mut Trace, _began: Instant| trace.dropped += 3);
/// assert_eq!(traced(true).finish().dropped, 3);
/// ```
pub fn add_trace_source(complete: impl Fn(&mut Trace, Instant) + Send + Sync + 'static) -> Source {
    COMPLETES.add(Arc::new(complete), |key| COMPLETES.remove(key))
}

/// Adds the names of locks and actors.
fn events(seen: &[Event], start: Instant) -> Vec<TraceEvent> {
    let (mut tasks, mut agents) = more_numbers();
    let names = names();
    let kinds = kinds(seen);
    // The actors of identities: a signal knows only the identity of its waiter.
    let mut waiters: HashMap<usize, Actor> = HashMap::new();
    let mut translated = Vec::with_capacity(seen.len());
    for event in seen {
        let on = thread(&event.thread);
        let known = waiters.get(&event.identity).filter(|_| event.who.is_none());
        let actor = match (event.who, known) {
            (Some(WaiterKind::Thread), _) => on.clone(),
            (Some(WaiterKind::Agent), _) => {
                Actor::Agent { number: agents.number(event.identity), name: None }
            }
            (None, Some(known)) => known.clone(),
            _ => task(event.identity, &mut tasks),
        };
        if event.kind == TraceKind::Waits {
            waiters.insert(event.identity, actor.clone());
        }
        let kind = kinds.get(&event.word).copied().unwrap_or(LockKind::Word);
        translated.push(TraceEvent {
            at: event.at.saturating_duration_since(start),
            actor,
            on,
            lock: names.of(event.word, kind),
            kind: event.kind,
            site: event.site.map(Site::from),
        });
    }
    translated
}

/// The kinds of locks of the words that were waited for.
fn kinds(seen: &[Event]) -> HashMap<usize, LockKind> {
    let (mut kinds, mut of_condvars) = (HashMap::new(), HashMap::new());
    for event in seen {
        if let Some(waits_for) = event.waits_for {
            let (kind, _) = sort(waits_for);
            kinds.entry(event.word).or_insert(kind);
            match kind {
                LockKind::Condvar => of_condvars.insert(event.identity, event.word),
                _ => of_condvars.remove(&event.identity),
            };
        } else if event.kind == TraceKind::Signalled
            && of_condvars.get(&event.identity).is_some_and(|condvar| *condvar != event.word)
        {
            // A waiter of a condition variable is signalled at the word to which it was moved: that of the mutex.
            kinds.entry(event.word).or_insert(LockKind::Mutex);
        }
    }
    kinds
}
