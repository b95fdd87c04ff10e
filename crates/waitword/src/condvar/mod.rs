//! The condition variable: `variable.rs` has the type and how waiters are notified, `threads.rs` and `tasks.rs` the ways to wait. The word and its
//! races are in `raw.rs`, the futures in `futures.rs`.

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
