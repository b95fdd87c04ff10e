//! The waiter as the queue knows it: a node, its place in a list, and how it is woken.
//!
//! # Who owns a node when
//! ```text
//!           enqueue              settle                 owner reads the outcome
//!   IDLE ─────────────► QUEUED ──────────┬─► NOTIFIED ───────────────────────────► DONE
//!   the owner           the shard's lock │   the owner; an agent's wait: its       the owner, who
//!    ▲                     │             │   inbox, and IDLE again once popped     only drops it
//!    └────────── leave ────┘             └─► TIMED_OUT (an agent's wait only)
//! ```
//! While it is queued, a node may be `SIGNALLED` (`notify/signal.rs`): woken without a outcome, its wake gone until its owner gives it
//! another. The sweep for those who do not look makes `OVERDUE` of it, and the next one `SKIPPED`. And its owner may make it
//! `SIGNAL_REQUESTED`: to be called by the next sweep. Nothing else changes; what is said of `QUEUED` nodes here holds for all five.
//!
//! A `QUEUED` node is linked either into the queue of its word or, once a notify took it, into the list that
//! this notify is working off (in detached): already counted, not yet told.
//!
//! # Invariants
//! - **I1** A node is pinned from its first enqueue, and its owner makes it leave (`Locked::leave`, then
//!   `Inbox::remove_if` if an inbox has it) before its memory goes.
//! - **I2** While `QUEUED`, `Links` and the entry's neighbours belong to whoever holds the lock of the shard of `address`.
//! - **I3** After a settler stored a outcome of a thread's or task's node, it never touches the node again: the
//!   owner may be gone. The store is its last access, and everything it needs for the wake was taken out before.
//! - **I4** A node that an inbox holds (settled, not drained) has an entry and `Links` that belong to the inbox's lock.
//! - **I5** Outside of these, both belong to the owner.

mod inbox;
pub(crate) mod list;
pub(crate) mod node;
pub(crate) mod wake;

pub(crate) use inbox::Completed;
pub use inbox::Inbox;
