//! One case, in a process of its own: the harness, the test, and the outcome.
//!
//! `host.rs` is what the test finds in `$262`, `agents.rs` what goes between the agents that it starts, `life.rs` what each of them
//! does, `modules.rs` what the test imports.

use std::cell::Cell;
use std::io::Write as _;
use std::process::exit;
use std::sync::Arc;
use std::thread;

use waitword_quickjs::{Exception, JsAgent, PromiseState, Realm, Value};

use crate::test262::args::Test262Case;
use crate::test262::front_matter::{FrontMatter, Phase};
use crate::test262::outcome;
use crate::test262::plan::Mode;
use crate::test262::suite::Suite;

mod agents;
mod host;
mod life;
mod modules;

use agents::{Agents, THREAD_STACK};
use host::Host;
use life::{live, new_agent, run_jobs};
use modules::Loader;

/// Runs a case, prints the outcome, and ends the process with all its agents.
pub(crate) fn run(command: Test262Case) -> ! {
    let main = thread::Builder::new().stack_size(THREAD_STACK).spawn(move || judge(&command));
    let outcome = match main.map(thread::JoinHandle::join) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err("this is a bug in waitword: the host panicked".to_owned()),
        Err(error) => Err(format!("cannot start a thread: {error}")),
    };
    // One write, so that no agent's words come between.
    let _ = std::io::stdout().write_all(outcome::line(&outcome).as_bytes());
    // Not by return: agents may be blocked for ever.
    exit(0)
}

fn judge(command: &Test262Case) -> Result<(), String> {
    let suite = Suite::open(&command.dir)?;
    let text = suite.read(&command.file)?;
    let test = FrontMatter::parse(&text)?;
    let agent = new_agent(test.flags.can_block.unwrap_or(true), Arc::default())?;
    let host = Host::install(&agent, Arc::new(Agents::new(live)), None).map_err(|error| error.to_string())?;
    // An absolute path, because imports count from there.
    let path = suite.root().join(&command.file);
    let is_asked = Loader::install(&agent, &path);
    if !test.flags.raw {
        let always = ["assert.js", "sta.js"].map(str::to_owned).into_iter();
        let done = test.flags.is_async.then(|| "doneprintHandle.js".to_owned());
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
            Err(format!("it threw nothing, expected: {} ({})", negative.kind, negative.phase.name()))
        }
        (None, Some(thrown)) => Err(agent.realm().describe(&thrown.exception).message),
        (None, None) if test.flags.is_async => until_done(&agent, &host),
        (None, None) => Ok(()),
    }
}

/// What a test threw, and how far it had got.
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

/// Runs a module to its end.
///
/// # Errors
/// When it never comes there.
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
            // The engine parses a module before it asks for the first of its imports, and links it before it runs it.
            let phase = if is_asked.get() { Phase::Resolution } else { Phase::Parse };
            return Ok(Some(Thrown { phase, exception }));
        }
    };
    let state = |promise: &Value| agent.realm().promise_state(promise);
    run_jobs(agent, host, || !matches!(state(&promise), PromiseState::Pending))?;
    match state(&promise) {
        PromiseState::Rejected(exception) => Ok(Some(Thrown { phase: Phase::Runtime, exception })),
        PromiseState::Pending => Err("the module awaits a promise that cannot be settled".to_owned()),
        PromiseState::Fulfilled(_) | PromiseState::NotAPromise => Ok(None),
    }
}

/// Runs jobs until the test says how it went.
fn until_done(agent: &JsAgent, host: &Host) -> Result<(), String> {
    const COMPLETE: &str = "Test262:AsyncTestComplete";
    const FAILURE: &str = "Test262:AsyncTestFailure:";
    run_jobs(agent, host, || host.printed(|line| line == COMPLETE || line.starts_with(FAILURE)).is_some())?;
    match host.printed(|line| line == COMPLETE || line.starts_with(FAILURE)) {
        None => Err("nothing is left to run, and $DONE was not called".to_owned()),
        Some(line) => line.strip_prefix(FAILURE).map_or(Ok(()), |error| Err(error.to_owned())),
    }
}

impl Thrown {
    /// Whether this is the error that a negative test has to end with.
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
