//! Seeing waiters: what a snapshot says of each, and the clock that its age is read from.
//!
//! Every waiter in a queue carries the place in the source where its wait began and the identity of its thread, task or agent.
//! A snapshot (`Table::snapshot`) copies them out, in short stays under each shard's lock.
//!
//! # Since when
//! A waiter's ticket orders it in its queue; it costs nothing to let it be a time. Once the clock runs (`start_clock`), a ticket is
//! the time of the enqueue, in units of 16 nanoseconds, with the lowest bit set. Before, and where the clock is not ahead of the tickets,
//! it is the successor of the last one, and even. So tickets rise in any case, and each one tells whether it is a time.
//!
//! ```text
//!   clock:    off         on                          off
//!   tickets:  2  4  6     1_000_001  1_040_013 ...    9_700_002  9_700_004
//! ```

mod clock;
mod origin;
mod seen;
// Finds a place in the source again, by its distance (S1).
#[allow(unsafe_code)]
mod site;
mod tasks;

pub use clock::{start_clock, stop_clock};
pub(crate) use clock::{ticket_after, time_of};
pub use origin::{Caller, Origin, WaitsFor};
pub(crate) use seen::Copied;
pub use seen::{Actor, WaiterSeen, WaiterState};
pub(crate) use site::PackedSite;
pub use site::Site;
pub(crate) use tasks::ask;
pub use tasks::{are_tasks_identified, identify, task_number};
