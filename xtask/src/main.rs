//! Runs the checks that take longer than `.ci/run`, or need more tools than stable Rust.
//!
//! A recipe is a list of command lines. It prints each before it runs it, so that a reader can run them without this program. `args.rs` names the
//! recipes, this file says what each runs, and the other files how.
#![forbid(unsafe_code)]

mod args;
mod compat;
mod cross;
mod docs;
mod files;
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

use crate::args::{Args, Recipe};
use crate::line::{Stop, quoted};
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
        Recipe::Layers { quiet } => layers::run(quiet),
        Recipe::Package => publish::package(),
        Recipe::Msrv => publish::msrv(),
        Recipe::Deny { advisories } => SKIPS
            .part("the licences and sources of the dependencies", || deny(advisories))
            .and_then(|_| SKIPS.end()),
        Recipe::Compat => compat::run(),
        Recipe::Cross { check: true, .. } => cross::check(),
        Recipe::Cross { target: Some(target), .. } => cross::run(&target),
        Recipe::Cross { .. } => cross::list(),
        Recipe::Repeat(asked) => repeat::run(&asked),
        Recipe::Loom { deep, quick } => loom(deep, quick),
        Recipe::Mutants { only } => mutants::run(&only),
        Recipe::Promela { deep } => promela::run(deep),
        Recipe::Arrivals => line::run("cargo test --release -p waitword-agents --test arrivals -- --ignored"),
        Recipe::Fuzz { seconds, target } => fuzz(seconds, target.as_deref()),
        Recipe::Soak { seconds, seed, observe } => soak(seconds, seed, observe),
        Recipe::Asan => asan(),
        Recipe::Tsan => tsan(),
        Recipe::Miri => miri::miri(),
        Recipe::Instructions => instructions(),
        Recipe::Js { mutants } => js(mutants),
        Recipe::Web { soak: true, .. } => web::soak(),
        Recipe::Web { build: true, .. } => web::build_all().and_then(|_| SKIPS.end()),
        Recipe::Web { test: true, .. } => web::test().and_then(|()| SKIPS.end()),
        Recipe::Web { .. } => web::serve(),
        Recipe::Bench { args } => {
            line::run(&format!("cargo run --release -p waitword-bench -- {}", quoted(args)))
        }
        Recipe::BenchJs { args } => {
            need(&[NODE])?;
            line::run("cargo build --release -p waitword-cli")?;
            line::run(&format!("node benches/js/run.mjs {}", quoted(args)))
        }
    }
}

fn deny(advisories: bool) -> Result<(), Stop> {
    need(&[CARGO_DENY])?;
    let advisories = if advisories { "advisories" } else { "" };
    line::run(&format!("cargo deny --locked check licenses bans sources {advisories}"))
}

fn js(mutants: bool) -> Result<(), Stop> {
    need(&[NODE])?;
    let tests = if mutants { "node/model.test.js mutants" } else { "engines.mjs" };
    line::run(&format!("cd packages/waitword && node tests/{tests}"))
}

fn loom(deep: bool, quick: bool) -> Result<(), Stop> {
    let mode = match (deep, quick) {
        (true, _) => "LOOM_DEEP=1 ",
        (_, true) => "LOOM_QUICK=1 ",
        _ => "",
    };
    line::run(&format!("{mode}{}", models("waitword-core-models --test loom")))?;
    line::run(&format!("{mode}{}", models("waitword-models --test models")))
}

fn fuzz(seconds: u32, only: Option<&str>) -> Result<(), Stop> {
    need(&[NIGHTLY, CARGO_FUZZ])?;
    // Long histories and programs from the start, because proptest has the short ones. A program that hangs is a fault as well.
    let mut targets = vec![("queue", "-max_len=600"), ("atomics", "-max_len=1000 -timeout=120")];
    targets.retain(|(target, _)| only.is_none_or(|only| only == *target));
    let options = format!("-len_control=0 -max_total_time={}", seconds.div_ceil(targets.len() as u32));
    targets.into_iter().try_for_each(|(target, more)| {
        let suppressed = "LSAN_OPTIONS=suppressions=$PWD/verify/proofs/lsan.supp";
        line::run(&format!(
            "{suppressed} cargo +nightly fuzz run --fuzz-dir verify/fuzz {target} -- {more} {options}"
        ))
    })
}

fn soak(seconds: u32, seed: Option<u64>, observe: bool) -> Result<(), Stop> {
    let seed = seed.map(|seed| format!("WAITWORD_SOAK_SEED={seed} ")).unwrap_or_default();
    let locks = |test: &str| {
        let test = format!("cargo test --release -p {test} -- --ignored --nocapture");
        line::run(&format!("{seed}WAITWORD_SOAK_SECONDS={seconds} {test}"))
    };
    if observe {
        return locks("waitword-observe --test no_false_findings");
    }
    line::run("cargo test --release -p waitword-core --test executors -- --ignored")?;
    line::run("cargo test --release -p waitword-cli --test soak -- --ignored --nocapture --test-threads 1")?;
    locks("waitword --test soak")?;
    // Without the watchdog, because it repairs the lost signals that this soak searches for.
    locks("waitword --test signals")
}

/// Ignores leaks, because many tests leak their locks to get `'static` ones.
fn asan() -> Result<(), Stop> {
    sanitized("ASAN_OPTIONS=detect_leaks=0 RUSTFLAGS=-Zsanitizer=address", "--target-dir target/asan", &[])
}

/// Builds the standard library for ThreadSanitizer, too, because it learns the happens-before order from the code that it instruments.
fn tsan() -> Result<(), Stop> {
    // The child of `fork.rs` starts threads, which is intended.
    let options = "TSAN_OPTIONS=die_after_fork=0:suppressions=\"$PWD/verify/proofs/tsan.supp\"";
    // The sanitizer does not support a child of a process with many threads that starts threads itself: it ends the child by a CHECK of its
    // own (`thr->slot`).
    let skipped = ["threads_of_the_parent_that_wait_leave_nothing_in_the_child"];
    sanitized(
        &format!("{options} RUSTFLAGS=-Zsanitizer=thread"),
        "--target-dir target/tsan -Zbuild-std",
        &skipped,
    )
}

/// Runs the tests. Builds the examples before, because some tests start them.
fn sanitized(env: &str, options: &str, skipped: &[&str]) -> Result<(), Stop> {
    need(&[NIGHTLY])?;
    // Each lock has test programs of its own, of which an incremental build would keep gigabytes. The target is named, so that build scripts and
    // macros, which run in the compiler's process, are built without the sanitizer.
    let cargo = format!("CARGO_INCREMENTAL=0 {env} cargo +nightly");
    let options = format!("{options} --target x86_64-unknown-linux-gnu");
    let crates = "-p waitword-core -p waitword -p waitword-agents -p waitword-observe --all-features";
    line::run(&format!("{cargo} build --examples {options} {crates}"))?;
    let skipped: String = NOT_SANITIZED.iter().chain(skipped).map(|name| format!("--skip {name} ")).collect();
    line::run(&format!("{cargo} test --no-fail-fast --lib --tests {options} {crates} -- {skipped}"))
}

/// Left out under both sanitizers.
const NOT_SANITIZED: [&str; 1] = [
    // It tests a time, on one thread.
    "many_locks_are_looked_at_once_each",
];

fn instructions() -> Result<(), Stop> {
    need(&[VALGRIND, GUNGRAUN_RUNNER])?;
    // An incremental build would inline less.
    let bench =
        "CARGO_INCREMENTAL=0 cargo bench -p waitword-bench --no-fail-fast --bench instructions_blocking";
    line::run(&format!("{bench} --bench instructions"))?;
    // The cost of observation.
    line::run(&format!("{bench} --features observe"))
}
