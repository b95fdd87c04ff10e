//! What came out: tables for reading, charts for looking, CSV and JSON for machines.

mod chart;
mod csv;
mod goals;
mod json;
mod markdown;
mod publish;

pub(crate) use markdown::peers;
pub(crate) use publish::Report;
