//! How the models are built: `models/` is a workspace of its own, and the checker is a `cfg`.

use crate::line::Line;

/// The line that runs `tests` (a package of `models/` and its tests) under `checker`.
pub(crate) fn models(checker: &str, tests: &str) -> Line {
    Line::new("cargo test --release --manifest-path models/Cargo.toml -p")
        .args(tests.split(' '))
        .args(["--target-dir".to_owned(), format!("target/{checker}")])
        .env("RUSTFLAGS", &format!("--cfg waitword_{checker}"))
}

/// The line that runs `tests` of a package, in which steps can be omitted as in the models.
pub(crate) fn tests_with_mutants(tests: &str) -> Line {
    Line::new("cargo test -p")
        .args(tests.split(' '))
        .args(["--target-dir", "target/mutants"])
        .env("RUSTFLAGS", "--cfg waitword_mutants")
}
