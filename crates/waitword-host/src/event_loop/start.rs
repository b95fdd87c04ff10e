//! The start of an agent: its JavaScript half, then its script, from where that is to its first end.

use std::path::Path;

use crate::ended::{Failure, FailureKind};
use crate::path_text::{path_of, text_of};
use crate::source_file::{self, Unreadable};
use crate::source_text::SourceText;
use crate::sources::{self, Compiled};
use crate::worker_options::{Data, Entry, Shape};
use crate::{agent_host, module_loader, natives, options, parts};
use waitword_quickjs::{Exception, Value};

use super::{EventLoop, Stop};

impl EventLoop<'_> {
    /// Runs the JavaScript half: the globals of the scripts. The memory that this takes is the host's, not theirs.
    ///
    /// # Errors
    /// Lack of memory for `workerData`.
    pub(crate) fn boot(&self, data: Data) -> Result<(), Exception> {
        let (host, realm) = (self.host, self.realm());
        realm.beyond_memory_limit(|| {
            let script = realm.object()?;
            realm.set(&script, "native", &natives::object(realm)?)?;
            realm.set(&script, "options", &options::object(host, realm, data)?)?;
            parts::run_all(realm, host.set_script(script))
        })
    }

    /// Runs the agent's script; the promise of a module.
    pub(crate) fn start(&self, entry: Entry) -> Result<Option<Value>, Stop> {
        let (name, source) = match entry {
            Entry::Source(text) => (sources::EVAL.to_owned(), SourceText::from(text)),
            Entry::File(path) => self.read(&path)?,
            Entry::Data(url) => match self.read_data(&url) {
                Ok(text) => (url, SourceText::from(text)),
                Err(exception) => return self.uncaught(FailureKind::Uncaught, &exception).map(|()| None),
            },
            Entry::Stdin => {
                let read = source_file::read_stdin(self.realm()).map_err(|why| self.unreadable(why))?;
                (sources::STDIN.to_owned(), read)
            }
        };
        let is_repeatable = name != sources::EVAL && path_of(Path::new(&name)).is_file();
        let source = match is_repeatable {
            true => &source,
            // For the lines that errors show. An agent starts once, so the cell is empty.
            false => &self.host.unrepeatable.get_or_init(|| (name.clone(), source)).1,
        };
        let text = &*source.text;
        let realm = self.realm();
        let module = |text: &str| {
            let promise = realm.eval_module(&name, &module_loader::url_of_script(&name), text)?;
            // Its rejection is the program's failure; see `has_failed`.
            realm.mark_handled(&promise);
            Ok(Some(promise))
        };
        let run = || match self.host.shape {
            Shape::Node if module_loader::is_data(&name) => module(text),
            Shape::Node => match sources::compile(self.host, realm, &name, text)? {
                Compiled::Script(function) => {
                    self.has_started();
                    self.host.call(realm, "runScript", &[realm.string(&name)?, function]).map(|_| None)
                }
                Compiled::Module => module(text),
            },
            Shape::WebScript => match sources::compile_global(realm, &name, text)? {
                Some(script) => realm.run_script(script).map(|_| None),
                None => module(text),
            },
            Shape::WebModule => module(text),
        };
        let ran = run();
        self.has_started();
        let exception = match ran {
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

    /// From now on the agent has of the program's memory what the others have not.
    fn has_started(&self) {
        if let Some(budget) = self.realm().memory_budget() {
            budget.return_advance();
        }
    }

    fn read(&self, path: &Path) -> Result<(String, SourceText), Stop> {
        // By its own name first, which a pipe may have only once.
        let read = source_file::read(self.realm(), path).map_err(|why| self.unreadable(why))?;
        let name =
            sources::canonical(path).map_err(|message| self.unreadable(Unreadable::Refused(message)))?;
        Ok((text_of(&name), read))
    }

    fn unreadable(&self, why: Unreadable) -> Stop {
        let (kind, message) = match why {
            Unreadable::Refused(message) => (FailureKind::Load, message),
            Unreadable::OutOfMemory(message) => (FailureKind::OutOfMemory, message),
            Unreadable::Stopped => return self.stopped().unwrap_or(Stop::Terminated),
        };
        let error = agent_host::error_with_code(self.realm(), "MODULE_NOT_FOUND", &message);
        let thrown = self.host.pack_error(self.realm(), kind, error.value());
        Stop::Failed(Box::new(Failure::plain(self.host.id, kind, message)), thrown)
    }
}
