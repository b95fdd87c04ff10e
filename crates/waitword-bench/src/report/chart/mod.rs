//! Pictures of the figures; all axes are logarithmic.

mod lines;
mod pages;
mod scatter;
mod style;

pub(crate) use pages::{Chart, all};
