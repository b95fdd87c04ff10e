//! What an agent's thread does all day: one job, its microtasks, the next job; else sleep.
//!
//! `run.rs` is the loop, `start.rs` runs the script, `jobs.rs` the jobs and their microtasks; what a script does not catch goes to
//! `errors.rs`.

mod errors;
mod jobs;
mod run;
mod start;
mod state;
mod stop;

pub(crate) use state::EventLoop;
pub(crate) use stop::Stop;
