//! The timeline: a trace as plain data, the lanes and slices that it makes, and what shows them.
//!
//! `record.rs` translates what `record/rings.rs` keeps into `events.rs`; `timeline.rs` pairs beginnings with ends; `chrome.rs` and `svg.rs` write the result
//! (`shown.rs`).

mod chrome;
mod events;
mod record;
mod shown;
mod sources;
mod svg;
mod timeline;

pub use events::{Trace, TraceEvent, TraceKind, TraceReadError};
pub use record::{Tracing, trace_start, trace_start_all, trace_stop, traced};
pub use sources::add_trace_source;
