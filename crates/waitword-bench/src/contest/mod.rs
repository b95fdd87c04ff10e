//! Threads or tasks that contend for one lock for a given time: acquisitions, evenness, longest wait.

mod tally;
mod turns;
mod waits;

pub(crate) use tally::{Outcome, Tally};
pub(crate) use turns::Contest;
