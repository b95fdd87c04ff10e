//! Tests, round after round: a fault that shows once in six runs is green by luck five times.
//!
//! The binaries run as they are, one after the other, but for [`NOT_REPEATED`]. Each round has a seed, which the tests that draw take from
//! the environment.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::args::Repeat;
use crate::line::{Ended, Limits, Line, Stop, root};
use crate::publish::{list, metadata};

/// Where the tests find their seed: ours, and proptest's.
const SEEDS: [&str; 2] = ["WAITWORD_SOAK_SEED", "PROPTEST_RNG_SEED"];

/// Far more than a round takes, whatever else the machine does.
const LIMITS: Limits = Limits { cpu: Duration::from_secs(300), idle: Duration::from_secs(100) };

/// What each binary printed in its last round, below the root.
const LOGS: &str = "target/repeat";

/// From when on a terminal shows how far it is.
const SOON: Duration = Duration::from_secs(2);

pub(crate) fn run(asked: &Repeat) -> Result<(), Stop> {
    let mut binaries = built(&asked.names)?;
    if asked.names.is_empty() {
        let is_repeated = |name: &str| !NOT_REPEATED.contains(&name);
        binaries.retain(|binary| is_repeated(&binary.name));
        // Of a feature, say, that nothing in the workspace asks for any more.
        let is_missing = |name: &&String| is_repeated(name) && !binaries.iter().any(|it| it.name == **name);
        if let Some(missing) = tests()?.iter().find(is_missing) {
            return Err(Stop::Failed(format!("{missing} is to be repeated, and was not built")));
        }
    }
    fs::create_dir_all(root().join(LOGS)).map_err(Stop::at(LOGS))?;
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let seed = asked.seed.unwrap_or(since_epoch.map_or(0, |time| time.as_secs()));
    println!("{} binaries, {} rounds at most, seed {seed}", binaries.len(), asked.rounds);
    let plan = Plan { asked, seed, start: Instant::now() };
    let end = asked.seconds.map(|seconds| plan.start + Duration::from_secs(seconds));
    beside_busy_loops(asked.busy, || {
        // One round of each before the others share what is left of the time.
        binaries.iter_mut().try_for_each(|binary| binary.play(&plan, 1, None))?;
        for done in 0..binaries.len() {
            let left = (binaries.len() - done) as u32;
            let now = Instant::now();
            let until = end.map(|end| now + end.saturating_duration_since(now) / left);
            binaries[done].play(&plan, asked.rounds, until)?;
            println!("{}", binaries[done]);
        }
        Ok(())
    })?;
    let failed: Vec<_> = binaries.iter().filter(|binary| binary.failed > 0).map(Binary::to_string).collect();
    if failed.is_empty() { Ok(()) } else { Err(Stop::Failed(failed.join("\n"))) }
}

/// What is not repeated where nothing is named.
const NOT_REPEATED: [&str; 18] = [
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
    "xtask/packages",
    // Each round would be the one before, for seconds.
    "waitword-agents/arrivals",
    "waitword-quickjs/embedding",
    "waitword-quickjs/lib",
    "waitword-quickjs/tables",
    // Of features that only `.ci/run` asks for.
    "waitword/serde",
    "waitword-observe/adapters",
    "waitword-quickjs/rquickjs",
];

/// Every order of a few steps, by one thread: each round would be the one before.
const ALWAYS_THE_SAME: &str = "no_schedule_of_polls";

/// A program of tests, and how its rounds went.
#[derive(Debug, Default)]
struct Binary {
    /// `CRATE/TEST`
    name: String,
    executable: String,
    rounds: u64,
    failed: u64,
    took: Duration,
}

/// Builds them, all tests of the workspace or those named, and returns where they are.
///
/// All at once, because the same command line has built them where all tests were run before.
fn built(names: &[String]) -> Result<Vec<Binary>, Stop> {
    let there = tests()?;
    if let Some(name) = names.iter().find(|name| !there.iter().any(|test| is_called(test, name))) {
        return Err(Stop::Usage(format!("there is no test {name}")));
    }
    let mut line = Line::new("cargo test --workspace --no-run --message-format json-render-diagnostics");
    let targets: BTreeSet<_> = names.iter().map(|name| name.rsplit('/').next().unwrap_or(name)).collect();
    for target in targets {
        line = if target == "lib" { line.args(["--lib"]) } else { line.args(["--test", target]) };
    }
    let mut binaries: Vec<_> = messages(&line.listen()?).filter_map(|message| binary(&message)).collect();
    binaries.retain(|binary| names.is_empty() || names.iter().any(|name| is_called(&binary.name, name)));
    binaries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(binaries)
}

/// What cargo says with `--message-format json`.
pub(crate) fn messages(printed: &str) -> impl Iterator<Item = Value> {
    printed.lines().filter_map(|line| serde_json::from_str(line).ok())
}

/// What a message of cargo's says, if it is of a program of tests.
fn binary(message: &Value) -> Option<Binary> {
    let executable = message["executable"].as_str()?.to_owned();
    let name = name(&message["manifest_path"], &message["target"])?;
    Some(Binary { name, executable, ..Binary::default() })
}

/// The names of the workspace's test binaries.
fn tests() -> Result<Vec<String>, Stop> {
    let metadata = metadata(&["--no-deps"])?;
    let tests = list(&metadata["packages"]).iter().flat_map(|package| {
        list(&package["targets"]).iter().filter_map(|target| name(&package["manifest_path"], target))
    });
    Ok(tests.collect())
}

/// `CRATE/TEST`, if the target is one of tests.
fn name(manifest: &Value, target: &Value) -> Option<String> {
    let krate = Path::new(manifest.as_str()?).parent()?.file_name()?.to_str()?;
    match target["kind"][0].as_str()? {
        "test" => Some(format!("{krate}/{}", target["name"].as_str()?)),
        "lib" => Some(format!("{krate}/lib")),
        _ => None,
    }
}

/// Whether a test is meant, with its crate or without.
fn is_called(test: &str, name: &str) -> bool {
    test == name || test.split_once('/').is_some_and(|(_, target)| target == name)
}

struct Plan<'a> {
    asked: &'a Repeat,
    /// Of the first round.
    seed: u64,
    start: Instant,
}

impl Binary {
    fn log(&self) -> String {
        format!("{LOGS}/{}.log", self.name.replace('/', "."))
    }

    /// Plays its rounds up to this many, while there is time, and tells of the first that fails.
    fn play(&mut self, plan: &Plan<'_>, most: u64, until: Option<Instant>) -> Result<(), Stop> {
        let asked = plan.asked;
        let (start, terminal) = (Instant::now(), std::io::stderr().is_terminal());
        while self.rounds < most
            && (self.failed == 0 || asked.keep_going)
            && until.is_none_or(|until| Instant::now() < until)
        {
            let elapsed = plan.start.elapsed();
            if terminal && elapsed > SOON {
                let Self { name, rounds, .. } = self;
                eprint!("\r{name}: {rounds} of {} rounds, {} s\x1b[K\r", asked.rounds, elapsed.as_secs());
            }
            let seed = plan.seed.wrapping_add(self.rounds);
            let ended = self.round(&asked.args, seed)?;
            self.rounds += 1;
            if ended != Ended::Well {
                self.failed += 1;
                if self.failed == 1 {
                    self.tell(asked, seed, ended);
                }
            }
        }
        self.took += start.elapsed();
        if terminal {
            eprint!("\x1b[K");
        }
        Ok(())
    }

    /// Runs it once, where cargo would, and writes its log.
    fn round(&self, args: &[String], seed: u64) -> Result<Ended, Stop> {
        let krate = self.name.split('/').next().unwrap_or_default();
        let folder = if krate == "xtask" { krate.to_owned() } else { format!("crates/{krate}") };
        let line =
            Line::new("").args([&*self.executable, "--skip", ALWAYS_THE_SAME]).args(args).within(&folder);
        let line = SEEDS.iter().fold(line, |line, name| line.env(name, &seed.to_string()));
        let path = self.log();
        let log = File::create(root().join(&path)).map_err(Stop::at(&path))?;
        Ok(line.end_within(LIMITS, Some(&log))?.how)
    }

    fn tell(&self, asked: &Repeat, seed: u64, ended: Ended) {
        let printed = fs::read(root().join(self.log())).unwrap_or_default();
        let how = match ended {
            Ended::Hung => format!("was stopped because it computed nothing for {:?}", LIMITS.idle),
            Ended::Slow => format!("was stopped after {:?} of CPU time", LIMITS.cpu),
            Ended::Well | Ended::Badly => "failed".to_owned(),
        };
        let mut again = Line::new("cargo xtask repeat --rounds 1").args(["--seed", &seed.to_string()]);
        if asked.busy > 0 {
            again = again.args(["--busy", &asked.busy.to_string()]);
        }
        again = again.args([&self.name]);
        if !asked.args.is_empty() {
            again = again.args(["--"]).args(&asked.args);
        }
        println!(
            "\n{} {how} in round {}, seed {seed}. What it printed ({}):\n{}\nThis round again, though a race may need more of them: {again}\n",
            self.name,
            self.rounds,
            self.log(),
            String::from_utf8_lossy(&printed),
        );
        let _ = std::io::stdout().flush();
    }
}

impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, rounds, failed, took, .. } = self;
        match failed {
            0 => write!(f, "{name}: passed {rounds} times in {:.1} s", took.as_secs_f64()),
            _ => write!(f, "{name}: FAILED {failed} of {rounds} times in {:.1} s", took.as_secs_f64()),
        }
    }
}

/// Runs it beside threads that never sleep.
pub(crate) fn beside_busy_loops<T>(loops: usize, run: impl FnOnce() -> T) -> T {
    /// Also when it panics.
    struct Ends<'a>(&'a AtomicBool);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..loops {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let _ends = Ends(&is_over);
        run()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_there() {
        let tests = tests().unwrap();
        for name in NOT_REPEATED {
            assert!(tests.iter().any(|test| test == name), "there is no {name}");
        }
    }
}
