//! The wait group.

mod group;
mod raw;
mod token;

pub use group::{WaitGroup, WaitGroupWait, WaitGroupWaitOwned, WaitGroupWaitOwnedUntil, WaitGroupWaitUntil};
pub use token::{OwnedWaitGroupToken, WaitGroupToken};
