//! Random programs of several agents on `Atomics` and SharedArrayBuffers, and what ECMA-262 says that they do.
//!
//! `generator` makes a [`Program`] (`program`) of any bytes. `driver` plays it: `script` writes each step as source text,
//! which calls the functions of `world.js`, and the agents (`agent`) run it. `model` goes through the same steps as the standard's
//! algorithms have them, and knows nothing of this crate's code. Both write down what can be observed (every coercion, every
//! result and error with its realm, every promise), and the two texts have to be the same after each step.
//!
//! One test plays random programs (`tests/programs.rs`), a fuzz target those that a fuzzer finds (`verify/fuzz/`).

mod agent;
mod driver;
mod generator;
mod model;
mod program;
mod script;

pub(crate) use driver::play;
pub(crate) use program::Program;
