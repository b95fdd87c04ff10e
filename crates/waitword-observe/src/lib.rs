//! The waiters of `waitword`'s locks: which threads, tasks and JavaScript agents wait, for which lock, since when, and from which line.
//!
//! [`init`] does what the environment variable `WAITWORD_OBSERVE` says, and nothing without it. By hand:
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
//! println!("{}", report.to_json()); // for tools: `json_schema` has every field
//! ```
//!
//! A [`Report`] is a [`Snapshot`] and the [`Finding`]s in it: waiters that are not polled, long waits, cycles. Cycles are found while
//! holders are recorded, that is after [`enable`]. [`on_deadlock`] and [`abort_on_deadlock`] say what is to happen then.
//!
//! Where to read on: `process.rs` makes a snapshot (`model/`) of the process; `search/` concludes findings (`finding.rs`) from it; `report.rs`
//! puts both together, and `text/` prints it; `order/` follows holders for [`check_lock_order`]; `sources.rs` adds what other tables have; `profile/` writes a snapshot for profilers, `trace/` a timeline; `switch/` turns observation on.

#![deny(unsafe_code)]

mod adapters;
mod blame;
mod finding;
mod identify;
mod model;
mod names;
mod numbers;
mod order;
mod process;
mod profile;
mod report;
mod search;
mod sources;
mod switch;
mod text;
mod trace;

#[cfg(feature = "metrics")]
pub use adapters::Metrics;
#[cfg(feature = "tracing")]
pub use adapters::{emit_finding, emit_report, emit_slow};
pub use blame::{Blame, Blamed, Bucket, Slow, blame, take_slow};
pub use finding::{
    Blocks, Certainty, Cycle, Finding, FirstWaiter, HolderEnded, LongWait, Member, MemberWait, NeverPolled,
    NoKnownNotifier, OrderMember, PotentialDeadlock, Unless,
};
pub use identify::identify;
pub use model::{
    Access, Actor, Address, BlockPlace, Deed, Ended, Holder, LastPoll, Lock, LockKind, LockName, Recording,
    Site, Snapshot, State, Waiter,
};
pub use names::{Name, Nameable, name};
pub use order::{LockOrder, assert_lock_order, check_lock_order, lock_order};
pub use process::snapshot;
pub use profile::{Profile, Waits, profile};
pub use report::{Process, ReadError, Report, SCHEMA, report};
pub use search::{cycles, waits};
pub use sources::{Seen, Source, add_source};
#[cfg(unix)]
pub use switch::{Server, report_on_signal, serve};
pub use switch::{abort_on_deadlock, disable, enable, init, on_deadlock, set_slow_threshold};
pub use text::short_duration;
pub use trace::{
    Trace, TraceEvent, TraceKind, TraceReadError, Tracing, add_trace_source, trace_start, trace_start_all,
    trace_stop, traced,
};

#[doc = include_str!("../docs/json.md")]
pub mod json_schema {}

/// Compiles and runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
