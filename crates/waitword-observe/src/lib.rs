//! Observes `waitword`'s locks: which threads, tasks and JavaScript agents wait, for which lock, since when, and from which line.
//!
//! [`init`] observes as the environment variable `WAITWORD_OBSERVE` says, and does nothing without it. By hand:
//!
//! ```
//! use waitword::Mutex;
//!
//! static ACCOUNTS: Mutex<Vec<u64>> = Mutex::new(Vec::new());
//!
//! waitword_observe::enable(); // from now on waits have ages
//! waitword_observe::name(&ACCOUNTS, "accounts").forever();
//!
//! let report = waitword_observe::report();
//! println!("{report}"); // for a terminal
//! # #[cfg(feature = "json")]
//! println!("{}", report.to_json()); // for tools: `json_schema` has every field
//! ```
//!
//! A [`Report`] is a [`Snapshot`] and the [`Finding`]s in it: waiters that are not polled, long waits, cycles. Cycles are found only while
//! holders are recorded, that is after [`enable`]. [`on_deadlock`] and [`abort_on_deadlock`] react to a cycle as soon as it is found.
//!
//! Where to read on in the source:
//! - `observer/` is the interface to the core, which calls it.
//! - `record/` keeps who holds each lock, and the events of a trace; `blame/` who made others wait; `notifies.rs` the last notifies;
//!   `order/` the order of locks for [`check_lock_order`].
//! - `process.rs` makes a snapshot (`model/`) of the process; `signalled.rs` keeps since when a signalled task has not run; `sources.rs`
//!   adds the waiters of other tables.
//! - `search/` derives findings (`finding.rs`) from a snapshot; `report.rs` joins both, and `text/` prints them.
//! - `trace/` makes the timeline, `profile/` writes for profilers, `tracing.rs` and `metrics.rs` for the crates of these names.
//! - `switch/` turns observation on.

#![deny(unsafe_code)]
// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The documentation is that of all features.
#![cfg_attr(not(feature = "json"), allow(rustdoc::broken_intra_doc_links))]

mod blame;
mod by_word;
mod finding;
mod json;
#[cfg(feature = "metrics")]
mod metrics;
mod model;
mod names;
mod notifies;
mod numbers;
mod observer;
mod order;
mod process;
mod profile;
mod record;
mod report;
mod search;
mod signalled;
#[allow(unsafe_code)]
mod site_ptr;
mod sources;
mod switch;
mod sync;
mod tasks;
mod text;
mod trace;
#[cfg(feature = "tracing")]
mod tracing;

pub use blame::{Blame, Blamed, Bucket, Slow, blame, set_slow_threshold, take_slow};
pub use finding::{
    Blocks, Certainty, Cycle, Finding, FirstWaiter, HolderEnded, HolderWaits, LongWait, Member, MemberWait,
    NeverPolled, NoKnownNotifier, OrderMember, PotentialDeadlock, Unless,
};
#[cfg(feature = "metrics")]
pub use metrics::Metrics;
pub use model::{
    Access, Actor, Address, BlockPlace, Deed, Ended, Holder, LastPoll, Lock, LockKind, LockName, Recording,
    Site, Snapshot, State, Trace, TraceEvent, TraceKind, TraceReadError, Waiter,
};
pub use names::{Name, Nameable, name};
pub use observer::traced;
pub use order::{LockOrder, assert_lock_order, lock_order};
pub use process::snapshot;
pub use profile::{Profile, Waits, profile};
pub use record::rings::Tracing;
pub use report::{Process, ReadError, Report, SCHEMA, report};
pub use search::{cycles, waits};
pub use sources::{Seen, Source, add_source};
#[cfg(unix)]
pub use switch::report_on_signal;
#[cfg(all(unix, feature = "json"))]
pub use switch::{Server, serve};
pub use switch::{abort_on_deadlock, check_lock_order, disable, enable, identify, init, on_deadlock};
pub use text::short_duration;
pub use trace::{add_trace_source, trace_start, trace_start_all, trace_stop};
#[cfg(feature = "tracing")]
pub use tracing::{emit_finding, emit_report, emit_slow};

/// The records and events behind reports, for tests of this crate.
#[doc(hidden)]
pub mod internals {
    pub use crate::notifies::{NotifySeen, last_notify};
    pub use crate::observer::{start_blame, start_holders, stop_blame, stop_holders};
    pub use crate::record::rings::{Event, Events, acquired, released};
    pub use crate::record::{Release, note_release};
}

#[cfg(feature = "json")]
#[doc = include_str!("../docs/json.md")]
pub mod json_schema {}

/// Compiles and runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
