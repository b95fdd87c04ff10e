//! The script of an agent, from where it is to its first end.

use std::path::Path;

use crate::ffi::{Exception, Value};
use crate::host::failure::{Failure, FailureKind};
use crate::host::sources::{self, Compiled};
use crate::host::worker::{Entry, Shape};
use crate::host::{agent_host, module_loader};

use super::{EventLoop, Stop};

impl EventLoop<'_> {
    /// Runs the agent's script; the promise of a module.
    pub(super) fn start(&self, entry: Entry) -> Result<Option<Value>, Stop> {
        let realm = self.realm();
        let (name, text) = match entry {
            Entry::Source(text) => (sources::EVAL.to_owned(), text),
            Entry::File(path) => self.read(&path)?,
            Entry::Data(url) => match self.read_data(&url) {
                Ok(text) => (url, text),
                Err(exception) => return self.uncaught(FailureKind::Uncaught, &exception).map(|()| None),
            },
        };
        let module = |text: &str| {
            let promise = realm.eval_module(&name, &module_loader::url(&name), text)?;
            // Its rejection is the program's failure; see `has_failed`.
            realm.mark_handled(&promise);
            Ok(Some(promise))
        };
        let run = || match self.host.shape {
            Shape::Node if module_loader::is_data(&name) => module(&text),
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
        let exception = match run() {
            Ok(started) => return Ok(started),
            Err(exception) => exception,
        };
        match self.uncaught(FailureKind::Uncaught, &exception) {
            Ok(()) => Ok(None),
            Err(Stop::Failed(mut failure, thrown))
                if failure.kind == FailureKind::Load && failure.place.is_none() =>
            {
                failure.details = format!("while loading {name}");
                Err(Stop::Failed(failure, thrown))
            }
            Err(stop) => Err(stop),
        }
    }

    /// The text of a module that a worker begins with.
    fn read_data(&self, url: &str) -> Result<String, Exception> {
        let realm = self.realm();
        realm.to_string(&self.host.call(realm, "dataModule", &[realm.string(url)?, realm.bool(true)])?)
    }

    fn read(&self, path: &Path) -> Result<(String, String), Stop> {
        let read = || {
            let text = sources::read(path)?;
            let path =
                path.canonicalize().map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            Ok((path.to_string_lossy().into_owned(), text))
        };
        read().map_err(|message: String| {
            let error = agent_host::error_with_code(self.realm(), "MODULE_NOT_FOUND", &message);
            let thrown = self.host.pack_error(self.realm(), FailureKind::Load, error.value());
            Stop::Failed(Box::new(Failure::load(self.host.id, message)), thrown)
        })
    }
}
