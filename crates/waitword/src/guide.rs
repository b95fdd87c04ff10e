//! For those who use the locks: which to take, what holds for all of them, and what to write instead of what one wrote
//! elsewhere.

#[doc = include_str!("../docs/which_lock.md")]
pub mod which_lock {}

#[doc = include_str!("../docs/what_holds.md")]
pub mod what_holds {}

#[doc = include_str!("../docs/coming_from.md")]
pub mod coming_from {}
