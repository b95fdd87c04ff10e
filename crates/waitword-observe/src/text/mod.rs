//! Findings and reports as text, for a terminal of 100 columns.

mod blame;
mod cycle;
mod finding;
mod listing;
mod order;
mod shown;
mod words;

pub(crate) use blame::blame;
pub(crate) use cycle::lasting;
pub(crate) use finding::findings;
pub(crate) use listing::listing;
pub use shown::short_duration;
pub(crate) use words::clean;
pub(crate) use words::{actor, duration, lock, short_type};
