//! What nobody caught: whether the script takes care of it, or the agent ends.

use crate::describe;
use crate::failure::{Failure, FailureKind};
use waitword_quickjs::{Exception, PromiseState, Value};

use super::state::EventLoop;
use super::stop::Stop;

impl EventLoop<'_> {
    /// Whether the main module has failed, and the script takes care of that.
    pub(crate) fn has_failed(&self, promise: Option<&Value>) -> Result<bool, Stop> {
        match promise.map(|promise| self.realm().promise_state(promise)) {
            Some(PromiseState::Rejected(reason)) => {
                let origin = "unhandledRejection";
                self.uncaught_of(FailureKind::Uncaught, &reason, origin).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// What nobody caught: for the script if it listens to that, otherwise the agent's end.
    pub(crate) fn uncaught(&self, kind: FailureKind, exception: &Exception) -> Result<(), Stop> {
        self.uncaught_of(kind, exception, "uncaughtException")
    }

    fn uncaught_of(&self, kind: FailureKind, exception: &Exception, origin: &str) -> Result<(), Stop> {
        if self.stopped().is_some() || exception.is_uncatchable() {
            return Err(self.stop(kind, exception));
        }
        let realm = self.realm();
        let heard = realm
            .string(origin)
            .and_then(|origin| self.host.call(realm, "uncaught", &[exception.value().clone(), origin]));
        match heard {
            Ok(is_heard) if realm.to_bool(&is_heard) => Ok(()),
            Ok(_) => Err(self.stop(kind, exception)),
            Err(inner) => Err(self.stop(kind, &inner)),
        }
    }

    /// Why the agent stops after this exception.
    pub(crate) fn stop(&self, kind: FailureKind, exception: &Exception) -> Stop {
        if let Some(stop) = self.stopped() {
            return stop;
        }
        let kind = if exception.is_uncatchable() { FailureKind::Internal } else { kind };
        let failure = describe::failure(self.host, self.realm(), kind, exception);
        let thrown = self.host.pack_error(self.realm(), failure.kind, exception.value());
        Stop::Failed(Box::new(failure), thrown)
    }

    /// Whether the agent has to stop, by its own will or by that of others.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        let exit = self.host.exit.get().map(Stop::Exit);
        let spent = || Stop::Failed(Box::new(Failure::out_of_memory(self.host.id)), None);
        exit.or_else(|| self.agent.is_terminated().then_some(Stop::Terminated))
            .or_else(|| self.agent.runtime().is_out_of_memory().then(spent))
    }
}
