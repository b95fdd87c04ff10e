//! Tests that need what is not installed say so, past the capture of a test's output.

use std::fs::File;
use std::io::{self, Write};

/// `skipped: WHAT, for WHY`, also to the file that `.ci/run` ends with.
pub(crate) fn skip(what: &str, why: &str) {
    let line = format!("skipped: {what}, for {why}\n");
    io::stderr().write_all(line.as_bytes()).unwrap();
    if let Some(file) = std::env::var_os("WAITWORD_SKIPS") {
        // In one write: other tests append as well.
        File::options().create(true).append(true).open(file).unwrap().write_all(line.as_bytes()).unwrap();
    }
}
