//! Earlier results of the suite, checked in as text files: a change of conformance shows as a diff.
//!
//! A snapshot names the paths that it covers and lists every case below them that does not pass, with the first line of the
//! error and the cause, which is written by hand. Two runs agree if the same cases pass, fail and are skipped. The texts of
//! errors may differ.
//!
//! ```text
//! suite test262, commit be13516fb644
//! path test/built-ins/Atomics
//! total 760 passed, 1 failed, 0 skipped
//!
//! failed test/built-ins/Atomics/some-test.js (sloppy, strict)
//!     error Test262Error: Expected a TypeError
//!     because the engine does not check the index first
//! ```
//!
//! `results.rs` has the contents of a snapshot, and finds the differences; `text.rs` reads and writes the files.

mod results;
#[cfg(test)]
mod tests;
mod text;

pub(super) use results::{Snapshot, Total, compare};
pub(super) use text::load_all;
