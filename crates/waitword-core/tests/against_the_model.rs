//! Random histories against the sequential model: every result, every count and every order is the same.
//!
//! The fuzz target in `verify/fuzz/` does the same with histories that a fuzzer finds.

#[path = "model/mod.rs"]
mod model;

use proptest::collection::vec;
use proptest::prelude::*;

use model::{History, run};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        // A history that fails may take a while to do so, if the failure is that a waiter is never woken.
        max_shrink_time: 60_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_history_goes_as_the_model_says(history in histories()) {
        run(&history);
    }
}

fn histories() -> impl Strategy<Value = History> {
    (any::<u8>(), vec(any::<[u8; 4]>(), 0..100))
        .prop_map(|(table, steps)| History::decode(&[&[table][..], steps.as_flattened()].concat()))
}
