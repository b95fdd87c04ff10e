#![doc = include_str!("../README.md")]
//!
//! # Embedding
//! A [`JsAgent`] runs scripts on the thread that made it. `Atomics.wait`, `waitAsync` and `notify` are replaced in
//! every realm, by functions on [`waitword_agents`]; SharedArrayBuffers are [`SharedBlock`]s, which Rust threads and tasks can wait on and notify as well.
//!
//! [`JsAgent::set_function`] gives scripts a function in Rust; [`JsAgent::realm`] reaches objects, modules and promises.
//! [`JsAgent::handle`] is for other threads: to terminate the agent, even while it is blocked in `Atomics.wait`.
//!
//! A program that has `rquickjs` installs into its own runtime instead: with the feature `rquickjs`, `install` and `install_async`.
//!
//! The crate `waitword-host` is an example of embedding: it runs whole programs (modules, timers, and workers as
//! `node:worker_threads` has them) on nothing but this crate's public interface.
//!
//! # Where to read on
//! `runtime.rs` and `jobs.rs` (the agent and its jobs), `atomics.rs` (the three functions, step by step), `atomic_access.rs`
//! (what the engine's other functions on words leave out), `shared_array_buffer.rs`
//! (memory that grows; how views see it: `ffi/growth.rs`), `array_buffer.rs`, `buffer_slice.rs`, `data_view.rs` and `typed_array.rs` (what the
//! engine gets wrong of buffers and views), `apply.rs` (lists of arguments), `string_length.rs`
//! (strings that are too long), `convert.rs` (values of Rust as values of scripts, and back), `agent_state.rs` (promises of pending waits), `word_observer.rs` (what
//! scripts do to words, with the feature `observe`), `guest.rs` and `guest_driver.rs` (in a runtime of rquickjs, with the feature of that name). All unsafe code is in `ffi/`, and its invariants
//! in `ffi/mod.rs`.

#![deny(unsafe_code)]
// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent_state;
mod apply;
mod array_buffer;
mod atomic_access;
mod atomics;
mod buffer_slice;
mod convert;
mod data_view;
mod doorbell;
#[allow(unsafe_code)]
mod ffi;
#[cfg(feature = "rquickjs")]
mod guest;
#[cfg(feature = "rquickjs")]
mod guest_driver;
#[cfg(feature = "rquickjs")]
mod install_error;
mod jobs;
mod runtime;
mod shared_array_buffer;
mod string_length;
mod typed_array;
#[cfg(feature = "observe")]
mod word_observer;

pub use agent_state::WaitObserver;
pub use convert::{FromJs, IntoJs, JsValue};
pub use doorbell::Doorbell;
pub use ffi::{
    Attributes, BorrowedValue, Bytecode, Call, Exception, JsError, Key, Keys, Module, ModuleLoader, NativeFn,
    PromiseState, PropertyKey, Realm, Rejection, Resolver, Runtime, RuntimeOptions, Script, TypedArrayKind,
    TypedArrayView, Value, parses_as_module, place_in_frame,
};
#[cfg(feature = "rquickjs")]
pub use guest::{InstallOptions, InstalledAgent, install, install_async};
#[cfg(feature = "rquickjs")]
pub use install_error::InstallError;
pub use runtime::{JsAgent, JsAgentOptions};
pub use waitword_agents::{Agent, AgentHandle, MemoryBudget, PendingWait, SharedBlock};
#[cfg(feature = "observe")]
pub use word_observer::WordObserver;
