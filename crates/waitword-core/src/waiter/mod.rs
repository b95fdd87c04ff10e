//! The waiter as the queue knows it: a node, its place in a list, and how it is woken.
//!
//! # Who owns a node when
//! ```text
//!           enqueue              complete               the owner reads the outcome
//!   IDLE ─────────────► QUEUED ──────────┬─► NOTIFIED ───────────────────────────► DONE
//!   the owner           the shard's lock │   the owner; an agent's wait: its       the owner, who
//!    ▲                     │             │   inbox, and IDLE again once popped     only drops it
//!    └────────── leave ────┘             └─► TIMED_OUT (an agent's wait only)
//! ```
//! While it is queued a node may be `SIGNALLED` (`notify/signal.rs`): woken without an outcome, its waker gone until its owner
//! sets another. If it does not respond, a pass of the watchdog makes it `OVERDUE`, and the next one `SKIPPED`
//! (`table/watchdog.rs`). Its owner may make it `SIGNAL_REQUESTED`: the next pass signals it. What is said of `QUEUED` nodes
//! here holds for all five.
//!
//! A `QUEUED` node is linked into the queue of its word or, once a notify has dequeued it, *detached*: linked into the list
//! that this notify is working off, counted, and not completed yet.
//!
//! # Invariants
//! - **I1** A node is pinned from its first enqueue on, and its owner makes it leave (`Locked::leave`, then
//!   `Inbox::remove_if` if an inbox has it) before its memory goes.
//! - **I2** While `QUEUED`, its `Links` and its entry belong to the holder of the lock of the shard of its `address`.
//! - **I3** After a notifier has stored the outcome of a thread's or task's node, it never touches the node again: the
//!   owner may be gone. The store is its last access, and the waker was taken out before.
//! - **I4** The `Links` and the entry of a completed node that an inbox holds belong to the holder of the inbox's lock.
//! - **I5** Outside of these, both belong to the owner.

mod inbox;
pub(crate) mod list;
pub(crate) mod node;
pub(crate) mod wake;

pub(crate) use inbox::Completed;
pub use inbox::Inbox;
