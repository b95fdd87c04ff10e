//! See `common/unpolled.rs`. What readers have besides is in `rwlock_futurelock.rs`.

mod common;

common::unpolled::unpolled_futures_keep_the_lock_from_nobody!(waitword::RwLock<()>);
