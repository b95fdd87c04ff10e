//! The programs of `benches/js` on waitword and on the engines beside it, in interleaved rounds.
//!
//! `programs.rs` knows which programs there are and what each has to print; `engine.rs` finds the engines; `process.rs` runs
//! one program once and reads its figures. What is done with the figures is the same as for all others (`report/`).

mod engine;
mod process;
mod programs;
mod run;

pub(crate) use run::{Javascript, run};
