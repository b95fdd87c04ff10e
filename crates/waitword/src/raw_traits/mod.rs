//! The raw traits of `lock_api` for our raw parts. Versions 0.4 and 0.5 of it have the same methods, of which those of 0.5 pass a guard
//! state along; so one macro for each lock implements both. (0.4 has recursive reads besides.)
//!
//! 0.5 also says what may unwind: what acquires, if the caller then holds nothing. It aborts by itself where a guard would be left without
//! its lock. For 0.4 that is done here.

mod mutex;
mod rwlock;
mod versions;

pub use mutex::RawMutex;
pub use rwlock::RawRwLock;
