//! `waitword run --trace FILE`: what the agents did, as a timeline.
//!
//! Agents record when they begin to wait and when they run again, and who notified how many. Whom a notify woke is found here: those that
//! waited longest, as the queue has it.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use waitword_host::{ObservedStep, ObservedSteps, Observer, StepKind};
use waitword_observe::{Actor, Address, BlockPlace, LockKind, LockName, Trace, TraceEvent, TraceKind};

use crate::observe::site;

/// A program that is traced into a file.
#[derive(Clone)]
pub(crate) struct Tracing {
    observer: Observer,
    start: Instant,
    file: PathBuf,
}

impl Tracing {
    /// The program is about to start.
    pub(crate) fn new(observer: Observer, file: PathBuf) -> Self {
        Self { observer, start: Instant::now(), file }
    }

    /// Writes the timeline, as far as it has come.
    pub(crate) fn write(&self) {
        let written = std::fs::write(&self.file, trace(self.observer.steps(), self.start).to_chrome_json());
        if let Err(error) = written {
            // How the program ended is more important, so the exit code is that.
            let file = self.file.display();
            let _ = writeln!(io::stderr().lock(), "error: the trace cannot be written to {file}: {error}");
        }
    }
}

fn trace(steps: ObservedSteps, start: Instant) -> Trace {
    let mut tracing = Replay { start, queues: HashMap::new(), events: Vec::new() };
    steps.steps.iter().for_each(|step| tracing.step(step));
    let program = Some("waitword".to_owned());
    Trace { program, process: std::process::id(), events: tracing.events, all: true, dropped: steps.dropped }
}

/// The steps, gone through once more.
struct Replay {
    start: Instant,
    /// The waiters of a word that were not notified, in the order of the queue.
    queues: HashMap<Address, VecDeque<(Actor, Instant)>>,
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
                    // Nobody has notified it.
                    Some(place) => {
                        queue.remove(place);
                        TraceKind::GaveUp
                    }
                    None => TraceKind::Ended,
                }
            }
            StepKind::Notifies(woken) => {
                let woken: Vec<_> = queue.drain(..woken.min(queue.len())).collect();
                for (waiter, _) in woken {
                    self.add(step, waiter, actor.clone(), &lock, TraceKind::Notified);
                }
                return;
            }
            StepKind::Takes => TraceKind::Acquired,
            StepKind::Releases => TraceKind::Released { held: None },
            _ => return,
        };
        self.add(step, actor.clone(), actor, &lock, kind);
    }

    fn add(&mut self, step: &ObservedStep, actor: Actor, on: Actor, lock: &LockName, kind: TraceKind) {
        let at = step.at.saturating_duration_since(self.start);
        let site = site(step.place.as_deref());
        self.events.push(TraceEvent { at, actor, on, lock: lock.clone(), kind, site });
    }
}

/// Blocks may be gone by now, so a word has its place, and a number that no other word has.
fn lock(step: &ObservedStep) -> LockName {
    let byte_index = step.byte_index as u64;
    let place = Some(BlockPlace { block: step.block, byte_index });
    let address = Address(step.block << 32 | byte_index);
    LockName { address, kind: LockKind::Word, name: None, type_name: None, place }
}
