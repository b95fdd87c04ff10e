//! `--timeout`, `--memory-limit`, `--total-memory`, `--max-workers`: what a limit may be, and what ends at it, where the test has to look more than
//! once or at the process. The rest is in `tests/scripts/limits` and `memory`.

use crate::program::{Ran, run};

#[test]
fn timeout_tells_what_still_waited() {
    let ran = run_for_longer("timeout_waits", include_str!("programs/timeout_waits.js"), |ran| {
        ran.stderr.contains("worker 1: Atomics.wait")
    });
    ran.with_code(124).complained(&[
        "main: Atomics.waitAsync on byte 0",
        "main.js:3:",
        "worker 1: Atomics.wait on byte 0",
    ]);
}

/// One that runs, one that blocks, one that has nothing but timers or messages to come.
#[test]
fn timeout_lists_who_still_ran() {
    let agents = [
        "main: still running",
        "worker 1: still running",
        "worker 2: Atomics.wait on byte 0",
        "worker 3: sleeps until a timer or a message",
        "worker 4: Atomics.wait with a timeout",
    ];
    let is_listed = |ran: &Ran| agents.iter().all(|agent| ran.stderr.contains(agent));
    let ran = run_for_longer("timeout_lists", include_str!("programs/timeout_lists.js"), is_listed);
    ran.with_code(124).complained(&agents).kept_from(&["worker 2: still"]);
}

/// Until the report is as expected: on a slow machine a worker may not have begun when the time is up.
fn run_for_longer(test: &str, source: &str, is_expected: impl Fn(&Ran) -> bool) -> Ran {
    let run = |time| run(test, &["--timeout", time], source);
    ["0.5", "5"].into_iter().map(run).find(is_expected).unwrap_or_else(|| run("50"))
}

/// From limits at which nothing fits to such that everything does.
#[test]
fn no_limit_leads_to_anything_but_an_error_that_is_understood() {
    let of_each = include_str!("programs/greedy.txt").split("\n\n");
    for kib in [1, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 4096] {
        for (number, program) in of_each.clone().enumerate() {
            let code = understood("--memory-limit", kib, program, "memory for a SharedArrayBuffer").code;
            assert!(code != Some(7) || number == 4, "program {number} with {kib}K");
        }
    }
    let of_all = include_str!("programs/fits.js");
    let fits = |kib| {
        let ran = understood("--total-memory", kib, of_all, "not enough memory for another agent");
        assert!(ran.code == Some(1) || ran.stdout == "20500\n", "with {kib}K: {ran:#?}");
        ran.code == Some(0)
    };
    let fit = [1, 256, 512, 768, 1024, 1536, 2048, 2560, 3072, 4096, 6144, 8192, 16384].map(fits);
    assert!(fit.contains(&true) && fit.contains(&false), "some have to fit, and some not");
}

/// A program that ends well, by an error for lack of memory, or as the last of those above wants.
fn understood(flag: &str, kib: usize, program: &str, error: &str) -> Ran {
    let ran = run("memory_limits", &[flag, &format!("{kib}K")], program);
    let is_understood = match ran.code {
        Some(0 | 7) => true,
        Some(1) => ["out of memory", error].iter().any(|why| ran.stderr.contains(why)),
        _ => false,
    };
    assert!(is_understood, "{program} with {kib}K: {ran:#?}");
    ran.kept_from(&["panicked", "bug in waitword", "null"])
}
