//! The test binaries that `cargo xtask repeat` repeats.

/// What is repeated where nothing is named: `CRATE/TEST`, or `CRATE/lib` for the tests among the sources.
pub(crate) const BINARIES: [&str; 67] = [
    "waitword-core/lib",
    "waitword-core/against_the_model",
    "waitword-core/alarm",
    "waitword-core/blame",
    "waitword-core/blocking_wakers",
    "waitword-core/crowds",
    "waitword-core/executors",
    "waitword-core/herds",
    "waitword-core/hostile",
    "waitword-core/hostile_futures",
    "waitword-core/interrupt",
    "waitword-core/locations",
    "waitword-core/queue",
    "waitword-core/snapshot",
    "waitword-core/trace",
    "waitword-core/watchdog",
    "waitword/lib",
    "waitword/async_lock",
    "waitword/barrier",
    "waitword/condvar",
    "waitword/coop",
    "waitword/event",
    "waitword/execute_locked",
    "waitword/fork",
    "waitword/forbid_blocking",
    "waitword/foreign_panic_first",
    "waitword/foreign_panics",
    "waitword/guards",
    "waitword/lock_api",
    "waitword/mutex",
    "waitword/no_allocation",
    "waitword/no_thread",
    "waitword/once",
    "waitword/rwlock",
    "waitword/semaphore",
    "waitword/signals",
    "waitword/sites",
    "waitword/soak",
    "waitword/wait_group",
    "waitword-agents/observe",
    "waitword-agents/points",
    "waitword-host/host",
    "waitword-host/observe",
    "waitword-observe/blame",
    "waitword-observe/condvar_release",
    "waitword-observe/deadlocks",
    "waitword-observe/ends",
    "waitword-observe/holders",
    "waitword-observe/identified",
    "waitword-observe/live",
    "waitword-observe/lock_order",
    "waitword-observe/lock_order_more",
    "waitword-observe/lock_order_switch",
    "waitword-observe/lock_order_tasks",
    "waitword-observe/names",
    "waitword-observe/no_false_alarms_live",
    "waitword-observe/no_false_findings",
    "waitword-observe/records",
    "waitword-observe/reused_wakers",
    "waitword-observe/timed_out",
    "waitword-observe/trace",
    "waitword-observe/upgrades",
    "waitword-quickjs/agents",
    "waitword-quickjs/growable",
    "waitword-quickjs/growth",
    "waitword-quickjs/programs",
    "waitword-quickjs/wait_async",
];

/// Every order of a few steps, by one thread: each round would be the one before.
pub(crate) const ALWAYS_THE_SAME: &str = "no_schedule_of_polls";

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::repeat::tests;

    /// What races all the same.
    const NOT_REPEATED: [&str; 12] = [
        // They start programs, and take as long.
        "waitword/many_machines",
        "waitword-cli/article",
        "waitword-cli/cli",
        "waitword-cli/report",
        "waitword-cli/scripts",
        "waitword-cli/top",
        "waitword-observe/program",
        // Each round would be the one before, for seconds.
        "waitword-agents/arrivals",
        "waitword-observe/chrome_format",
        "waitword-quickjs/embedding",
        // Of features that only a line of their own in `.ci/run` builds.
        "waitword/serde",
        "waitword-observe/adapters",
    ];

    #[test]
    fn what_is_repeated_is_there_and_what_races_is_repeated() {
        let tests = tests().unwrap();
        for name in BINARIES.iter().chain(&NOT_REPEATED) {
            assert!(tests.iter().any(|(test, _)| test == name), "there is no {name}");
        }
        for (test, source) in tests {
            if test.starts_with("xtask/") || test.ends_with("/lib") {
                continue;
            }
            let races = ["thread::", "proptest!", "smol::", "tokio::"]
                .iter()
                .any(|mark| texts(&source).contains(mark));
            let is_known = BINARIES.iter().chain(&NOT_REPEATED).any(|name| *name == test);
            assert!(!races || is_known, "{test} belongs to BINARIES, or to NOT_REPEATED");
        }
    }

    /// Of a file, or of all in its folder where it is a `main.rs`.
    fn texts(source: &str) -> String {
        let path = Path::new(source);
        if !path.ends_with("main.rs") {
            return fs::read_to_string(path).unwrap();
        }
        let files = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.is_file()).map(|path| fs::read_to_string(path).unwrap()).collect()
    }
}
