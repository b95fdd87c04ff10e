//! The condition variable: the type in `variable.rs`, the ways to wait in `threads.rs` and `tasks.rs`, the word and its races in `raw.rs`.

mod futures;
mod guard;
mod raw;
mod tasks;
mod threads;
mod variable;

pub use futures::{
    CondvarWait, CondvarWaitOwned, CondvarWaitOwnedUntil, CondvarWaitUntil, CondvarWaitWhile,
    CondvarWaitWhileOwned, CondvarWaitWhileOwnedUntil, CondvarWaitWhileUntil,
};
pub use guard::CondvarGuard;
#[cfg(all(any(feature = "lock_api", feature = "lock_api_05"), not(waitword_loom)))]
pub(crate) use guard::sealed::Relock;
pub use variable::Condvar;
