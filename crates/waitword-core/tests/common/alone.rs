//! Tests in a process of their own.

use std::process::{Command, Output};

/// Set in that process.
const ALONE: &str = "WAITWORD_TEST_ALONE";

/// Runs the calling test, by its path in its program, once more in a process of its own, and returns what came of that; in that process,
/// runs `scenario` and returns nothing.
pub(crate) fn alone(test: &str, scenario: impl FnOnce()) -> Option<Output> {
    if std::env::var_os(ALONE).is_some() {
        scenario();
        return None;
    }
    let mut process = Command::new(std::env::current_exe().unwrap());
    Some(process.args(["--exact", test, "--nocapture"]).env(ALONE, "").output().unwrap())
}

/// As [`alone`], for a test that passes there.
#[allow(dead_code, reason = "not each program has one")]
pub(crate) fn passes_alone(test: &str, scenario: impl FnOnce()) {
    let Some(output) = alone(test, scenario) else { return };
    let [told, failed] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success() && told.contains("1 passed"), "{told}{failed}");
}
