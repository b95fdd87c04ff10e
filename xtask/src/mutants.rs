//! The mutants of the queue and of the locks: each weakens one step, and some model or test has to notice.
//!
//! The sources name the steps (`mutant!("…" => …)`, `order!(…, "…")`). A model or test reads from `WAITWORD_MUTANT` which step to omit, so
//! each suite is built once. verify/README.md has more.

use std::cell::OnceCell;
use std::time::Duration;

use crate::line::{Ended, Limits, Line, Stop};
use crate::repeat::messages;

/// The crates whose steps have names, and the suite that is answerable for them: it has to notice.
const SOURCES: [(&str, &str); 3] = [
    ("crates/waitword-core/src", "queue, loom"),
    ("crates/waitword-observe/src", "locks, loom"),
    ("crates/waitword/src", "locks, loom"),
];

/// The steps for which another suite is answerable.
const EXCEPTIONS: [(&str, &[&str]); 3] = [
    // Steps of the queue by which a waiter gets a lock: the queue's own suites have no locks, and pass without some of them.
    (
        "locks, loom",
        &[
            "leave-emptied",
            "leave-signalled",
            "relock-requeued",
            "requeue-signal",
            "signal-none",
            "watchdog-signal",
        ],
    ),
    // The watchdog runs in no model.
    (
        "queue, watchdog",
        &[
            "pass-bucket",
            "watch-enqueue",
            "watch-question",
            "watch-request",
            "watch-requeue",
            "watch-signal",
            "watchdog-again",
            "watchdog-go-on",
            "watchdog-idle",
            "watchdog-recheck",
        ],
    ),
    ("queue, unit tests", &["timer-deposed"]),
];

/// Models, and who checks them; or tests, which nobody checks.
#[derive(Debug)]
struct Suite {
    name: &'static str,
    checker: &'static str,
    tests: &'static str,
}

const NOBODY: &str = "";

const SUITES: [Suite; 4] = [
    Suite { name: "queue, loom", checker: "loom", tests: "waitword-core-models --test loom" },
    Suite { name: "locks, loom", checker: "loom", tests: "waitword-models --test models" },
    Suite { name: "queue, watchdog", checker: NOBODY, tests: "waitword-core --test watchdog" },
    Suite { name: "queue, unit tests", checker: NOBODY, tests: "waitword-core --lib" },
];

/// A model that computes for longer than `cpu` shows nothing: with nothing broken none takes more than [`SMALL`], but a mutant may have more
/// interleavings. A thread that waits in vain computes nothing (a test), or is a deadlock or too many steps, which the checker reports.
const LIMITS: Limits = Limits { cpu: Duration::from_secs(120), idle: Duration::from_secs(60) };

/// A model that takes more CPU time with nothing broken is to be made smaller.
const SMALL: Duration = Duration::from_secs(30);

pub(crate) fn run(only: Option<&str>) -> Result<(), Stop> {
    let mut mutants = steps()?;
    if let Some(only) = only {
        let only: Vec<&str> = only.split(',').collect();
        if let Some(none) = only.iter().find(|only| !mutants.iter().any(|(name, _)| name == *only)) {
            let names: Vec<&str> = mutants.iter().map(|(name, _)| name.as_str()).collect();
            return Err(Stop::Usage(format!("no mutant is called {none}; there are {}", names.join(", "))));
        }
        mutants.retain(|(name, _)| only.contains(&name.as_str()));
    }

    let built: [OnceCell<Models>; SUITES.len()] = Default::default();
    let (mut missed, mut inconclusive) = (Vec::new(), Vec::new());
    for (mutant, index) in mutants {
        let (suite, models) = (&SUITES[index], &built[index]);
        if models.get().is_none() {
            let _ = models.set(Models::build(suite)?);
        }
        let models = models.get().expect("built");
        match models.verdict(Some(&mutant), &models.near(&mutant))? {
            Verdict::Killed(model) => println!("{mutant}: {}, {model}", suite.name),
            Verdict::Survived => {
                println!("{mutant}: {} is answerable, and does not notice", suite.name);
                missed.push(mutant);
            }
            Verdict::Inconclusive(slow) => {
                println!("{mutant}: {}, inconclusive: {slow}", suite.name);
                inconclusive.push(mutant);
            }
        }
    }
    let complaints = [
        ("no model of the suite that is answerable notices", missed),
        ("inconclusive, because a model was too slow and no other one notices", inconclusive),
    ];
    let complaints = complaints.iter().filter(|(_, mutants)| !mutants.is_empty());
    let complaints: Vec<_> =
        complaints.map(|(what, mutants)| format!("{what}: {}", mutants.join(", "))).collect();
    if complaints.is_empty() { Ok(()) } else { Err(Stop::Failed(complaints.join("\n"))) }
}

/// All steps of the sources, each with the index of its suite in [`SUITES`].
fn steps() -> Result<Vec<(String, usize)>, Stop> {
    let mut steps = Vec::new();
    for (folder, suite) in SOURCES {
        let text = Line::new("git grep -hF --untracked -e mutant!( -e order!( --").args([folder]).read()?;
        steps.extend(named_in(&text).into_iter().map(|name| {
            let exception = EXCEPTIONS.iter().find(|(_, names)| names.contains(&name.as_str()));
            let suite = exception.map_or(suite, |&(suite, _)| suite);
            (name, SUITES.iter().position(|each| each.name == suite).expect("a suite"))
        }));
    }
    Ok(steps)
}

/// The line that runs `tests` (a package of `verify/models/` and its tests) under `checker`: `verify/models/` is a workspace of its own, and the checker is a `cfg`.
pub(crate) fn models(checker: &str, tests: &str) -> Line {
    Line::new("cargo test --release --manifest-path verify/models/Cargo.toml -p")
        .args(tests.split(' '))
        .args(["--target-dir".to_owned(), format!("target/{checker}")])
        .env("RUSTFLAGS", &format!("--cfg waitword_{checker}"))
        // Calls of the checker inlined take a fifth off the time that it computes.
        .env("CARGO_PROFILE_RELEASE_LTO", "fat")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
}

/// The line that runs `tests` of a package, in which steps can be omitted as in the models.
fn tests_with_mutants(tests: &str) -> Line {
    Line::new("cargo test -p")
        .args(tests.split(' '))
        .args(["--target-dir", "target/mutants"])
        .env("RUSTFLAGS", "--cfg waitword_mutants")
}

/// The models of one crate, under one checker.
#[derive(Debug)]
struct Models {
    program: String,
    names: Vec<String>,
    limits: Limits,
}

/// What the models say of a mutant.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// By the first model that fails, aborts or hangs, and which of these.
    Killed(String),
    Survived,
    /// All pass but those that were stopped while they computed, with their CPU time. They may have been about to fail, or to pass.
    Inconclusive(String),
}

impl Models {
    /// If a model fails anyway, it catches nothing: so all are run with nothing broken.
    fn build(suite: &Suite) -> Result<Self, Stop> {
        let line = match suite.checker {
            NOBODY => tests_with_mutants(suite.tests),
            checker => models(checker, suite.tests),
        };
        println!("$ {line}");
        // Not run by cargo: a model that aborts would take the others along, and one that hangs could not be stopped.
        let built = line.args(["--no-run", "--message-format=json"]).read()?;
        let program = messages(&built).find_map(|message| message["executable"].as_str().map(str::to_owned));
        let program =
            program.ok_or_else(|| Stop::Failed(format!("cargo has not said what it built:\n{built}")))?;
        let list = Line::new("").args([program.as_str(), "--list", "--format=terse"]).read()?;
        let names = list.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect();
        let models = Self { program, names, limits: LIMITS };
        match models.verdict(None, &models.near(""))? {
            Verdict::Killed(red) => Err(Stop::Failed(format!("nothing is broken, and a model fails: {red}"))),
            Verdict::Inconclusive(slow) => Err(Stop::Failed(format!(
                "nothing is broken, and a model is too slow, so make it smaller: {slow}"
            ))),
            Verdict::Survived => Ok(models),
        }
    }

    /// Those that may notice: of a lock, if the mutant is one of its steps, or all.
    fn near(&self, mutant: &str) -> Vec<&str> {
        let lock = mutant.split('-').next().unwrap_or_default();
        let of_lock: Vec<&str> =
            self.names.iter().map(String::as_str).filter(|name| module(name) == lock).collect();
        if of_lock.is_empty() { self.names.iter().map(String::as_str).collect() } else { of_lock }
    }

    fn verdict(&self, mutant: Option<&str>, names: &[&str]) -> Result<Verdict, Stop> {
        let mut slow = Vec::new();
        for &name in names {
            let line = Line::new("").args([self.program.as_str(), "--exact", name]);
            let line = mutant.into_iter().fold(line, |line, mutant| line.env("WAITWORD_MUTANT", mutant));
            let ending = line.end_within(self.limits, None)?;
            let took = format!("{name} ({} CPU-seconds)", ending.cpu.as_secs());
            match ending.how {
                Ended::Badly => return Ok(Verdict::Killed(name.to_owned())),
                Ended::Hung => return Ok(Verdict::Killed(format!("{name} (hangs)"))),
                Ended::Slow => slow.push(took),
                Ended::Well if mutant.is_none() && ending.cpu > SMALL => println!("make it smaller: {took}"),
                Ended::Well => {}
            }
        }
        Ok(if slow.is_empty() { Verdict::Survived } else { Verdict::Inconclusive(slow.join(", ")) })
    }
}

/// The lock that a model is of.
fn module(name: &str) -> &str {
    name.split_once("::").map_or("", |(module, _)| module)
}

/// The steps that a text names, each once.
fn named_in(sources: &str) -> Vec<String> {
    let steps = sources.split(r#"mutant!(""#).skip(1);
    let orders = sources.split("order!(").skip(1).filter_map(|rest| {
        let (order, name) = rest.split_once(", \"")?;
        order.chars().all(char::is_alphanumeric).then_some(name)
    });
    let names = steps.chain(orders).filter_map(|rest| rest.split('"').next());
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_exception_is_a_step_of_the_sources() {
        let steps = steps().unwrap();
        assert!(steps.len() > 50, "that is not all: {}", steps.len());
        for (suite, names) in EXCEPTIONS {
            for name in names {
                let index = steps.iter().find(|(step, _)| step == name).map(|&(_, index)| index);
                assert_eq!(index.map(|index| SUITES[index].name), Some(suite), "{name}");
            }
        }
    }

    /// A suite whose models do with a mutant what their names say, and pass without one.
    #[cfg(target_os = "linux")]
    fn verdict(cpu: u64, idle: u64, mutant: Option<&str>, names: &[&str]) -> Verdict {
        use std::io::Write;
        use std::process::{Command, Stdio};

        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("suite");
        let script = r#"#!/bin/sh
[ "$1" = --exact ] || exit 9
[ -z "$WAITWORD_MUTANT" ] && exit
case $2 in
passes) ;;
takes_long) sleep 1 ;;
fails) exit 101 ;;
aborts) kill -ABRT $$ ;;
hangs) exec sleep 1000 ;;
spins) while :; do :; done ;;
esac
"#;
        // Written by a process of its own: while another thread starts a process, that has all files that are open here, and a file that
        // someone writes cannot be run.
        let writes = ["-c", r#"cat > "$0" && chmod +x "$0""#, program.to_str().unwrap()];
        let mut writer = Command::new("sh").args(writes).stdin(Stdio::piped()).spawn().unwrap();
        writer.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        assert!(writer.wait().unwrap().success());
        let limits = Limits { cpu: Duration::from_millis(cpu), idle: Duration::from_millis(idle) };
        let models = Models { program: program.to_str().unwrap().to_owned(), names: Vec::new(), limits };
        models.verdict(mutant, names).unwrap()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn slowness_is_no_kill() {
        const NEVER: u64 = u32::MAX as u64;
        let killed = |by: &str| Verdict::Killed(by.to_owned());
        let all = ["fails", "hangs", "spins", "passes"];
        assert_eq!(verdict(200, NEVER, None, &all), Verdict::Survived);
        assert_eq!(verdict(200, NEVER, Some("a"), &["passes", "takes_long"]), Verdict::Survived);
        assert_eq!(verdict(200, NEVER, Some("a"), &["passes", "fails"]), killed("fails"));
        assert_eq!(verdict(200, NEVER, Some("a"), &["aborts"]), killed("aborts"));
        assert_eq!(verdict(NEVER, 200, Some("a"), &["hangs"]), killed("hangs (hangs)"));
        // Another model may notice; without one it is neither killed nor survived.
        assert_eq!(verdict(200, NEVER, Some("a"), &["spins", "fails"]), killed("fails"));
        let inconclusive = Verdict::Inconclusive("spins (1 CPU-seconds)".to_owned());
        assert_eq!(verdict(1000, NEVER, Some("a"), &["spins", "passes"]), inconclusive);
    }

    #[test]
    fn a_step_is_whatever_the_sources_call_so() {
        let source = r#"mutant!("b" => return); mutant!("d" => return); mutant!("a" => break); mutant!("b" => x); macro_rules! mutant { ($step:tt) => {} }
            load(order!(Acquire, "c")) macro_rules! order { ($order:ident, $step:tt) => { is_broken($step) } }"#;
        assert_eq!(named_in(source), ["a", "b", "c", "d"]);
    }
}
