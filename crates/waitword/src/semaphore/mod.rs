//! The semaphore: its public methods that do not wait.
//!
//! The word and all that happens to it is in `raw_semaphore`. Here are its permits: `acquire.rs` has the methods that
//! get them, `futures.rs` what the `_async` methods return,
//! `permit.rs` what one has then, and `error.rs` why one has not.

mod acquire;
mod error;
mod futures;
mod permit;
mod permits;

pub use error::{AcquireError, Closed, TryAcquireError};
pub use futures::{
    SemaphoreAcquire, SemaphoreAcquireOwned, SemaphoreAcquireOwnedUntil, SemaphoreAcquireUntil,
};
pub use permit::{OwnedSemaphorePermit, SemaphorePermit};
pub use permits::Semaphore;
