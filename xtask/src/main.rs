//! The checks that take longer than `.ci/run`, or need tools beside stable Rust.
//!
//! A recipe is a list of command lines; it prints each before it runs it, so that a reader can do without this program.
//! `args.rs` names the recipes, here is what each runs, in the other files how.
#![forbid(unsafe_code)]

mod args;
mod compat;
mod cross;
mod docs;
mod layers;
mod line;
mod miri;
mod mutants;
mod promela;
mod publish;
mod repeat;
mod skips;
mod tool;
mod web;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, FuzzTarget, Recipe};
use crate::line::{Line, Stop, root};
use crate::mutants::models;
use crate::skips::SKIPS;
use crate::tool::{CARGO_DENY, CARGO_FUZZ, GUNGRAUN_RUNNER, NIGHTLY, NODE, VALGRIND, need};

fn main() -> ExitCode {
    match run(Args::parse().recipe) {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            eprintln!("xtask: {stop}");
            ExitCode::from(stop.code())
        }
    }
}

fn run(recipe: Recipe) -> Result<(), Stop> {
    match recipe {
        Recipe::Docs { built: true, .. } => docs::built(),
        Recipe::Docs { write, .. } => docs::run(write),
        Recipe::Layers { krate, quiet } => layers::run(krate.as_deref(), quiet),
        Recipe::Package => publish::package(),
        Recipe::Msrv => publish::msrv(),
        Recipe::Deny { advisories } => SKIPS
            .part("the licences and sources of the dependencies", || deny(advisories))
            .and_then(|_| SKIPS.end()),
        Recipe::Compat => compat::run(),
        Recipe::Cross { check: true, .. } => cross::check(),
        Recipe::Cross { target: Some(target), crates, args, .. } => cross::run(&target, &crates, args),
        Recipe::Cross { .. } => {
            cross::list();
            Ok(())
        }
        Recipe::Repeat(asked) => repeat::run(&asked),
        Recipe::Loom { deep, quick } => loom(deep, quick),
        Recipe::Mutants { only } => mutants::run(only.as_deref()),
        Recipe::Promela { deep } => promela::run(deep),
        Recipe::Arrivals => {
            Line::new("cargo test --release -p waitword-agents --test arrivals -- --ignored").run()
        }
        Recipe::Fuzz { seconds, target } => fuzz(seconds, target),
        Recipe::Soak { seconds, seed, observe } => soak(seconds, seed, observe),
        Recipe::Asan => asan(),
        Recipe::Tsan => tsan(),
        Recipe::Miri => miri::miri(),
        Recipe::Instructions => instructions(),
        Recipe::Js { mutants } => js(mutants),
        Recipe::Web { soak: true, only, .. } => web::soak(only),
        Recipe::Web { bench: true, .. } => web::bench(),
        Recipe::Web { build: true, .. } => web::build_all().and_then(|_| SKIPS.end()),
        Recipe::Web { test: true, mode, .. } => web::test(mode.as_deref()).and_then(|()| SKIPS.end()),
        Recipe::Web { .. } => web::serve_page(),
        Recipe::Bench { args } => Line::new("cargo run --release -p waitword-bench --").args(args).run(),
        Recipe::BenchJs { args } => {
            need(&[NODE])?;
            Line::new("cargo build --release -p waitword-cli").run()?;
            Line::new("node benches/js/run.mjs").args(args).run()
        }
    }
}

fn deny(advisories: bool) -> Result<(), Stop> {
    need(&[CARGO_DENY])?;
    let line = Line::new("cargo deny --locked check licenses bans sources");
    line.args(advisories.then_some("advisories")).run()
}

fn js(mutants: bool) -> Result<(), Stop> {
    need(&[NODE])?;
    let line = if mutants { "node tests/node/model.test.js mutants" } else { "node tests/engines.mjs" };
    Line::new(line).within("packages/waitword").run()
}

fn loom(deep: bool, quick: bool) -> Result<(), Stop> {
    for tests in ["waitword-core-models --test loom", "waitword-models --test models"] {
        let line = models("loom", tests);
        let mode = if deep { Some("LOOM_DEEP") } else { quick.then_some("LOOM_QUICK") };
        mode.map_or(line.clone(), |mode| line.env(mode, "1")).run()?;
    }
    Ok(())
}

fn fuzz(seconds: u32, only: Option<FuzzTarget>) -> Result<(), Stop> {
    need(&[NIGHTLY, CARGO_FUZZ])?;
    let (targets, seconds) = match only {
        Some(target) => (vec![target], seconds),
        None => (vec![FuzzTarget::Queue, FuzzTarget::Atomics], seconds.div_ceil(2)),
    };
    for target in targets {
        // Long histories and programs from the start: the short ones are proptest's.
        let line = match target {
            FuzzTarget::Queue => "cargo +nightly fuzz run queue -- -max_len=600 -len_control=0",
            // A program that hangs is a fault as well.
            FuzzTarget::Atomics => {
                "cargo +nightly fuzz run atomics -- -max_len=1000 -len_control=0 -timeout=120"
            }
        };
        Line::new(line).args([format!("-max_total_time={seconds}")]).run()?;
    }
    Ok(())
}

fn soak(seconds: u32, seed: Option<u64>, observe: bool) -> Result<(), Stop> {
    let locks = |test: &str| {
        let line = Line::new(&format!("cargo test --release -p {test} -- --ignored --nocapture"));
        let line = line.env("WAITWORD_SOAK_SECONDS", &seconds.to_string());
        seed.map_or_else(|| line.clone(), |seed| line.clone().env("WAITWORD_SOAK_SEED", &seed.to_string()))
            .run()
    };
    if observe {
        return locks("waitword-observe --test no_false_findings");
    }
    Line::new("cargo test --release -p waitword-core --test executors -- --ignored").run()?;
    Line::new("cargo test --release -p waitword-cli --test soak -- --ignored --nocapture --test-threads 1")
        .run()?;
    // The second without the watchdog, which hides the lost signals that this is to find.
    for test in ["soak", "signals"] {
        locks(&format!("waitword --test {test}"))?;
    }
    Ok(())
}

/// Not for leaks: many tests leak their locks, to have them for ever.
fn asan() -> Result<(), Stop> {
    sanitized("--target-dir target/asan", |line| {
        line.env("RUSTFLAGS", "-Zsanitizer=address").env("ASAN_OPTIONS", "detect_leaks=0")
    })
}

/// With the standard library built for it, too: ThreadSanitizer learns what happens before what from the code that it sees.
fn tsan() -> Result<(), Stop> {
    let suppressions = root().join("proofs/tsan.supp");
    sanitized("--target-dir target/tsan -Zbuild-std", |line| {
        line.env("RUSTFLAGS", "-Zsanitizer=thread")
            // The child of `fork.rs` starts threads, as it should.
            .env("TSAN_OPTIONS", &format!("die_after_fork=0:suppressions={}", suppressions.display()))
    })
}

/// The tests, and the examples, which some tests start.
fn sanitized(options: &str, with: impl Fn(Line) -> Line) -> Result<(), Stop> {
    need(&[NIGHTLY])?;
    let line = |command: &str| {
        // A sanitizer wants the target by name, so that build scripts and macros, which run in the compiler's process, are
        // built without.
        Line::new(&format!("cargo +nightly {command} {options} --target x86_64-unknown-linux-gnu"))
            .args("-p waitword-core -p waitword -p waitword-agents -p waitword-observe".split(' '))
            .args(["--all-features"])
            // For every lock its tests are programs of their own: what an incremental build keeps of them is gigabytes.
            .env("CARGO_INCREMENTAL", "0")
    };
    with(line("build --examples")).run()?;
    with(line("test --no-fail-fast --lib --tests"))
        .args(["--"])
        .args(NOT_SANITIZED.iter().flat_map(|name| ["--skip", name]))
        .run()
}

/// Left out under both sanitizers.
const NOT_SANITIZED: [&str; 4] = [
    // `protocol_model.rs`: one thread and no memory but the standard library's, for minutes.
    "no_recheck_is_needed_where_all_are_polled",
    "one_recheck_makes_up_for_one_unpolled_task",
    "rechecks_do_no_harm_at_any_time",
    // A test of time, on one thread.
    "many_locks_are_looked_at_once_each",
];

fn instructions() -> Result<(), Stop> {
    need(&[VALGRIND, GUNGRAUN_RUNNER])?;
    // What observation costs is counted by the second. An incremental build would inline less.
    let blocking = "cargo bench -p waitword-bench --no-fail-fast --bench instructions_blocking";
    let blocking = Line::new(blocking).env("CARGO_INCREMENTAL", "0");
    blocking.clone().args(["--bench", "instructions"]).run()?;
    blocking.args(["--features", "observe"]).run()
}
