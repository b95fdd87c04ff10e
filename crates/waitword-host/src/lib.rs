//! Runs whole JavaScript programs: a main agent and its workers, as with `node:worker_threads`.
//!
//! This crate is also an example of embedding [`waitword_quickjs`]: it uses only that crate's public interface, without unsafe code. A
//! program that already has an event loop embeds `waitword_quickjs` instead.
//!
//! ```text
//!   Program ──► worker.rs, exit.rs, agent_links.rs   a thread per agent, and what it posts to its parent
//!                 ├► recorder.rs ─► observer.rs, timeline.rs   the steps of observed agents, for reports and timelines
//!                 └► event_loop/   one job at a time, then sleep
//!                      ├► timers.rs, mailbox.rs, ports.rs, channel.rs, named_locks.rs, clone/   the sources of jobs
//!                      ├► cluster.rs, members.rs, liveness.rs   which agents sleep, whether anything can still happen, which must end
//!                      └► sources.rs, source_file.rs, module_loader.rs   the text of scripts and modules
//!   js/ ──► parts.rs, natives/, broadcast_groups.rs   the half of the host that is written in JavaScript, and what it calls
//! ```
//!
//! # When a program ends
//! An agent stays alive while it has
//! - a timer or a worker, unless `unref` was called on it,
//! - a pending `waitAsync` with a timeout,
//! - a port with a listener for messages, unless `unref` was called on it afterwards,
//! - a pending request for a lock (`locks` of `worker_threads`),
//! - a pending `waitAsync` without a timeout that another agent could still notify.
//!
//! When nothing can happen any more, agents that only wait are ended one by one, the youngest first, and their waits are reported as
//! [abandoned](Ended::abandoned). The exit code is 0 then, as in Node; 13 if the main module still awaits a promise; 1 if an agent is
//! blocked in `Atomics.wait` forever.

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
