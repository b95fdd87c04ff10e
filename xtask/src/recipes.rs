//! What each recipe runs.

use crate::args::{FuzzTarget, Recipe};
use crate::line::{Line, root};
use crate::models::models;
use crate::stop::Stop;
use crate::tool::{CARGO_FUZZ, GUNGRAUN_RUNNER, MIRI, NIGHTLY, NODE, VALGRIND, need};
use crate::{cross, docs, layers, mutants, promela, publish, web, web_page};

pub(crate) fn run(recipe: Recipe) -> Result<(), Stop> {
    match recipe {
        Recipe::Docs { update } => docs::run(update).map_err(Stop::Failed),
        Recipe::Layers { krate, quiet } => layers::run(krate.as_deref(), quiet),
        Recipe::Package => publish::package().map_err(Stop::Failed),
        Recipe::Msrv => publish::msrv().map_err(Stop::Failed),
        Recipe::Cross { check: true, .. } => cross::check(),
        Recipe::Cross { target: Some(target), crates, args, .. } => cross::run(&target, &crates, args),
        Recipe::Cross { .. } => {
            cross::list();
            Ok(())
        }
        Recipe::Loom { deep } => loom(deep),
        Recipe::Mutants { only } => mutants::run(only.as_deref()),
        Recipe::Shuttle => shuttle(),
        Recipe::Promela { deep } => promela::run(deep),
        Recipe::Arrivals => {
            Line::new("cargo test --release -p waitword-agents --test arrivals -- --ignored").run()
        }
        Recipe::Fuzz { seconds, target } => fuzz(seconds, target),
        Recipe::Soak { seconds, seed, observe } => soak(seconds, seed, observe),
        Recipe::Asan => asan(),
        Recipe::Tsan => tsan(),
        Recipe::Miri => miri(),
        Recipe::Instructions => instructions(),
        Recipe::Js { mutants } => js(mutants),
        Recipe::Web { soak: true, only, .. } => web::soak(only),
        Recipe::Web { bench: true, .. } => web::bench(),
        Recipe::Web { test, mode, .. } => web(test, mode.as_deref()),
        Recipe::Bench { args } => Line::new("cargo run --release -p waitword-bench --").args(args).run(),
        Recipe::BenchJs { args } => {
            Line::new("cargo build --release -p waitword-cli").run()?;
            Line::new("cargo run --release -p waitword-bench -- js").args(args).run()
        }
    }
}

fn web(test: bool, mode: Option<&str>) -> Result<(), Stop> {
    if test || mode.is_some() {
        web::run(test, mode)?;
    }
    if mode.is_none() { web_page::run(test) } else { Ok(()) }
}

fn js(mutants: bool) -> Result<(), Stop> {
    need(&[NODE])?;
    let line = if mutants { "node tests/node/model.test.js mutants" } else { "node tests/engines.mjs" };
    Line::new(line).within("packages/waitword").run()
}

fn loom(deep: bool) -> Result<(), Stop> {
    // The bound is for all models alike, and so more than each has by itself: the locks' have more threads.
    for (tests, bound) in [("waitword-core-models --test loom", "5"), ("waitword-models --test models", "3")]
    {
        let line = models("loom", tests);
        if deep { line.env("LOOM_MAX_PREEMPTIONS", bound).run()? } else { line.run()? }
    }
    Ok(())
}

fn shuttle() -> Result<(), Stop> {
    models("shuttle", "waitword-core-models --test shuttle --test linearizability").run()?;
    models("shuttle", "waitword-models --test models --test shuttle").run()
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

/// The sanitizers want the target by name, so that build scripts and macros, which run in the compiler's process, are
/// built without.
const SANITIZED: &str = "--target x86_64-unknown-linux-gnu";

fn asan() -> Result<(), Stop> {
    need(&[NIGHTLY])?;
    Line::new("cargo +nightly test -p waitword-core -p waitword -p waitword-agents --tests --target-dir target/asan")
        .args(SANITIZED.split(' '))
        .args(["--"])
        .args(NOT_SANITIZED.iter().chain(&NOT_FOR_ASAN).flat_map(|name| ["--skip", name]))
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .run()
}

fn tsan() -> Result<(), Stop> {
    need(&[NIGHTLY])?;
    let suppressions = root().join("proofs/tsan.supp");
    Line::new("cargo +nightly test -p waitword-core -p waitword --lib --tests --target-dir target/tsan")
        .args(SANITIZED.split(' '))
        // What is printed is not captured: the buffer for it has a lock of the standard library.
        .args(["--", "--nocapture"])
        .args(NOT_SANITIZED.iter().chain(&NOT_FOR_TSAN).flat_map(|name| ["--skip", name]))
        .env("RUSTFLAGS", "--cfg tsan -Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer")
        .env("TSAN_OPTIONS", &format!("suppressions={}", suppressions.display()))
        .env("RUST_BACKTRACE", "0")
        .run()
}

/// Left out under both sanitizers.
const NOT_SANITIZED: [&str; 7] = [
    // These start the examples, which `--tests` does not build.
    "threads_and_tasks_lose_no_count",
    "what_the_service_has_answered_is_in_the_file",
    "no_frame_is_lost_by_waits_that_are_given_up",
    "a_thread_and_a_task_see_the_end_of_the_work",
    // `protocol_model.rs`: one thread and no memory but the standard library's, for minutes.
    "no_recheck_is_needed_where_all_are_polled",
    "one_recheck_makes_up_for_one_unpolled_task",
    "rechecks_do_no_harm_at_any_time",
];

/// Leak on purpose, which AddressSanitizer reports.
const NOT_FOR_ASAN: [&str; 1] = ["the_only_owner_sets_a_cell_whose_turn_was_leaked"];

/// ThreadSanitizer does not see the orderings of the standard library's locks. The executors of tokio and smol are full of these,
/// also where a test runs on them without saying so; the last one has such a lock itself.
const NOT_FOR_TSAN: [&str; 8] = [
    "tokio",
    "smol",
    "messages_beside_an_event_are_all_consumed",
    "every_signal_arrives",
    "select_whose_handler_wants_",
    "streams_that_keep_their_waits_read_each_letter_once",
    "a_crowd_uses_no_more_permits_than_there_are_and_loses_none",
    "threads_and_tasks_share_one_queue",
];

fn miri() -> Result<(), Stop> {
    if !NIGHTLY.is_there() || !MIRI.is_there() {
        println!("skipped: this toolchain has no Miri; to get it: {}", MIRI.how_to_get);
        return Ok(());
    }
    // The timer's thread and the executors' outlive the tests, which Miri would call a leak.
    Line::new("cargo +nightly miri test -p waitword-core --target-dir target/miri")
        .args(["--test", "queue", "--test", "hostile", "--test", "interrupt", "--test", "locations"])
        .env("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-ignore-leaks")
        .run()
}

fn instructions() -> Result<(), Stop> {
    need(&[VALGRIND, GUNGRAUN_RUNNER])?;
    Line::new("cargo bench -p waitword-bench --no-fail-fast")
        .args(["--bench", "instructions", "--bench", "instructions_blocking"])
        .run()?;
    Line::new("cargo bench -p waitword-bench --no-fail-fast --features observe")
        .args(["--bench", "instructions_observe"])
        .run()
}
