//! What a user is told on a target that the crates cannot be built for.

#[path = "../../crates/waitword/tests/common/skip.rs"]
mod skip;

use std::path::Path;
use std::process::Command;

/// It has atomics of 32 bits, and a standard library from rustup.
const WITHOUT_64_BITS: &str = "powerpc-unknown-linux-gnu";

#[test]
fn a_target_without_64_bit_atomics_is_refused_with_the_reason() {
    let folder =
        Command::new("rustc").args(["--print", "target-libdir", "--target", WITHOUT_64_BITS]).output();
    let folder = String::from_utf8(folder.unwrap().stdout).unwrap();
    if !Path::new(folder.trim()).is_dir() {
        let why = format!("its standard library is missing; to get it: rustup target add {WITHOUT_64_BITS}");
        return skip::skip("the message on a target without 64-bit atomics", &why);
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["check", "--offline", "-p", "waitword-core", "--target", WITHOUT_64_BITS]);
    cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("targets"));
    let output = cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let first = errors.lines().find(|line| line.starts_with("error"));
    assert!(first.is_some_and(|line| line.contains("atomic operations on 64 bits")), "{errors}");
}
