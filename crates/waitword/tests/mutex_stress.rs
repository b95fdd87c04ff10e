//! See `common/stress.rs`.

mod common;

common::stress::one_at_a_time!(waitword::Mutex<()>);
