//! The timeline: a trace as plain data, the lanes and slices that it makes, and what shows them.
//!
//! `timeline.rs` pairs the beginnings of the events (`events.rs`) with their ends; `chrome.rs` and `svg.rs` write the result.

mod chrome;
mod events;
mod svg;
mod timeline;

pub use events::{Trace, TraceEvent, TraceKind, TraceReadError};
