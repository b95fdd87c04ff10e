//! Whole programs: a main agent and its workers, as `node:worker_threads` has them.
//!
//! It is an example of embedding [`waitword_quickjs`]: it uses that crate's public interface and has no unsafe code. Who has an
//! event loop already embeds that crate instead.
//!
//! ```text
//!   Program ──► worker.rs, exit.rs, agent_links.rs   a thread for each agent, and what it posts to its parent
//!                 ├► recorder.rs ─► observer.rs, timeline.rs   what an observed agent does, for reports and timelines
//!                 └► event_loop/   one job at a time, then sleep
//!                      ├► timers.rs, mailbox.rs, ports.rs, channel.rs, named_locks.rs, clone/   what there is to do
//!                      ├► cluster.rs, members.rs, liveness.rs   which agents sleep; can anything still happen? which have to end?
//!                      └► sources.rs, source_file.rs, module_loader.rs
//!   js/ ──► parts.rs, natives/, broadcast_groups.rs   the half of the host that is written in JavaScript, and what it calls
//! ```
//!
//! # When a program ends
//! An agent goes on while it has a timer or a worker that is not `unref`ed, a `waitAsync` with a timeout, or (a worker) a
//! listener for messages. A `waitAsync` without a timeout keeps it only while another agent could still notify it. When
//! nothing can happen any more, agents that merely wait are ended one by one, youngest first, and their waits reported as
//! [abandoned](Ended::abandoned). Exit code 0 then, as Node has it; 13 if the main module still awaits; 1 if an agent
//! is blocked in `Atomics.wait` for ever.

#![forbid(unsafe_code)]

mod agent_host;
mod agent_links;
mod agent_name;
mod broadcast_groups;
mod channel;
mod clone;
mod cluster;
mod ended;
mod event_loop;
mod exit;
mod file_url;
mod liveness;
mod lock;
mod mailbox;
mod members;
mod module_loader;
mod named_locks;
mod natives;
mod observer;
mod parts;
mod path_text;
mod ports;
mod program;
mod recorder;
mod source_file;
mod source_text;
mod sources;
mod timeline;
mod timers;
mod worker;
mod worker_options;

pub use agent_name::AgentName;
pub use ended::{AbandonedWait, Activity, AliveAgent, EXIT_TIMED_OUT, Ended, Failure, FailureKind, Place};
pub use observer::{
    Actor, ObservedAgent, ObservedDeed, ObservedWaiter, ObservedWord, Observer, WaiterSeen, WaitsFor,
};
pub use program::Program;
pub use timeline::{ObservedStep, ObservedSteps, StepKind};
pub use worker_options::DEFAULT_MAX_WORKERS;
