//! Histories that the fuzzer finds, against the sequential model (`crates/waitword-core/tests/model`).
//!
//! `cargo +nightly fuzz run queue`; a history that fails is shown by `cargo +nightly fuzz fmt queue <file>`.
#![no_main]

#[path = "../../../crates/waitword-core/tests/model/mod.rs"]
mod model;

use libfuzzer_sys::arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;

use model::{History, run};

fuzz_target!(|history: History| run(&history));

impl<'a> Arbitrary<'a> for History {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        let all = bytes.len();
        Ok(Self::decode(bytes.bytes(all)?))
    }
}
