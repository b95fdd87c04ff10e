//! The mutants of the queue and of the locks: each weakens one step, and a model or test must fail.
//!
//! The sources name the steps (`mutant!("…" => …)`, `order!(…, "…")`). A model or test reads from `WAITWORD_MUTANT` which step to omit, so
//! each suite is built once. verify/README.md has more.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::line::{Ended, Limits, Stop, end_within, listen, none_of, quoted, read};
use crate::repeat::messages;

/// Models, which loom checks, or plain tests. Each mutant has one suite, which passes without the mutant and must fail with it.
#[derive(Debug)]
struct Suite {
    name: &'static str,
    is_of_models: bool,
    tests: &'static str,
    /// The crates whose steps belong to this suite, except those that another suite names.
    sources: &'static str,
    /// Steps in the sources of other suites that belong to this one.
    steps: &'static str,
}

const SUITES: [Suite; 4] = [
    Suite {
        name: "queue, loom",
        is_of_models: true,
        tests: "waitword-core-models --test loom",
        sources: "crates/waitword-core/src",
        steps: "",
    },
    Suite {
        name: "locks, loom",
        is_of_models: true,
        tests: "waitword-models --test models",
        sources: "crates/waitword-observe/src crates/waitword/src",
        // Steps of the queue by which a waiter acquires a lock. The queue's suites have no locks, and pass without some of these steps.
        steps: "leave-emptied leave-signalled relock-requeued requeue-signal signal-none watchdog-signal",
    },
    Suite {
        name: "queue, watchdog",
        is_of_models: false,
        tests: "waitword-core --test watchdog",
        sources: "",
        // The watchdog runs in no model.
        steps: "pass-bucket watch-enqueue watch-question watch-request watch-requeue watch-signal watchdog-again \
                watchdog-go-on watchdog-idle watchdog-recheck",
    },
    Suite {
        name: "queue, unit tests",
        is_of_models: false,
        tests: "waitword-core --lib",
        sources: "",
        steps: "timer-deposed",
    },
];

/// A model that computes for longer than `cpu` shows nothing. Without a mutant none takes more than [`SMALL`], but a mutant may have more
/// interleavings. A lost wakeup leaves a test idle; in a model the checker reports it as a deadlock or as too many steps.
const LIMITS: Limits = Limits { cpu: Duration::from_secs(120), idle: Duration::from_secs(60) };

/// A model that takes more CPU time without a mutant should be made smaller.
const SMALL: Duration = Duration::from_secs(30);

pub(crate) fn run(only: &[String]) -> Result<(), Stop> {
    let steps = steps()?;
    if let Some(none) = only.iter().find(|only| !steps.iter().any(|steps| steps.contains(*only))) {
        let names: Vec<_> = steps.into_iter().flatten().collect();
        return Err(Stop::Usage(format!("there is no mutant {none}; the mutants: {}", names.join(", "))));
    }
    let mut complaints = Vec::new();
    for (suite, steps) in SUITES.iter().zip(&steps) {
        let asked: Vec<_> = steps.iter().filter(|step| only.is_empty() || only.contains(step)).collect();
        if asked.is_empty() {
            continue;
        }
        let models = Models::build(suite)?;
        for step in asked {
            let verdict = match models.verdict(Some(step), &models.near(step))? {
                Verdict::Killed(model) => {
                    println!("{step}: killed: {}, {model}", suite.name);
                    continue;
                }
                Verdict::Survived => format!("{step}: survived: {} passes", suite.name),
                Verdict::Inconclusive(slow) => {
                    format!(
                        "{step}: inconclusive: {} passes, except what was stopped as too slow: {slow}",
                        suite.name
                    )
                }
            };
            println!("{verdict}");
            complaints.push(verdict);
        }
    }
    none_of("mutants that no model or test kills", &complaints)
}

/// The steps in the sources, for each suite.
fn steps() -> Result<[BTreeSet<String>; SUITES.len()], Stop> {
    let mut steps = [const { BTreeSet::new() }; SUITES.len()];
    for (at, suite) in SUITES.iter().enumerate().filter(|(_, suite)| !suite.sources.is_empty()) {
        let grep = format!("git grep -hF --untracked -e 'mutant!(' -e 'order!(' -- {}", suite.sources);
        for step in named_in(&read(&grep)?) {
            let exception = SUITES.iter().position(|suite| suite.steps.split(' ').any(|named| named == step));
            steps[exception.unwrap_or(at)].insert(step);
        }
    }
    Ok(steps)
}

/// The line that runs `tests` (a package of `verify/models/` and its tests) under loom. `verify/models/` is a workspace of its own, and loom is
/// a `cfg`. Inlining the checker's calls saves a fifth of the CPU time.
pub(crate) fn models(tests: &str) -> String {
    let env =
        "RUSTFLAGS='--cfg waitword_loom' CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1";
    let cargo = "cargo test --release --manifest-path verify/models/Cargo.toml --target-dir target/loom";
    format!("{env} {cargo} -p {tests}")
}

/// The line that runs tests in which steps can be omitted, as in the models.
fn tests_with_mutants(tests: &str) -> String {
    format!("RUSTFLAGS='--cfg waitword_mutants' cargo test --target-dir target/mutants -p {tests}")
}

/// The models of one suite.
#[derive(Debug)]
struct Models {
    /// Quoted for the shell.
    program: String,
    names: Vec<String>,
    limits: Limits,
}

/// The result of running the models with a mutant.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// By the first model that fails, aborts or hangs.
    Killed(String),
    Survived,
    /// All pass except those that were stopped while they computed, which are listed with their CPU time. They might have failed, or passed.
    Inconclusive(String),
}

impl Models {
    /// Builds the models, and runs all without a mutant, because a model that fails anyway catches nothing.
    fn build(Suite { is_of_models, tests, .. }: &Suite) -> Result<Self, Stop> {
        let line = if *is_of_models { models(tests) } else { tests_with_mutants(tests) };
        // cargo does not run them: a model that aborts would end the others, and one that hangs could not be stopped.
        let built = listen(&format!("{line} --no-run --message-format=json-render-diagnostics"))?;
        let program = messages(&built).find_map(|it| it["executable"].as_str().map(|it| quoted([it])));
        let program =
            program.ok_or_else(|| Stop::Failed("cargo printed no executable of the tests".to_owned()))?;
        let list = read(&format!("{program} --list --format=terse"))?;
        let names = list.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect();
        let models = Self { program, names, limits: LIMITS };
        match models.verdict(None, &models.near(""))? {
            Verdict::Killed(red) => Err(Stop::Failed(format!("a model fails without a mutant: {red}"))),
            Verdict::Inconclusive(slow) => {
                Err(Stop::Failed(format!("a model is too slow without a mutant; make it smaller: {slow}")))
            }
            Verdict::Survived => Ok(models),
        }
    }

    /// The models that may fail: those in the module of the mutant's lock, if it has one, otherwise all.
    fn near(&self, mutant: &str) -> Vec<&str> {
        let of_lock = format!("{}::", mutant.split('-').next().unwrap_or_default());
        let all = || self.names.iter().map(String::as_str);
        let near: Vec<&str> = all().filter(|name| name.starts_with(&of_lock)).collect();
        if near.is_empty() { all().collect() } else { near }
    }

    fn verdict(&self, mutant: Option<&str>, names: &[&str]) -> Result<Verdict, Stop> {
        let mut slow = Vec::new();
        for &name in names {
            let env = mutant.map(|mutant| format!("WAITWORD_MUTANT={mutant}")).unwrap_or_default();
            let program = format!("{} --exact {name}", self.program);
            let (ended, cpu) = end_within(self.limits, &env, &program, "/dev/null")?;
            let took = format!("{name} ({} CPU-seconds)", cpu.as_secs());
            match ended {
                Ended::Badly => return Ok(Verdict::Killed(name.to_owned())),
                Ended::Hung => return Ok(Verdict::Killed(format!("{name} (hangs)"))),
                Ended::Slow => slow.push(took),
                Ended::Well if mutant.is_none() && cpu > SMALL => {
                    println!("slow without a mutant; make it smaller: {took}")
                }
                Ended::Well => {}
            }
        }
        Ok(if slow.is_empty() { Verdict::Survived } else { Verdict::Inconclusive(slow.join(", ")) })
    }
}

/// The names of the steps in a text.
fn named_in(sources: &str) -> BTreeSet<String> {
    let steps = sources.split(r#"mutant!(""#).skip(1);
    let orders = sources.split("order!(").skip(1).filter_map(|rest| {
        let (order, name) = rest.split_once(", \"")?;
        order.chars().all(char::is_alphanumeric).then_some(name)
    });
    steps.chain(orders).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_exception_is_a_step_of_the_sources() {
        let steps = steps().unwrap();
        assert!(steps.iter().flatten().count() > 50, "that is not all: {steps:?}");
        for (suite, steps) in SUITES.iter().zip(steps) {
            let gone: Vec<_> = suite.steps.split_whitespace().filter(|step| !steps.contains(*step)).collect();
            assert!(gone.is_empty(), "{}: {gone:?}", suite.name);
        }
    }

    /// A suite whose models do what their names say if there is a mutant, and pass if there is none.
    #[test]
    #[cfg(target_os = "linux")]
    fn slowness_is_no_kill() {
        const SUITE: &str = r#"
            [ "$1" = --exact ] || exit 9
            [ -z "$WAITWORD_MUTANT" ] && exit
            case $2 in
            passes) ;;
            takes_long) sleep 1 ;;
            fails) exit 101 ;;
            aborts) kill -ABRT $$ ;;
            hangs) exec sleep 1000 ;;
            spins) while :; do :; done ;;
            esac"#;
        const NEVER: u64 = u32::MAX as u64;
        let killed = |by: &str| Verdict::Killed(by.to_owned());
        let program = quoted(["sh", "-c", SUITE, "suite"]);
        for (cpu, idle, mutant, names, verdict) in [
            (200, NEVER, None, "fails hangs spins passes", Verdict::Survived),
            (200, NEVER, Some("a"), "passes takes_long", Verdict::Survived),
            (200, NEVER, Some("a"), "passes fails", killed("fails")),
            (200, NEVER, Some("a"), "aborts", killed("aborts")),
            (NEVER, 200, Some("a"), "hangs", killed("hangs (hangs)")),
            // Another model may fail. If none does, the mutant is neither killed nor a survivor.
            (200, NEVER, Some("a"), "spins fails", killed("fails")),
            (
                1000,
                NEVER,
                Some("a"),
                "spins passes",
                Verdict::Inconclusive("spins (1 CPU-seconds)".to_owned()),
            ),
        ] {
            let limits = Limits { cpu: Duration::from_millis(cpu), idle: Duration::from_millis(idle) };
            let models = Models { program: program.clone(), names: Vec::new(), limits };
            let names: Vec<&str> = names.split(' ').collect();
            assert_eq!(models.verdict(mutant, &names).unwrap(), verdict, "{names:?}");
        }
    }

    #[test]
    fn a_step_is_whatever_the_sources_call_so() {
        let source = r#"mutant!("b" => return); mutant!("d" => return); mutant!("a" => break); mutant!("b" => x); macro_rules! mutant { ($step:tt) => {} }
            load(order!(Acquire, "c")) order!($order, "no") macro_rules! order { ($order:ident, $step:tt) => { is_broken($step) } }"#;
        assert_eq!(named_in(source).into_iter().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    }
}
