//! See `common/unpolled.rs`. What readers have besides is in `rwlock_futurelock.rs`.

mod common;

common::unpolled::unpolled_futures_keep_no_other_from_the_lock!(waitword::RwLock<()>);
