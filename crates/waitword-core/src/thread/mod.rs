//! The thread that waits: how it sleeps and is woken, when it stays awake for a while, and whether it may block at all.

mod blocking;
mod park;
#[allow(unsafe_code)]
mod sleeper;
pub(crate) mod spin;

pub use blocking::{ForbidBlocking, allow_blocking, forbid_blocking, may_block};
pub(crate) use park::known::known_threads;
pub use park::{Interrupt, Parker};
pub(crate) use sleeper::{Threads, is_of_thread};
