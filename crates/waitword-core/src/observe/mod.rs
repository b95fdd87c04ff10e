//! Seeing waiters: what a snapshot says of each, and the clock that its age is read from. With the feature `observe`, who holds each lock, who made
//! others wait, and the timeline.
//!
//! Every waiter in a queue carries the place in the source where its wait began and the identity of its thread, task or agent.
//! A snapshot (`Table::snapshot`) copies them out, in short stays under each shard's lock.
//!
//! # Since when
//! A waiter's ticket orders it in its queue; it costs nothing to let it be a time. Once the clock runs (`start_clock`), a ticket is
//! the time of the enqueue, in units of 32 nanoseconds, with the lowest bit set. Before, and where the clock is not ahead of the tickets,
//! it is the successor of the last one, and even. So tickets rise in any case, and each one tells whether it is a time.
//!
//! ```text
//!   clock:    off         on                          off
//!   tickets:  2  4  6     1_000_001  1_040_013 ...    9_700_002  9_700_004
//! ```
//!
//! # Who made others wait
//! A release with waiters charges the site where the lock was taken (`blame.rs`) with what they have waited (`delays.rs`).
//!
//! # Following
//! A listener can be told each acquisition and release as it happens (`follow.rs`).
//!
//! # The timeline
//! While there is a trace, waiters and holders write events (`trace.rs`) into rings of fixed size (`ring.rs`, `rings.rs`).

#[cfg(feature = "observe")]
mod asked;
#[cfg(feature = "observe")]
mod blame;
mod clock;
mod delays;
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
mod follow;
#[cfg(not(all(feature = "observe", not(any(waitword_loom, waitword_shuttle)))))]
#[path = "unfollowed.rs"]
mod follow;
pub mod holders;
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
mod notifies;
#[cfg(not(all(feature = "observe", not(any(waitword_loom, waitword_shuttle)))))]
#[path = "unnotified.rs"]
mod notifies;
#[cfg(feature = "observe")]
mod notify_table;
mod origin;
#[cfg(feature = "observe")]
mod release;
// Public for its models.
#[cfg(feature = "observe")]
#[cfg_attr(not(any(waitword_loom, waitword_shuttle)), allow(unreachable_pub))]
mod ring;
mod seen;
// Finds a place in the source again, by its distance (S1).
#[allow(unsafe_code)]
mod site;
#[cfg(feature = "observe")]
#[allow(unsafe_code)]
mod site_ptr;
#[cfg(feature = "observe")]
mod slow;
mod tasks;
#[cfg(feature = "observe")]
mod trace;
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
#[path = "rings.rs"]
pub(crate) mod tracing;
#[cfg(not(all(feature = "observe", not(any(waitword_loom, waitword_shuttle)))))]
#[path = "untraced.rs"]
pub(crate) mod tracing;
mod types;

#[cfg(feature = "observe")]
pub(crate) use asked::{blames, is_anything_asked};
#[cfg(feature = "observe")]
pub use blame::{BUCKETS, Blame, Blamed, blame, bucket_limit, start_blame, stop_blame};
#[cfg(feature = "observe")]
pub(crate) use blame::{Charge, charge};
#[cfg(feature = "observe")]
#[cfg_attr(any(waitword_loom, waitword_shuttle), allow(unused_imports))]
pub(crate) use clock::{begin_clock, instant, nanos_at, now};
pub use clock::{start_clock, stop_clock};
pub(crate) use clock::{ticket_after, time_of};
#[cfg(feature = "observe")]
pub(crate) use delays::Delay;
pub(crate) use delays::Delays;
pub use follow::awaited;
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
pub use follow::{Acquirer, Step, follow, stop_following};
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
pub use notifies::{NotifySeen, notifies};
pub use notifies::{forget_notify, note_notify, notes_notifies};
#[cfg(all(feature = "observe", any(waitword_loom, waitword_shuttle)))]
#[doc(hidden)]
pub use notify_table::{Kept, NotifyTable};
pub use origin::{Caller, Origin, WaitsFor};
#[cfg(feature = "observe")]
pub(crate) use release::noted;
#[cfg(feature = "observe")]
pub use release::{Release, note_release};
#[cfg(all(feature = "observe", any(waitword_loom, waitword_shuttle)))]
#[doc(hidden)]
pub use ring::Ring;
pub(crate) use seen::Copied;
pub use seen::{Actor, WaiterSeen, WaiterState};
pub(crate) use site::PackedSite;
pub use site::Site;
#[cfg(feature = "observe")]
pub(crate) use slow::{CROWD, is_slow, keep as keep_slow};
#[cfg(feature = "observe")]
pub use slow::{Slow, set_slow_threshold, take_slow};
pub(crate) use tasks::ask;
pub use tasks::{are_tasks_identified, identify, task_number};
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
pub(crate) use tasks::{is_anonymous, kept_number, of_this_thread as task_of_this_thread};
#[cfg(feature = "observe")]
pub use trace::{Event, EventKind, Events, Who};
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
pub use tracing::{Tracing, trace, trace_acquired, trace_released, traces_all};
pub use types::{LockType, lock_type_of, note_lock_type};
