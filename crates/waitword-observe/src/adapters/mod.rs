//! Adapters for what a program has already: its log, its metrics.

#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "tracing")]
mod tracing;

#[cfg(feature = "metrics")]
pub use metrics::Metrics;
#[cfg(feature = "tracing")]
pub use tracing::{emit_finding, emit_report, emit_slow};
#[cfg(feature = "tracing")]
pub(crate) use tracing::{emit_lasting, receives_faults, receives_warnings};
