//! See `common/unpolled.rs`.

mod common;

common::unpolled::unpolled_futures_keep_no_other_from_the_lock!(waitword::Mutex<()>);
