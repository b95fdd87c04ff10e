//! Random programs on `Atomics` and SharedArrayBuffers: what they observe is what ECMA-262 says.
//!
//! The fuzz target `atomics` in `verify/fuzz/` does the same with programs that a fuzzer finds.

#[path = "programs/mod.rs"]
mod programs;

use arbitrary::{Arbitrary, Unstructured};
use proptest::collection::vec;
use proptest::prelude::*;

use programs::{Program, play};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_program_observes_what_the_standard_says(bytes in vec(any::<u8>(), 50..800)) {
        play(&Program::arbitrary(&mut Unstructured::new(&bytes)).unwrap());
    }
}
