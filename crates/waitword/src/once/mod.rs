//! The cell that is set once: what you call. Its initialisers are in `init.rs`, what its only owner can do in
//! `owner.rs`, the value in `slot.rs` and `tagged.rs`, the word
//! and what becomes of a turn that is lost in `raw.rs`. `lazy.rs` is a cell that knows how it is set.

mod cell;
mod init;
mod lazy;
mod owner;
mod raw;
#[allow(unsafe_code)]
mod slot;
#[allow(unsafe_code)]
#[cfg_attr(any(waitword_loom, waitword_shuttle), path = "tagged_model.rs")]
mod tagged;

pub use cell::{OnceLock, OnceWait, OnceWaitUntil};
pub use lazy::{LazyForce, LazyForceUntil, LazyLock};
