//! The jobs, and what runs after each of them.
//!
//! Jobs come from three sources: settled waits, timers, and the mailbox that other threads fill. A turn of the loop runs the jobs that were
//! ready when it began, source by source, and in the order of arrival. Jobs that become ready in the meantime wait for the next turn, so that
//! no source starves another.

use std::time::Instant;

use crate::agent_name::ThreadId;
use crate::channel::Delivery;
use crate::clone;
use crate::ended::{Failure, FailureKind, Place};
use crate::mailbox::{Arrival, Failed, PortId, WorkerEvent};
use waitword_quickjs::{Exception, Realm, Rejection, Value};

use super::{EventLoop, Stop, Turn};

impl EventLoop<'_> {
    /// Runs the next job of the turn, or of a new turn if none is left. Returns whether there was one.
    pub(crate) fn run_one_job(&self) -> Result<bool, Stop> {
        self.host.receiving.set(None);
        if self.run_job_of_turn()? {
            return Ok(true);
        }
        self.begin_turn();
        self.run_job_of_turn()
    }

    fn begin_turn(&self) {
        let (timer, wait) = (self.host.timers.borrow().next_due(), self.agent.next_deadline());
        let now = timer.or(wait).map(|_| Instant::now());
        if let (Some(now), Some(_)) = (now, wait) {
            self.agent.expire_due(now);
        }
        let (waits, arrivals) = (self.agent.pending_count(), self.host.links.mailbox.len());
        self.turn.set(Turn { waits, due: now, arrivals });
    }

    fn run_job_of_turn(&self) -> Result<bool, Stop> {
        Ok(self.run_settled_wait()? || self.run_due_timer()? || self.run_arrival()?)
    }

    fn run_settled_wait(&self) -> Result<bool, Stop> {
        let turn = self.turn.get();
        if turn.waits == 0 {
            return Ok(false);
        }
        let settled = self.agent.settle_one();
        let settled = settled
            .map_err(|error| Stop::Failed(Box::new(Failure::internal(self.host.id, error.message)), None))?;
        self.turn.set(Turn { waits: if settled { turn.waits - 1 } else { 0 }, ..turn });
        Ok(settled)
    }

    fn run_due_timer(&self) -> Result<bool, Stop> {
        let Some(due) = self.turn.get().due else { return Ok(false) };
        let timer = self.host.timers.borrow_mut().take_due(due);
        let Some(id) = timer else { return Ok(false) };
        self.call("fireTimer", |realm| Ok(vec![realm.number(id as f64)]))?;
        Ok(true)
    }

    fn run_arrival(&self) -> Result<bool, Stop> {
        let turn = self.turn.get();
        let Some(arrivals) = turn.arrivals.checked_sub(1) else { return Ok(false) };
        self.turn.set(Turn { arrivals, ..turn });
        let Some(arrival) = self.host.links.mailbox.take() else { return Ok(false) };
        let call_with = |path, ticket| self.call(path, |realm| Ok(vec![realm.number(ticket)])).map(drop);
        match arrival {
            Arrival::AtPort(id) => self.run_message_of_port(id)?,
            Arrival::OfWorker(id, event) => self.run_event_of_worker(id, event)?,
            Arrival::LockGranted(ticket) => {
                self.host.asked.borrow_mut().remove(&ticket);
                call_with("receive.lockGranted", ticket)?;
            }
            Arrival::LockStolen(ticket) => call_with("receive.lockStolen", ticket)?,
        }
        Ok(true)
    }

    fn run_event_of_worker(&self, id: ThreadId, event: WorkerEvent) -> Result<(), Stop> {
        let number = |realm: &Realm| realm.number(id);
        match event {
            WorkerEvent::Online => self.call("fromWorker.online", |realm| Ok(vec![number(realm)]))?,
            WorkerEvent::Printed(stream, text, charge) => {
                drop(charge);
                let arguments =
                    |realm: &Realm| Ok(vec![number(realm), realm.number(stream), realm.string(&text)?]);
                self.call("fromWorker.printed", arguments)?
            }
            WorkerEvent::Failed(failed) => return self.run_failure(id, failed),
            WorkerEvent::Exited(code) => {
                self.host.workers.borrow_mut().remove(&id);
                self.call("fromWorker.exit", |realm| Ok(vec![number(realm), realm.number(code)]))?
            }
        };
        Ok(())
    }

    fn run_message_of_port(&self, id: PortId) -> Result<(), Stop> {
        let taken = self.host.links.ports().take(id);
        match taken {
            // A token whose message was taken already.
            None => {}
            Some(Delivery::Message(message)) => {
                self.host.receiving.set(Some(id));
                let received = self.call("receive.atPort", |realm| {
                    let (data, ports) = self.host.unpack(realm, message)?;
                    Ok(vec![realm.number(id), data, ports])
                })?;
                if received.is_none() {
                    self.host.links.ports().failed(id);
                }
            }
            Some(Delivery::Closed) => {
                self.call("receive.portClosed", |realm| Ok(vec![realm.number(id)]))?;
            }
        }
        Ok(())
    }

    /// Handles the error of a worker: passes it to the script's listener, or else fails this agent, and in the end the whole program.
    fn run_failure(&self, id: ThreadId, (failure, mut thrown): Failed) -> Result<(), Stop> {
        let is_handled = self.call("fromWorker.error", |realm| {
            // Read in place, because it may have to be forwarded to this agent's parent.
            let parts = match &mut thrown {
                // Without memory for the copy, the message alone is used.
                Some(serialized) => clone::read(self.host.clone_functions(realm)?, serialized, &[])
                    .unwrap_or_else(|_| realm.undefined()),
                None => realm.undefined(),
            };
            let is_out_of_memory = realm.bool(failure.kind == FailureKind::OutOfMemory);
            let mut arguments =
                vec![realm.number(id), parts, is_out_of_memory, realm.string(&failure.message)?];
            if let Some(Place { file, line, column, .. }) = &failure.place {
                arguments.extend([
                    realm.string(file)?,
                    realm.number(*line),
                    realm.number(column.unwrap_or(0)),
                ]);
            }
            Ok(arguments)
        })?;
        let is_handled = is_handled.is_none_or(|is_handled| self.realm().to_bool(&is_handled));
        if is_handled { Ok(()) } else { Err(Stop::Failed(failure, thrown)) }
    }

    /// Calls the JavaScript half of the host, as a job. Returns `None` if the call threw and the script handled the exception.
    pub(crate) fn call(
        &self,
        path: &str,
        arguments: impl FnOnce(&Realm) -> Result<Vec<Value>, Exception>,
    ) -> Result<Option<Value>, Stop> {
        let begun = self.agent.begin_job();
        begun
            .map_err(|error| Stop::Failed(Box::new(Failure::internal(self.host.id, error.message)), None))?;
        let called =
            arguments(self.realm()).and_then(|arguments| self.host.call(self.realm(), path, &arguments));
        match called {
            Ok(value) => Ok(Some(value)),
            Err(exception) => self.uncaught(FailureKind::Uncaught, &exception).map(|()| None),
        }
    }

    /// Runs what follows every job: `nextTick` callbacks and then microtasks, until neither is left, and then the handlers of unhandled
    /// rejections.
    pub(crate) fn run_microtasks(&self) -> Result<(), Stop> {
        loop {
            if self.host.wants_ticks.take() {
                self.call("runTicks", |_| Ok(Vec::new()))?;
            }
            self.run_promise_jobs()?;
            if self.host.wants_ticks.get() {
                continue;
            }
            let rejections = self.agent.runtime().take_rejections();
            if rejections.is_empty() {
                return Ok(());
            }
            for Rejection { promise, reason } in rejections {
                let arguments = |_: &Realm| Ok(vec![promise, reason.value().clone()]);
                let is_heard = self.call("rejected", arguments)?;
                if is_heard.is_some_and(|is_heard| !self.realm().to_bool(&is_heard)) {
                    return Err(self.stop(FailureKind::UnhandledRejection, &reason));
                }
            }
        }
    }

    pub(crate) fn run_promise_jobs(&self) -> Result<(), Stop> {
        while let Err(exception) = self.agent.runtime().run_microtasks() {
            self.uncaught(FailureKind::Uncaught, &exception)?;
        }
        Ok(())
    }
}
