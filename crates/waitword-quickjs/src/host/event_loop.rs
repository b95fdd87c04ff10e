//! What an agent's thread does all day: one job, its microtasks, the next job; else sleep.
//!
//! Jobs come from five sources (settled waits, timers, letters from the parent, from workers, and at ports), which take
//! turns: a source that never runs dry cannot starve the others. Within a source, first come, first served.

use std::cell::Cell;
use std::path::Path;
use std::time::Instant;

use crate::ffi::{Exception, PromiseState, Realm, Value};
use crate::runtime::JsAgent;

use super::agent_host::Host;
use super::channel::{Delivery, Envelope};
use super::clone::Parcel;
use super::cluster::Woken;
use super::failure::{Failure, FailureKind, Place};
use super::liveness::Reason;
use super::sources::{self, Compiled};
use super::worker::{Data, Entry, Letter, Shape};
use super::{AbandonedWait, AgentName, ThreadId, module_loader};

/// The loop of one agent.
pub(super) struct EventLoop<'a> {
    agent: &'a JsAgent,
    host: &'a Host,
    /// The source whose turn it is.
    turn: Cell<usize>,
}

/// Why an agent stopped.
pub(super) enum Stop {
    /// It has nothing left to do.
    Done {
        /// What the script wants the exit code to be.
        exit_code: i32,
        /// Its module still awaits something.
        is_awaiting: bool,
    },
    /// It called `process.exit`.
    Exit(i32),
    Terminated,
    /// It failed; what was thrown, for the parent.
    Failed(Box<Failure>, Option<Parcel>),
}

/// Where jobs come from.
#[derive(Clone, Copy)]
enum Source {
    SettledWaits,
    DueTimers,
    Parent,
    Workers,
    Ports,
}

const SOURCES: [Source; 5] =
    [Source::SettledWaits, Source::DueTimers, Source::Parent, Source::Workers, Source::Ports];

/// What to do when there is no job.
enum Idle {
    Sleep(Reason),
    Finish,
}

impl<'a> EventLoop<'a> {
    pub(super) fn new(agent: &'a JsAgent, host: &'a Host) -> Self {
        Self { agent, host, turn: Cell::new(0) }
    }

    /// Runs the agent from its script to its end.
    pub(super) fn run(&self, entry: Entry, data: Data) -> Stop {
        self.run_to_end(entry, data).unwrap_or_else(|stop| stop)
    }

    /// The waits that are still pending, for the report.
    pub(super) fn abandoned(&self) -> Vec<AbandonedWait> {
        let agent = AgentName(self.host.id);
        let pending = self.agent.pending().into_iter();
        pending
            .map(|wait| AbandonedWait {
                agent,
                is_blocked: false,
                block: wait.block,
                byte_index: wait.byte_index,
                place: self.agent.call_site(wait.id),
            })
            .collect()
    }

    /// The first error of a worker in a letter that was never read.
    pub(super) fn unread_failure(&self) -> Option<Stop> {
        std::iter::from_fn(|| self.host.from_workers.take()).find_map(|(_, letter)| match letter {
            Letter::Failed(failure, thrown) => Some(Stop::Failed(failure, thrown)),
            _ => None,
        })
    }

    fn run_to_end(&self, entry: Entry, data: Data) -> Result<Stop, Stop> {
        let booted = self.host.boot(self.realm(), data);
        booted.map_err(|exception| self.stop(FailureKind::Internal, &exception))?;
        if let Some(parent) = &self.host.parent {
            parent.post((self.host.id, Letter::Online));
        }
        let main_module = self.start(entry)?;
        loop {
            // Before looking for work, so that what comes while we look is heard.
            self.host.bell.clear();
            self.run_microtasks()?;
            self.check_module(main_module.as_ref())?;
            self.stopped().map_or(Ok(()), Err)?;
            if self.host.is_closing.get() {
                break;
            }
            if self.run_one_job()? {
                continue;
            }
            match self.idle() {
                Idle::Sleep(reason) => {
                    self.agent.trim_after_a_crowd();
                    if self.host.cluster.sleep(self.host.id, self.next_deadline(), reason) == Woken::Dismissed
                    {
                        break;
                    }
                }
                Idle::Finish => break,
            }
        }
        let ending = self.host.ending(self.realm());
        let exit_code = ending.map_err(|exception| self.stop(FailureKind::Uncaught, &exception))?;
        let state = main_module.map(|promise| self.realm().promise_state(&promise));
        Ok(Stop::Done { exit_code, is_awaiting: matches!(state, Some(PromiseState::Pending)) })
    }

    /// Runs the agent's script; the promise of a module.
    fn start(&self, entry: Entry) -> Result<Option<Value>, Stop> {
        let (name, text) = match entry {
            Entry::Source(text) => (sources::EVAL.to_owned(), text),
            Entry::File(path) => self.read(&path)?,
        };
        let realm = self.realm();
        let module = |text: &str| {
            let promise = realm.eval_module(&name, &module_loader::url(&name), text)?;
            // Its rejection is the program's failure; see `check_module`.
            realm.mark_handled(&promise);
            Ok(Some(promise))
        };
        let run = || match self.host.shape {
            Shape::Node => match sources::compile(self.host, realm, &name, text)? {
                Compiled::Script(function) => {
                    self.host.call(realm, "runScript", &[realm.string(&name)?, function]).map(|_| None)
                }
                Compiled::Module(text) => module(&text),
            },
            Shape::WebScript => match sources::compile_global(realm, &name, &text)? {
                Some(script) => realm.run_script(script).map(|_| None),
                None => module(&text),
            },
            Shape::WebModule => module(&text),
        };
        run().map_err(|exception| match self.stop(FailureKind::Uncaught, &exception) {
            Stop::Failed(mut failure, thrown)
                if failure.kind == FailureKind::Load && failure.place.is_none() =>
            {
                failure.details = format!("while loading {name}");
                Stop::Failed(failure, thrown)
            }
            stop => stop,
        })
    }

    fn read(&self, path: &Path) -> Result<(String, String), Stop> {
        let read = || {
            let text = sources::read(path)?;
            let path =
                path.canonicalize().map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            Ok((path.to_string_lossy().into_owned(), text))
        };
        read().map_err(|message: String| {
            let thrown = self.host.pack_error(self.realm(), self.realm().error(&message).value());
            Stop::Failed(Box::new(Failure::load(self.host.id, message)), thrown)
        })
    }

    fn run_microtasks(&self) -> Result<(), Stop> {
        let run = self.agent.runtime().run_microtasks();
        run.map_err(|exception| self.stop(FailureKind::Uncaught, &exception))?;
        match self.agent.runtime().take_rejections().into_iter().next() {
            Some(rejection) => Err(self.stop(FailureKind::UnhandledRejection, &rejection.reason)),
            None => Ok(()),
        }
    }

    fn check_module(&self, promise: Option<&Value>) -> Result<(), Stop> {
        match promise.map(|promise| self.realm().promise_state(promise)) {
            Some(PromiseState::Rejected(reason)) => Err(self.stop(FailureKind::Uncaught, &reason)),
            _ => Ok(()),
        }
    }

    /// Whether there was one.
    fn run_one_job(&self) -> Result<bool, Stop> {
        for step in 0..SOURCES.len() {
            let turn = (self.turn.get() + step) % SOURCES.len();
            let ran = match SOURCES[turn] {
                Source::SettledWaits => self.run_settled_wait(),
                Source::DueTimers => self.run_due_timer(),
                Source::Parent => self.run_letter_of_parent(),
                Source::Workers => self.run_letter_of_worker(),
                Source::Ports => self.run_letter_of_port(),
            };
            if ran? {
                self.turn.set((turn + 1) % SOURCES.len());
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn run_settled_wait(&self) -> Result<bool, Stop> {
        if self.agent.next_deadline().is_some() {
            self.agent.expire_due(Instant::now());
        }
        let settled = self.agent.settle_one();
        settled.map_err(|error| Stop::Failed(Box::new(Failure::internal(self.host.id, error.message)), None))
    }

    fn run_due_timer(&self) -> Result<bool, Stop> {
        if self.host.timers.borrow().next_due().is_none() {
            return Ok(false);
        }
        let due = self.host.timers.borrow_mut().take_due(Instant::now());
        let Some(id) = due else { return Ok(false) };
        self.call("fireTimer", |realm| Ok(vec![realm.number(id as f64)]))?;
        Ok(true)
    }

    fn run_letter_of_parent(&self) -> Result<bool, Stop> {
        if !self.host.port.get().is_open {
            return Ok(false);
        }
        let Some(message) = self.host.from_parent.take() else { return Ok(false) };
        self.call("receive.fromParent", |realm| {
            let (data, ports) = self.host.unpack(realm, message)?;
            Ok(vec![data, ports])
        })?;
        Ok(true)
    }

    fn run_letter_of_worker(&self) -> Result<bool, Stop> {
        let Some((id, letter)) = self.host.from_workers.take() else { return Ok(false) };
        let number = |realm: &Realm| realm.number(id);
        match letter {
            Letter::Online => self.call("receive.online", |realm| Ok(vec![number(realm)]))?,
            Letter::Message(message) => self.call("receive.message", |realm| {
                let (data, ports) = self.host.unpack(realm, message)?;
                Ok(vec![number(realm), data, ports])
            })?,
            Letter::Failed(failure, thrown) => return self.run_failure(id, failure, thrown).map(|()| true),
            Letter::Exited(code) => {
                self.host.workers.borrow_mut().remove(&id);
                self.call("receive.exit", |realm| Ok(vec![number(realm), realm.number(code)]))?
            }
        };
        Ok(true)
    }

    fn run_letter_of_port(&self) -> Result<bool, Stop> {
        let taken = self.host.ports.borrow_mut().take();
        match taken {
            None => return Ok(false),
            // A token whose letter is gone.
            Some(None) => {}
            Some(Some((id, Delivery::Message(envelope)))) => {
                self.call("receive.atPort", |realm| {
                    let (data, ports) = self.host.unpack(realm, envelope)?;
                    Ok(vec![realm.number(id), data, ports])
                })?;
            }
            Some(Some((id, Delivery::Closed))) => {
                self.call("receive.portClosed", |realm| Ok(vec![realm.number(id)]))?;
            }
        }
        Ok(true)
    }

    /// The error of a worker: for the script if it listens, otherwise ours, and that of the whole program in the end.
    fn run_failure(&self, id: ThreadId, failure: Box<Failure>, thrown: Option<Parcel>) -> Result<(), Stop> {
        let is_handled = self.call("receive.error", |realm| {
            let error = match thrown {
                Some(parcel) => self.host.unpack(realm, Envelope { parcel, ports: Vec::new() })?.0,
                None => realm.error(&failure.message).into_value(),
            };
            let is_out_of_memory = realm.bool(failure.kind == FailureKind::OutOfMemory);
            let mut arguments =
                vec![realm.number(id), error, is_out_of_memory, realm.string(&failure.message)?];
            if let Some(Place { file, line, column, .. }) = &failure.place {
                arguments.extend([
                    realm.string(file)?,
                    realm.number(*line),
                    realm.number(column.unwrap_or(0)),
                ]);
            }
            Ok(arguments)
        })?;
        if self.realm().to_bool(&is_handled) { Ok(()) } else { Err(Stop::Failed(failure, None)) }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let timer = self.host.timers.borrow().next_due();
        [timer, self.agent.next_deadline()].into_iter().flatten().min()
    }

    fn idle(&self) -> Idle {
        let is_kept = self.host.timers.borrow().keep_alive()
            || self.agent.next_deadline().is_some()
            || self.host.workers.borrow().values().any(|worker| worker.keeps_alive)
            || self.host.ports.borrow().keep_alive()
            || self.host.port.get().keeps_alive;
        if is_kept {
            Idle::Sleep(Reason::Letters)
        } else if self.agent.has_pending() {
            Idle::Sleep(Reason::WaitsOnly)
        } else {
            Idle::Finish
        }
    }

    /// Calls the JavaScript half of the host, as a job.
    fn call(
        &self,
        path: &str,
        arguments: impl FnOnce(&Realm) -> Result<Vec<Value>, Exception>,
    ) -> Result<Value, Stop> {
        let begun = self.agent.begin_job();
        begun
            .map_err(|error| Stop::Failed(Box::new(Failure::internal(self.host.id, error.message)), None))?;
        let called =
            arguments(self.realm()).and_then(|arguments| self.host.call(self.realm(), path, &arguments));
        called.map_err(|exception| self.stop(FailureKind::Uncaught, &exception))
    }

    /// Why the agent stops after this exception.
    fn stop(&self, kind: FailureKind, exception: &Exception) -> Stop {
        if let Some(stop) = self.stopped() {
            return stop;
        }
        let kind = if exception.is_uncatchable() { FailureKind::Internal } else { kind };
        let failure = Failure::of(self.host, self.realm(), kind, exception);
        let thrown =
            self.realm().beyond_memory_limit(|| self.host.pack_error(self.realm(), exception.value()));
        Stop::Failed(Box::new(failure), thrown)
    }

    /// Whether the agent was told to stop, by itself or by others.
    fn stopped(&self) -> Option<Stop> {
        let exit = self.host.exit.get().map(Stop::Exit);
        let spent = || Stop::Failed(Box::new(Failure::out_of_memory(self.host.id)), None);
        exit.or_else(|| self.agent.is_terminated().then_some(Stop::Terminated))
            .or_else(|| self.agent.runtime().is_out_of_memory().then(spent))
    }

    fn realm(&self) -> &Realm {
        self.agent.realm()
    }
}
