//! `waitword test262`: how far the engine, with waitword's queue in it, follows ECMA-262, by the standard's own suite.
//!
//! The suite is a checkout of the user's, which is only read (`suite.rs`). A test says in its front matter how it wants to
//! be run (`front_matter.rs`), which makes one or two cases of it (`plan.rs`). Each case is a process (`run.rs`) that runs
//! the test (`case/`) and says how it ended (`outcome.rs`). The results are compared with the snapshots of earlier ones
//! (`snapshot/`) and shown (`report.rs`).

mod args;
mod case;
mod command;
mod front_matter;
mod outcome;
mod plan;
mod report;
mod run;
mod snapshot;
mod suite;

pub(crate) use args::{Test262, Test262Case};
pub(crate) use case::run as run_case;
pub(crate) use command::run;
