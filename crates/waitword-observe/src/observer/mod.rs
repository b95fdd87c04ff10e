//! The door to the core: what is asked for (`asked.rs`), what the core then tells of holders (`hooks.rs`), and the switches.

mod asked;
mod hooks;
mod switch;

pub(crate) use asked::ask;
pub use switch::{Traced, start_blame, start_holders, stop_blame, stop_holders, trace};
