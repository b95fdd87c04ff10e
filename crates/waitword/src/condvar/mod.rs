//! The condition variable: `variable.rs` has the type and how waiters are notified, `threads.rs` and `tasks.rs` the ways to wait, over an `Arc` in
//! `owned.rs`. The word and its races are in `raw.rs`, the waits of threads in `block.rs`, the futures in `futures.rs`, and their
//! public names in `named.rs`.

mod block;
mod futures;
mod guard;
mod named;
mod owned;
mod raw;
mod tasks;
mod threads;
mod variable;

pub use guard::CondvarGuard;
#[cfg(all(any(feature = "lock_api", feature = "lock_api_05"), not(waitword_loom)))]
pub(crate) use guard::sealed::Relock;
pub use named::{
    CondvarWait, CondvarWaitOwned, CondvarWaitOwnedUntil, CondvarWaitUntil, CondvarWaitWhile,
    CondvarWaitWhileOwned, CondvarWaitWhileOwnedUntil, CondvarWaitWhileUntil,
};
pub use variable::Condvar;
