//! Tests that need a program that is not installed report it, past the capture of a test's output.

use std::fs::File;
use std::io::{self, Write};

/// Prints `skipped: WHAT: WHY`, and appends it to the file whose lines `.ci/run` prints at its end.
pub(crate) fn skip(what: &str, why: &str) {
    let line = format!("skipped: {what}: {why}\n");
    io::stderr().write_all(line.as_bytes()).unwrap();
    if let Some(file) = std::env::var_os("WAITWORD_SKIPS") {
        // In one write: other tests append as well.
        File::options().create(true).append(true).open(file).unwrap().write_all(line.as_bytes()).unwrap();
    }
}
