//! The start of an agent: its JavaScript half, then its script: finding, reading and running it.

use std::path::Path;

use crate::agent_host::Host;
use crate::ended::{Failure, FailureKind};
use crate::path_text::{path_of, text_of};
use crate::source_file::{self, Unreadable};
use crate::source_text::SourceText;
use crate::sources;
use crate::worker_options::{Data, EVAL, Entry, Shape};
use crate::{agent_host, module_loader, natives, parts};
use waitword_quickjs::{Attributes, Exception, IntoJs, Realm, Value};

use super::{EventLoop, Stop};

impl EventLoop<'_> {
    /// Runs the JavaScript half, which defines the globals. Its memory is not charged to the scripts.
    ///
    /// # Errors
    /// If the engine runs out of memory for `workerData`.
    pub(crate) fn boot(&self, data: Data) -> Result<(), Exception> {
        let (host, realm) = (self.host, self.realm());
        realm.beyond_memory_limit(|| {
            let script = realm.object()?;
            realm.set(&script, "native", &natives::object(realm)?)?;
            realm.set(&script, "options", &options(host, realm, data)?)?;
            parts::run_all(realm, host.script.get_or_init(|| script))
        })
    }

    /// Runs the agent's script. Returns the promise of a module.
    pub(crate) fn start(&self, entry: Entry) -> Result<Option<Value>, Stop> {
        let (name, source) = match entry {
            Entry::Source(text) => (EVAL.to_owned(), SourceText::from(text)),
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
        let is_repeatable = name != EVAL && path_of(Path::new(&name)).is_file();
        let source = match is_repeatable {
            true => &source,
            // Kept for the lines that errors show. An agent starts once, so the cell is empty.
            false => &self.host.unrepeatable.get_or_init(|| (name.clone(), source)).1,
        };
        let text = &*source.text;
        let realm = self.realm();
        let module = |text: &str| {
            let promise = realm.eval_module(&name, &module_loader::url_of_script(&name), text)?;
            // Its rejection fails the program; see `has_failed`.
            realm.mark_handled(&promise);
            Ok(Some(promise))
        };
        let run = || match self.host.shape {
            Shape::Node if module_loader::is_data(&name) => module(text),
            Shape::Node => match sources::compile(self.host, realm, &name, text)? {
                Some(function) => {
                    self.has_started();
                    self.host.call(realm, "runScript", &[realm.string(&name)?, function]).map(|_| None)
                }
                None => module(text),
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

    /// The text of a `data:` URL that is a worker's script.
    fn read_data(&self, url: &str) -> Result<String, Exception> {
        let realm = self.realm();
        realm.to_string(&self.host.call(realm, "dataModule", &[realm.string(url)?, realm.bool(true)])?)
    }

    /// Returns the rest of the memory that was charged in advance for the start.
    fn has_started(&self) {
        if let Some(budget) = self.realm().memory_budget() {
            budget.return_advance();
        }
    }

    fn read(&self, path: &Path) -> Result<(String, SourceText), Stop> {
        // By its own path first, because a pipe can be opened only once.
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

/// Creates `host.options`. The message of its parent stays with the agent until `takeData` reads it.
///
/// # Errors
/// If the engine runs out of memory.
fn options(host: &Host, realm: &Realm, data: Data) -> Result<Value, Exception> {
    let options = realm.object()?;
    let put = |name: &str, value: Result<Value, Exception>| realm.set(&options, name, &value?);
    put("argv", host.argv.clone().into_js(realm))?;
    put("pid", std::process::id().into_js(realm))?;
    put("platform", platform().into_js(realm))?;
    put("arch", architecture().into_js(realm))?;
    put("version", env!("CARGO_PKG_VERSION").into_js(realm))?;
    put("isMainThread", host.is_main().into_js(realm))?;
    put("threadId", host.id.into_js(realm))?;
    match data {
        Data::OfParent { data, variables, name } => {
            *host.links.data() = Some(data);
            put("env", env(realm, variables.chunks_exact(2).map(|pair| (&*pair[0], &*pair[1]))))?;
            put("web", name.into_js(realm))?;
        }
        Data::OfEmbedder(shared) => {
            put("shared", shared.into_js(realm))?;
            put("env", environment(realm))?;
        }
    }
    Ok(options)
}

/// The process's environment. Variables that are not UTF-8 are left out.
fn environment(realm: &Realm) -> Result<Value, Exception> {
    let text = |each: std::ffi::OsString| each.into_string().ok();
    let pairs: Vec<_> =
        std::env::vars_os().filter_map(|(key, value)| Some((text(key)?, text(value)?))).collect();
    env(realm, pairs.iter().map(|(key, value)| (&**key, &**value)))
}

/// An object with these names and values.
fn env<'a>(realm: &Realm, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Value, Exception> {
    let env = realm.object()?;
    for (name, value) in pairs {
        realm.define(&env, name, &realm.string(value)?, Attributes::ASSIGNED)?;
    }
    Ok(env)
}

/// Node's name for this system.
fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

/// Node's name for this processor.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x64",
        "x86" => "ia32",
        "aarch64" => "arm64",
        other => other,
    }
}
