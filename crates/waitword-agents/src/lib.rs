//! ECMAScript agents without an engine: `Atomics.wait`, `Atomics.waitAsync` and `Atomics.notify` exactly as ECMA-262 specifies them.
//!
//! The engine checks and coerces the arguments. Its host keeps an [`Agent`] for each thread that runs scripts and a [`SharedBlock`]
//! behind each SharedArrayBuffer, and calls [`Agent::wait`], [`Agent::wait_async`] and [`Agent::notify`]. The wait queue is
//! `waitword-core`'s, so that Rust threads and tasks can wait on and notify the same words as scripts.
//!
//! ```
//! use std::time::Duration;
//! use waitword_agents::{Agent, AsyncWait, Expected, Outcome, SharedBlock, Timeout};
//!
//! let block = SharedBlock::new(16)?;
//! let agent = Agent::new(false, || { /* post to the agent's event loop */ });
//!
//! let never = agent.wait_async(&block, 0, Expected::I32(1), Timeout::Never)?;
//! assert_eq!(never, AsyncWait::NotEqual);
//! let AsyncWait::Pending(id) = agent.wait_async(&block, 0, Expected::I32(0), Timeout::Never)? else { panic!() };
//!
//! // A Rust thread notifies the word that the script waits on.
//! assert_eq!(waitword_core::notify_all(block.i32(0)?), 1);
//!
//! // In the agent's event loop: one job per settled wait, in the order of the notifies.
//! let settled = agent.drain_settled().next().unwrap();
//! assert_eq!((settled.id, settled.outcome), (id, Outcome::Notified));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Source files
//! - `agent.rs`: what an agent is, and how it receives the outcomes of its async waits
//! - `do_wait.rs`: the standard's steps
//! - `waits.rs`, `slab.rs`: the storage of the waits
//! - `block.rs`, `block_word.rs`: the memory and its words
//! - `growth.rs`: which agents have seen memory grow
//! - `budget.rs`: how much memory an agent may hold
//! - `js_number.rs`: expected values, timeouts and counts
//! - `wasm.rs`: WebAssembly's instructions that wait and notify
//! - with the feature `observe`: `observe.rs` (the waiters of a word), `history.rs` (who changed a word), `block_list.rs` (all blocks)

#![deny(unsafe_code)]
// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent;
mod agent_id;
#[allow(unsafe_code)]
mod block;
mod block_error;
#[cfg(feature = "observe")]
mod block_list;
#[allow(unsafe_code)]
mod block_word;
mod budget;
mod do_wait;
mod growth;
#[cfg(feature = "observe")]
mod history;
mod js_number;
#[cfg(feature = "observe")]
pub mod observe;
#[allow(unsafe_code)]
mod slab;
mod waits;
mod wasm;

pub use agent::{Agent, AgentHandle};
pub use agent_id::AgentId;
pub use block::SharedBlock;
pub use block_error::{BlockError, GrowError, WordError};
pub use block_word::BlockWord;
pub use budget::{Charge, MemoryBudget};
pub use do_wait::{AsyncWait, WaitAsyncError, WaitError};
pub use growth::GrowthWatch;
pub use js_number::{Expected, Timeout, notify_count};
pub use waits::{PendingWait, Settled, WaitId};
pub use waitword_core::Outcome;
pub use wasm::{LinearMemory, Trap};

/// Compiles and runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
