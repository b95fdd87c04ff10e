//! The semaphore. The word and all that happens to it is in `raw_semaphore`; here are its permits. `permits.rs` has the type, `acquire.rs` the
//! methods that acquire, `futures.rs` what the `_async` ones return, `permit.rs` what they acquire, `error.rs` why one has acquired nothing.

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
