//! The agents' timeline: for `waitword run --trace FILE`, and for `waitword trace SOCKET` of a program of scripts.
//!
//! Agents record when a wait begins, when it ends, and how many waiters a notify woke. Which waiters these were is determined here: those
//! that waited longest, because the queue is FIFO.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use waitword_host::{ObservedStep, ObservedSteps, Observer, StepKind};
use waitword_observe::{
    Actor, Address, BlockPlace, LockKind, LockName, Trace, TraceEvent, TraceKind, add_trace_source,
};

use crate::observe::site;
use crate::trace::why_unwritable;

/// A program that is traced into a file.
#[derive(Clone)]
pub(crate) struct Tracing {
    observer: Observer,
    start: Instant,
    file: PathBuf,
}

impl Tracing {
    /// Creates the file, before the program starts.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn new(observer: Observer, file: PathBuf) -> io::Result<Self> {
        match std::fs::write(&file, "") {
            Ok(()) => Ok(Self { observer, start: Instant::now(), file }),
            Err(error) => {
                complain(&file, &error);
                Err(error)
            }
        }
    }

    /// Writes the timeline up to now.
    pub(crate) fn write(&self) {
        let written = std::fs::write(&self.file, trace(&self.observer.steps(), self.start).to_chrome_json());
        if let Err(error) = written {
            // Only reported: the exit code says how the program ended.
            complain(&self.file, &error);
        }
    }
}

fn complain(file: &Path, error: &io::Error) {
    let why = why_unwritable(file, error);
    let _ = writeln!(io::stderr().lock(), "error: the trace cannot be written to {}: {why}", file.display());
}

/// Adds the steps of the agents, with the lines of their scripts, to all later traces of this process.
pub(crate) fn add_to_traces(observer: Observer) {
    let complete = move |trace: &mut Trace, start| {
        let steps = observer.steps();
        // The queues know the same waits by their addresses alone.
        let words: HashSet<u64> = steps.steps.iter().map(|step| step.address as u64).collect();
        trace.events.retain(|event| !words.contains(&event.lock.address.0));
        trace.events.extend(replayed(&steps, start));
        trace.dropped += steps.dropped;
    };
    add_trace_source(complete).forever();
}

fn trace(steps: &ObservedSteps, start: Instant) -> Trace {
    let program = Some("waitword".to_owned());
    let events = replayed(steps, start);
    Trace { program, process: std::process::id(), events, all: true, dropped: steps.dropped }
}

/// What happened from `start` on. Waits and holds that began before and had not ended then begin with the trace.
fn replayed(steps: &ObservedSteps, start: Instant) -> Vec<TraceEvent> {
    let mut replay = Replay {
        start,
        queues: HashMap::new(),
        owed: HashMap::new(),
        held: HashSet::new(),
        before: Vec::new(),
        events: Vec::new(),
    };
    steps.steps.iter().for_each(|step| replay.step(step));
    let Replay { mut before, events, .. } = replay;
    before.extend(events);
    before
}

/// Replays the recorded steps.
struct Replay {
    start: Instant,
    /// The waiters of each word that were not notified yet, in the order of the queue.
    queues: HashMap<Address, VecDeque<(Actor, Instant)>>,
    /// For each word, the number of notified waiters whose `Waits` step comes later.
    owed: HashMap<Address, usize>,
    held: HashSet<(Actor, Address)>,
    /// The beginnings of waits and holds that had not ended when the trace began.
    before: Vec<TraceEvent>,
    events: Vec<TraceEvent>,
}

impl Replay {
    fn step(&mut self, step: &ObservedStep) {
        let lock = lock(step);
        let actor =
            Actor::Agent { number: step.agent.thread_id().into(), name: Some(step.agent.to_string()) };
        let queue = self.queues.entry(lock.address).or_default();
        let kind = match step.kind {
            StepKind::Waits => {
                queue.push_back((actor.clone(), step.at));
                TraceKind::Waits
            }
            StepKind::Runs { since } => {
                match queue.iter().position(|(waiter, begun)| (waiter, *begun) == (&actor, since)) {
                    Some(place) => {
                        queue.remove(place);
                        let owed = self.owed.entry(lock.address).or_default();
                        match owed.checked_sub(1) {
                            Some(rest) => {
                                *owed = rest;
                                TraceKind::Ended
                            }
                            // No notify woke it.
                            None => TraceKind::GaveUp,
                        }
                    }
                    None => TraceKind::Ended,
                }
            }
            StepKind::Notifies(woken) => {
                // The step of a wait that began during the notify comes after that of the notify.
                *self.owed.entry(lock.address).or_default() += woken.saturating_sub(queue.len());
                let woken: Vec<_> = queue.drain(..woken.min(queue.len())).collect();
                for (waiter, _) in woken {
                    self.add(step, waiter, actor.clone(), &lock, TraceKind::Notified);
                }
                return;
            }
            StepKind::Takes => {
                self.held.insert((actor.clone(), lock.address));
                TraceKind::Acquired
            }
            // Only for a word that was acquired as a lock. Otherwise 0 is an ordinary value.
            StepKind::Releases if self.held.remove(&(actor.clone(), lock.address)) => {
                TraceKind::Released { held: None }
            }
            _ => return,
        };
        self.add(step, actor.clone(), actor, &lock, kind);
    }

    fn add(&mut self, step: &ObservedStep, actor: Actor, on: Actor, lock: &LockName, kind: TraceKind) {
        let site = site(step.place.as_deref());
        let at = step.at.checked_duration_since(self.start);
        let event =
            TraceEvent { at: at.unwrap_or(Duration::ZERO), actor, on, lock: lock.clone(), kind, site };
        match (at, kind) {
            (Some(_), _) => self.events.push(event),
            (None, TraceKind::Waits | TraceKind::Acquired) => self.before.push(event),
            (None, TraceKind::Ended | TraceKind::GaveUp) => self.is_over(&event, TraceKind::Waits),
            (None, TraceKind::Released { .. }) => self.is_over(&event, TraceKind::Acquired),
            (None, _) => {}
        }
    }

    fn is_over(&mut self, end: &TraceEvent, begun: TraceKind) {
        let is_it = |event: &TraceEvent| {
            event.kind == begun && event.actor == end.actor && event.lock.address == end.lock.address
        };
        if let Some(at) = self.before.iter().rposition(is_it) {
            self.before.remove(at);
        }
    }
}

/// A word is named by its block and offset, and by a unique number, because its block may have been freed and its address reused.
fn lock(step: &ObservedStep) -> LockName {
    let byte_index = step.byte_index as u64;
    let place = Some(BlockPlace { block: step.block, byte_index });
    let address = Address(step.block << 32 | byte_index);
    LockName { address, kind: LockKind::Word, name: None, type_name: None, place }
}
