//! Programs that the fuzzer finds, against what ECMA-262 says that they observe (`crates/waitword-quickjs/tests/programs`).
//!
//! `cargo +nightly fuzz run atomics`; a program that fails is printed as the scripts that it runs.
#![no_main]

#[path = "../../../crates/waitword-quickjs/tests/programs/mod.rs"]
mod programs;

use libfuzzer_sys::fuzz_target;

use programs::{Program, play};

fuzz_target!(|program: Program| play(&program));
