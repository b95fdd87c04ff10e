//! The queues: from the node of a waiter up to the table of all words.
//!
//! The node (`node.rs`) is linked into a list (`../list.rs`), and knows how it is woken (`../wake.rs`). Above it: the queues of words whose keys
//! are alike (`bucket.rs`, `key.rs`), and the lock in front of many of them (`lock.rs`, `shard.rs`); what is done under that lock (`section.rs`),
//! and where it is found (`table.rs`). Above the table: snapshots and forks here, the watchdog (`../watchdog.rs`).
//!
//! # Who owns a node when
//! ```text
//!           enqueue              complete               the owner reads the outcome
//!   IDLE ─────────────► QUEUED ──────────┬─► NOTIFIED ───────────────────────────► DONE
//!   the owner           the shard's lock │   the owner; an agent's wait: its       the owner, who
//!    ▲                     │             │   inbox, and IDLE again once popped     only drops it
//!    └────────── leave ────┘             └─► GONE (an agent's deadline, or a fork)
//! ```
//! While it is queued a node may be `SIGNALLED` (`../notify.rs`): woken without an outcome, its waker gone until its owner
//! sets another. If it does not respond, a pass of the watchdog makes it `OVERDUE`, and the next one `SKIPPED`
//! (`../watchdog.rs`). Its owner may make it `REQUESTED`: the next pass signals it; or `PASSED`: signals may go past
//! it. All of these are [`QUEUED`](node::QUEUED), with a mark beside it.
//!
//! In the child of a fork, a node that another thread than the forking one had queued is `GONE`: in no list (`fork.rs`).
//!
//! A `QUEUED` node is linked into the queue of its word or, once a notify has dequeued it, *detached*: linked into the list of this notify,
//! counted, and not completed yet.
//!
//! # Invariants
//! - **I1** A node is pinned from its first enqueue on, and its owner makes it leave (`Section::leave`, then `Inbox::remove_if` if it is in
//!   an inbox) before its memory is freed.
//! - **I2** While `QUEUED`, its `Links` and its entry belong to the holder of the lock of the shard of its `address`.
//! - **I3** After a notifier has stored the outcome of a thread's or task's node, it never touches the node again: the
//!   owner may be gone. The store is its last access, and the waker was taken out before.
//! - **I4** The `Links` and the entry of a completed node that an inbox holds belong to the holder of the inbox's lock.
//! - **I5** Outside of these, both belong to the owner.

pub(crate) mod bucket;
#[cfg(all(unix, not(waitword_loom)))]
pub(crate) mod fork;
pub(crate) mod key;
mod lock;
pub(crate) mod node;
pub(crate) mod section;
pub(crate) mod shard;
pub(crate) mod snapshot;
pub(crate) mod table;
#[cfg(test)]
mod tests;
