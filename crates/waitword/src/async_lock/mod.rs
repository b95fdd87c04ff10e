//! The lock of the article, on one 32-bit word: [`AsyncLock`] (`lock.rs`), callbacks under it (`execute.rs`), its futures
//! (`futures.rs`). The three states of its word and their races are in `raw.rs`.

mod execute;
mod futures;
mod lock;
mod raw;

pub use futures::{LockAsync, LockAsyncUntil};
pub use lock::AsyncLock;
