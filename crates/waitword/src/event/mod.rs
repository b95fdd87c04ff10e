//! The event: the public API. Its word is in `raw.rs`, the wait loop in `condition`.
//!
//! An event closes the race between checking a condition and waiting for it to change:
//!
//! ```text
//!   consumer                                 producer
//!   ───────────────────────────────          ───────────────────────────────
//!   the list is empty
//!                                            push; notify_one: no waiter
//!                                            → the wakeup is stored
//!   wait: takes what is stored, and
//!   rechecks
//! ```
//! With `notify_all`, which stores nothing, the consumer makes its future first and checks then: a future counts as
//! waiting from the moment that it is made. The equivalent for a thread is in `listener.rs`.

mod listener;
mod raw;
mod source;
mod waits;

pub use listener::{EventListener, OwnedEventListener};
pub use raw::EventNotified;
pub use source::Event;
pub use waits::{EventWait, EventWaitOwned, EventWaitOwnedUntil, EventWaitUntil};
