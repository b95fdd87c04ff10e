//! See `common/stress.rs`. Readers beside writers are in `rwlock_exclusion.rs`.

mod common;

common::stress::one_at_a_time!(waitword::RwLock<()>);
