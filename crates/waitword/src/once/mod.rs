//! The cell that is set once: the public API. Its initialisers are in `init.rs`, the methods of its exclusive owner in
//! `owner.rs`, the value in `slot.rs` and `tagged.rs`, the word and lost turns in `raw.rs`. `lazy.rs` is a cell with its
//! initialiser.

mod cell;
mod init;
mod lazy;
mod owner;
mod raw;
#[allow(unsafe_code)]
mod slot;
#[allow(unsafe_code)]
#[cfg_attr(waitword_loom, path = "tagged_model.rs")]
mod tagged;

pub use cell::{OnceLock, OnceWait, OnceWaitUntil};
pub use lazy::{LazyForce, LazyForceUntil, LazyLock};
