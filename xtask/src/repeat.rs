//! Runs the tests round after round, because a fault that fails one run in six passes five.
//!
//! The binaries run one after the other, except [`NOT_REPEATED`]. Each round has a seed, which randomized tests read from the environment.
//! (cargo-nextest runs each test in a process of its own, where the tests of a binary would no longer share one table.)

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::args::Repeat;
use crate::line::{Ended, Limits, Stop, end_within, listen, none_of, quoted, root};
use crate::publish::{list, metadata};

/// The variables from which the tests read their seed: ours, and proptest's.
const SEEDS: [&str; 2] = ["WAITWORD_SOAK_SEED", "PROPTEST_RNG_SEED"];

/// Far more than a round takes on a busy machine.
const LIMITS: Limits = Limits { cpu: Duration::from_secs(300), idle: Duration::from_secs(100) };

/// The folder below the root with what each binary printed in its last round.
const LOGS: &str = "target/repeat";

/// The binaries that are not repeated unless they are named.
const NOT_REPEATED: [&str; 17] = [
    // They start programs, and take as long.
    "waitword/compiler_messages",
    "waitword/example",
    "waitword-cli/article",
    "waitword-cli/benches",
    "waitword-cli/cli",
    "waitword-cli/report",
    "waitword-cli/scripts",
    "waitword-cli/top",
    "waitword-observe/program",
    "waitword-postgres/postgres",
    // Each round would take seconds and be the same.
    "waitword-agents/arrivals",
    "waitword-quickjs/embedding",
    "waitword-quickjs/lib",
    "waitword-quickjs/tables",
    // For features that only `.ci/run` enables.
    "waitword/serde",
    "waitword-observe/adapters",
    "waitword-quickjs/rquickjs",
];

/// Every order of a few steps, on one thread: each round would be the same.
const ALWAYS_THE_SAME: &str = "no_schedule_of_polls";

pub(crate) fn run(asked: &Repeat) -> Result<(), Stop> {
    let mut binaries = built(&asked.names)?;
    fs::create_dir_all(root().join(LOGS)).map_err(Stop::at(LOGS))?;
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let first_seed = asked.seed.unwrap_or(since_epoch.map_or(0, |time| time.as_secs()));
    println!("{} binaries, {} rounds at most, seed {first_seed}", binaries.len(), asked.rounds);
    let end = asked.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let is_over = || end.is_some_and(|end| Instant::now() >= end);
    start_busy_loops(asked.busy);
    // The next round is for the binary that has had the least time: first one round of each, then all get equal time.
    let continues = |it: &&mut Binary| {
        it.rounds < asked.rounds && (it.failed == 0 || asked.keep_going) && (it.rounds == 0 || !is_over())
    };
    while let Some(binary) = binaries.iter_mut().filter(continues).min_by_key(|it| it.took) {
        if io::stderr().is_terminal() {
            eprint!("{}, round {}\x1b[K\r", binary.name, binary.rounds + 1);
        }
        binary.round(asked, first_seed)?;
    }
    let mut failed = Vec::new();
    for Binary { name, rounds, failed: times, took, .. } in binaries {
        let took = took.as_secs_f64();
        if times == 0 {
            println!("{name}: passed {rounds} times in {took:.1} s");
        } else {
            failed.push(format!("{name}: FAILED {times} of {rounds} times in {took:.1} s"));
        }
    }
    none_of(&format!("{} test binaries failed", failed.len()), &failed)
}

/// A test binary, and the results of its rounds.
#[derive(Debug, Default)]
struct Binary {
    /// `CRATE/TEST`
    name: String,
    executable: String,
    /// The folder of its crate, where cargo would run it.
    folder: String,
    rounds: u64,
    failed: u64,
    took: Duration,
}

/// Builds all tests of the workspace, or those named.
///
/// Builds all at once, because the same command line has built them if all tests were run before.
fn built(names: &[String]) -> Result<Vec<Binary>, Stop> {
    let metadata = metadata("--no-deps")?;
    let mut there = BTreeSet::new();
    for package in list(&metadata["packages"]) {
        there.extend(list(&package["targets"]).iter().filter_map(|it| name(&package["manifest_path"], it)));
    }
    // With or without its crate.
    let is_called = |test: &str, name: &str| test == name || test.ends_with(&format!("/{name}"));
    let mut unknown = names.iter().filter(|name| !there.iter().any(|test| is_called(test, name)));
    if let Some(name) = unknown.next() {
        return Err(Stop::Usage(format!("there is no test {name}")));
    }
    if let Some(name) = NOT_REPEATED.iter().find(|name| !there.contains(**name)) {
        return Err(Stop::Failed(format!(
            "there is no test {name}; remove it from NOT_REPEATED in {}",
            file!()
        )));
    }
    let is_wanted = |test: &str| match names {
        [] => !NOT_REPEATED.contains(&test),
        names => names.iter().any(|name| is_called(test, name)),
    };
    let targets: BTreeSet<_> = names.iter().filter_map(|name| name.rsplit('/').next()).collect();
    let option = |target| if target == "lib" { "--lib".into() } else { format!("--test {target}") };
    let targets = targets.into_iter().map(option).collect::<Vec<_>>().join(" ");
    let build = "cargo test --workspace --no-run --message-format json-render-diagnostics";
    let built = listen(&format!("{build} {targets}"))?;
    let binary = |message: Value| {
        let executable = message["executable"].as_str()?.to_owned();
        let name = name(&message["manifest_path"], &message["target"])?;
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_str()?.to_owned();
        is_wanted(&name).then_some(Binary { name, executable, folder, ..Binary::default() })
    };
    let mut binaries: Vec<_> = messages(&built).filter_map(binary).collect();
    binaries.sort_by(|a, b| a.name.cmp(&b.name));
    // For example a test for a feature that nothing in the workspace enables any more.
    match there.iter().find(|name| is_wanted(name) && !binaries.iter().any(|it| it.name == **name)) {
        Some(missing) => Err(Stop::Failed(format!("cargo did not build the test {missing}"))),
        None => Ok(binaries),
    }
}

/// The messages that cargo prints with `--message-format json`.
pub(crate) fn messages(printed: &str) -> impl Iterator<Item = Value> {
    printed.lines().filter_map(|line| serde_json::from_str(line).ok())
}

/// `CRATE/TEST`, if the target has tests.
fn name(manifest: &Value, target: &Value) -> Option<String> {
    let krate = Path::new(manifest.as_str()?).parent()?.file_name()?.to_str()?;
    match target["kind"][0].as_str()? {
        "test" => Some(format!("{krate}/{}", target["name"].as_str()?)),
        "lib" => Some(format!("{krate}/lib")),
        _ => None,
    }
}

impl Binary {
    /// Runs one round and writes its log. Prints the first round that fails.
    fn round(&mut self, asked: &Repeat, first_seed: u64) -> Result<(), Stop> {
        let Self { name, executable, folder, rounds, failed, took } = self;
        let seed = first_seed.wrapping_add(*rounds).to_string();
        let env =
            format!("cd {} && {}", quoted([folder]), SEEDS.map(|name| format!("{name}={seed}")).join(" "));
        let program = format!("{} --skip {ALWAYS_THE_SAME} {}", quoted([executable]), quoted(&asked.args));
        let log = root().join(LOGS).join(format!("{}.log", name.replace('/', "."))).display().to_string();
        let start = Instant::now();
        let how = match end_within(LIMITS, &env, &program, &quoted([&log]))?.0 {
            Ended::Well => None,
            Ended::Badly => Some("failed".to_owned()),
            Ended::Hung => Some(format!("was stopped after {:?} without computing", LIMITS.idle)),
            Ended::Slow => Some(format!("was stopped after {:?} of CPU time", LIMITS.cpu)),
        };
        *took += start.elapsed();
        *rounds += 1;
        *failed += u64::from(how.is_some());
        if let (Some(how), 1) = (how, *failed) {
            let busy = if asked.busy > 0 { format!(" --busy {}", asked.busy) } else { String::new() };
            let args =
                if asked.args.is_empty() { String::new() } else { format!(" -- {}", quoted(&asked.args)) };
            let again = format!("cargo xtask repeat --rounds 1 --seed {seed}{busy} {name}{args}");
            let printed = fs::read(&log).unwrap_or_default();
            println!(
                "\n{name} {how} in round {rounds}, seed {seed}. Its output ({log}):\n{}\nTo repeat this round (a race may need more than one): {again}\n",
                String::from_utf8_lossy(&printed),
            );
        }
        Ok(())
    }
}

/// Starts threads that never sleep, until this program ends.
pub(crate) fn start_busy_loops(loops: usize) {
    for _ in 0..loops {
        thread::spawn(|| {
            loop {
                std::hint::spin_loop();
            }
        });
    }
}
