//! Findings and reports as text, for a terminal of 100 columns.

mod cycle;
mod finding;
mod listing;
mod words;

pub(crate) use listing::listing;
pub(crate) use words::clean;
