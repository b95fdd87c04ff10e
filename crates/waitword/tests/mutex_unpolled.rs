//! See `common/unpolled.rs`.

mod common;

common::unpolled::unpolled_futures_keep_the_lock_from_nobody!(waitword::Mutex<()>);
