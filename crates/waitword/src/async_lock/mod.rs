//! The lock of the article, on one 32-bit word: [`AsyncLock`] (`lock.rs`), and callbacks under it (`execute.rs`). The three states of its word and their races are in `raw.rs`.

mod execute;
mod lock;
mod raw;

pub use lock::{AsyncLock, LockAsync, LockAsyncUntil};
