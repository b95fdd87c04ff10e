//! One case, in a process of its own: the harness, the test, and the outcome.
//!
//! `host.rs` has the functions of `$262`, `agents.rs` the communication between the agents of a test.

use std::cell::Cell;
use std::fs;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::process::exit;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use waitword_quickjs::{
    Attributes, Doorbell, Exception, JsAgent, JsAgentOptions, Module, ModuleLoader, PromiseState, Realm,
    RuntimeOptions, Value,
};

use crate::test262::args::Test262Case;
use crate::test262::front_matter::{FrontMatter, Phase};
use crate::test262::outcome;
use crate::test262::plan::Mode;
use crate::test262::suite::Suite;

mod agents;
mod host;

use agents::{Agents, Place, THREAD_STACK};
use host::Host;

/// Runs a case, prints the outcome, and ends the process with all its agents.
pub(crate) fn run(command: Test262Case) -> ! {
    let main = thread::Builder::new().stack_size(THREAD_STACK).spawn(move || judge(&command));
    let outcome = match main.map(thread::JoinHandle::join) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err("the host panicked: this is a bug in waitword".to_owned()),
        Err(error) => Err(format!("cannot start a thread: {error}")),
    };
    // One write, so that the output of no agent comes between.
    let _ = std::io::stdout().write_all(outcome::line(&outcome).as_bytes());
    // Not by returning, because agents may be blocked forever.
    exit(0)
}

fn judge(command: &Test262Case) -> Result<(), String> {
    let suite = Suite::open(&command.dir)?;
    let text = suite.read(&command.file)?;
    let test = FrontMatter::parse(&text)?;
    let agent = new_agent(!test.has("CanBlockIsFalse"), Arc::default())?;
    let host = Host::install(&agent, Arc::new(Agents::new(live)), None).map_err(|error| error.to_string())?;
    // An absolute path, because imports are relative to it.
    let path = suite.root().join(&command.file);
    let is_asked = Loader::install(&agent, &path);
    if !test.has("raw") {
        let always = ["assert.js", "sta.js"].map(str::to_owned).into_iter();
        let done = test.has("async").then(|| "doneprintHandle.js".to_owned());
        for name in always.chain(done).chain(test.includes.iter().cloned()) {
            let harness = suite.read(&format!("harness/{name}"))?;
            agent.eval(&name, &harness).map_err(|error| format!("in the harness: {error}"))?;
        }
    }
    let name = path.to_string_lossy();
    let thrown = match command.mode {
        Mode::Sloppy => run_script(agent.realm(), &name, &text),
        Mode::Strict => run_script(agent.realm(), &name, &format!("\"use strict\";\n{text}")),
        Mode::Module => run_module(&agent, &host, &is_asked, &name, &text)?,
    };
    match (&test.negative, thrown) {
        (Some(negative), Some(thrown)) => thrown.compare(agent.realm(), negative.phase, &negative.kind),
        (Some(negative), None) => {
            Err(format!("expected {} ({}), but nothing was thrown", negative.kind, negative.phase.name()))
        }
        (None, Some(thrown)) => Err(agent.realm().describe(&thrown.exception).message),
        (None, None) if test.has("async") => until_done(&agent, &host),
        (None, None) => Ok(()),
    }
}

/// What a test threw, and in which phase.
struct Thrown {
    phase: Phase,
    exception: Exception,
}

fn run_script(realm: &Realm, name: &str, text: &str) -> Option<Thrown> {
    let script = match realm.parse_script(name, text) {
        Ok(script) => script,
        Err(exception) => return Some(Thrown { phase: Phase::Parse, exception }),
    };
    let ran = realm.run_script(script);
    ran.err().map(|exception| Thrown { phase: Phase::Runtime, exception })
}

/// Runs a module until it ends.
///
/// # Errors
/// If it never ends.
fn run_module(
    agent: &JsAgent,
    host: &Host,
    is_asked: &Cell<bool>,
    name: &str,
    text: &str,
) -> Result<Option<Thrown>, String> {
    let promise = match agent.realm().eval_module(name, name, text) {
        Ok(promise) => promise,
        Err(exception) => {
            // The engine parses a module before it resolves the first import, and links it before it runs it.
            let phase = if is_asked.get() { Phase::Resolution } else { Phase::Parse };
            return Ok(Some(Thrown { phase, exception }));
        }
    };
    let state = |promise: &Value| agent.realm().promise_state(promise);
    run_jobs(agent, host, || !matches!(state(&promise), PromiseState::Pending))?;
    match state(&promise) {
        PromiseState::Rejected(exception) => Ok(Some(Thrown { phase: Phase::Runtime, exception })),
        PromiseState::Pending => Err("the module awaits a promise that can never be settled".to_owned()),
        PromiseState::Fulfilled(_) | PromiseState::NotAPromise => Ok(None),
    }
}

/// Runs jobs until the test reports its result.
fn until_done(agent: &JsAgent, host: &Host) -> Result<(), String> {
    const COMPLETE: &str = "Test262:AsyncTestComplete";
    const FAILURE: &str = "Test262:AsyncTestFailure:";
    let outcome = || host.printed(|line| line == COMPLETE || line.starts_with(FAILURE));
    run_jobs(agent, host, || outcome().is_some())?;
    match outcome() {
        None => Err("$DONE was not called, and no job is left to run".to_owned()),
        Some(line) => line.strip_prefix(FAILURE).map_or(Ok(()), |error| Err(error.to_owned())),
    }
}

impl Thrown {
    /// Checks that this is the error that a negative test must throw.
    fn compare(&self, realm: &Realm, phase: Phase, kind: &str) -> Result<(), String> {
        let constructor = realm.get(self.exception.value(), "constructor");
        let name = constructor.and_then(|constructor| realm.get(&constructor, "name"));
        let name = name.and_then(|name| realm.to_string(&name)).unwrap_or_default();
        if name == kind && self.phase == phase {
            return Ok(());
        }
        let message = realm.describe(&self.exception).message;
        Err(format!("expected {kind} ({}), but got ({}) {message}", phase.name(), self.phase.name()))
    }
}

/// The bytes of an agent's stack that scripts may use. Tests recurse deeply.
const SCRIPT_STACK: usize = 4 << 20;

fn new_agent(can_block: bool, bell: Arc<Doorbell>) -> Result<Rc<JsAgent>, String> {
    let runtime = RuntimeOptions { stack_size: SCRIPT_STACK, ..RuntimeOptions::default() };
    let agent = JsAgent::with_doorbell(&JsAgentOptions { can_block, runtime }, bell);
    agent.map(Rc::new).map_err(|error| error.to_string())
}

/// The whole life of an agent, on its own thread.
fn live(place: &Place, source: &str, running: Box<dyn FnOnce()>) -> Result<(), String> {
    let agent = new_agent(true, Arc::clone(&place.bell))?;
    let host = Host::install(&agent, Arc::clone(&place.agents), Some(place.seat));
    let host = host.map_err(|error| error.to_string())?;
    running();
    agent.eval("agent.js", source).map_err(|error| error.to_string())?;
    // An agent that called `leaving` may end, but not while its waits are pending, because a notify may have counted one.
    run_jobs(&agent, &host, || host.has_left.get() && agent.pending_count() == 0)
}

/// The event loop of an agent: runs a job, then its microtasks, then the next job, and sleeps when there is none. It ends when
/// `is_done`, which is checked between jobs, or when no more jobs can come.
///
/// # Errors
/// What a job throws.
fn run_jobs(agent: &JsAgent, host: &Host, is_done: impl Fn() -> bool) -> Result<(), String> {
    loop {
        // Cleared before the check for work, so that a ring during the check is not lost.
        agent.doorbell().clear();
        agent.run_microtasks().map_err(|error| error.to_string())?;
        if is_done() {
            return Ok(());
        }
        if run_one_job(agent, host)? {
            continue;
        }
        let deadline = [agent.next_deadline(), host.next_timer()].into_iter().flatten().min();
        let may_be_called = host.is_expecting() || (agent.pending_count() > 0 && host.has_company());
        if deadline.is_none() && !may_be_called {
            return Ok(());
        }
        agent.doorbell().sleep(deadline);
    }
}

/// Returns whether there was a job.
fn run_one_job(agent: &JsAgent, host: &Host) -> Result<bool, String> {
    agent.expire_due(Instant::now());
    let settled = agent.settle_one().map_err(|error| error.to_string())?;
    if settled {
        return Ok(true);
    }
    agent.begin_job().map_err(|error| error.to_string())?;
    let ran = host.run_job(agent.realm());
    ran.map_err(|exception| agent.realm().describe(&exception).to_string())
}

/// Finds the modules that the test imports, by path. The names of modules are absolute paths.
struct Loader {
    /// The folder of the test, for source text that is not in a file.
    folder: PathBuf,
    asked: Rc<Cell<bool>>,
}

impl Loader {
    /// Installs the loader for a test in this file. The result is set when the engine first asks it for a module.
    fn install(agent: &JsAgent, test: &Path) -> Rc<Cell<bool>> {
        let asked = Rc::<Cell<bool>>::default();
        let folder = test.parent().unwrap_or(test).to_path_buf();
        agent.runtime().set_module_loader(Self { folder, asked: Rc::clone(&asked) });
        asked
    }
}

impl ModuleLoader for Loader {
    fn resolve(&self, realm: &Realm, importer: &str, specifier: &str) -> Result<String, Exception> {
        self.asked.set(true);
        if !specifier.starts_with(['.', '/']) {
            return Err(realm.type_error(&format!("cannot find the module '{specifier}'")));
        }
        let importer = Path::new(importer);
        let folder = importer.parent().filter(|folder| folder.is_absolute()).unwrap_or(&self.folder);
        Ok(normal(&folder.join(specifier)).to_string_lossy().into_owned())
    }

    fn load(&self, realm: &Realm, name: &str) -> Result<Module, Exception> {
        let text = fs::read_to_string(name);
        let text = text.map_err(|error| realm.type_error(&format!("cannot read {name}: {error}")))?;
        if !name.ends_with(".json") {
            return Ok(Module::Source { text, url: name.to_owned(), file: Some(name.to_owned()) });
        }
        let json = realm.get(&realm.global(), "JSON")?;
        let parse = realm.get(&json, "parse")?;
        let exports = realm.object()?;
        let value = realm.call(&parse, &json, &[realm.string(&text)?])?;
        realm.define(&exports, "default", &value, Attributes::ASSIGNED)?;
        Ok(Module::Exports(exports))
    }
}

/// The path without `.` and `..`, so that one file has one name.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            part => normal.push(part),
        }
    }
    normal
}
