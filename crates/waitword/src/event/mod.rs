//! The event: what you call. Its word is in `raw.rs`, the loop of those who wait in `condition`.
//!
//! The race that it is there for is the one between a look at something and the wait for it to change:
//!
//! ```text
//!   consumer                                 producer
//!   ───────────────────────────────          ───────────────────────────────
//!   the list is empty
//!                                            push; notify_one: nobody waits
//!                                            → the wakeup is stored
//!   wait: takes what is stored, and looks
//!   again
//! ```
//! With `notify_all`, which stores nothing, the consumer makes its future first and looks then: a future counts as
//! waiting from the moment that it is made. What a thread makes is in `listener.rs`.

mod begin;
mod futures;
mod listener;
mod notified;
mod owned;
mod raw;
mod source;

pub use futures::{EventWait, EventWaitOwned, EventWaitOwnedUntil, EventWaitUntil};
pub use listener::{EventListener, OwnedEventListener};
pub use notified::EventNotified;
pub use source::Event;
