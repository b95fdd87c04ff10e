//! One case, in a process of its own: the harness, the test, and the outcome.
//!
//! `judge.rs` runs the test. `host.rs` is what it finds in `$262`, `agents.rs` what goes between the agents that it starts,
//! `life.rs` what each of them does, `jobs.rs` the loop of every agent, `modules.rs` what the test imports.

mod agents;
mod engine;
mod host;
mod jobs;
mod judge;
mod life;
mod modules;

pub(crate) use judge::run;
