#![doc = include_str!("../README.md")]
//!
//! # Embedding
//! A [`JsAgent`] runs scripts on the thread that created it. In every realm, `Atomics.wait`, `waitAsync` and `notify` are replaced by functions
//! on [`waitword_agents`]. SharedArrayBuffers are [`SharedBlock`]s, which Rust threads and tasks can wait on and notify, too.
//!
//! - [`JsAgent::set_function`] makes a Rust function callable from scripts.
//! - [`JsAgent::realm`] gives access to objects, modules and promises.
//! - [`JsAgent::handle`] terminates the agent from another thread.
//! - With the feature `rquickjs`, `install` and `install_async` install an agent in a program's own `rquickjs` runtime.
//!
//! The crate `waitword-host` is an example of embedding. It runs whole programs (with modules, timers, and the workers of
//! `node:worker_threads`) on this crate's public interface alone.
//!
//! # Source files
//! - `runtime.rs`, `jobs.rs`: the agent and its jobs; `agent_state.rs`: the promises of pending waits
//! - `atomics.rs`: `wait`, `waitAsync` and `notify`, step by step
//! - `atomic_access.rs`: the checks that the engine's other functions on words lack
//! - `shared_array_buffer.rs`: memory that grows; `ffi/growth.rs`: how views see it
//! - `array_buffer.rs`, `buffer_slice.rs`, `data_view.rs`, `typed_array.rs`: corrections of buffers and views
//! - `apply.rs`: lists of arguments; `string_length.rs`: strings that are too long
//! - `convert.rs`: conversions between values of Rust and of scripts
//! - `word_observer.rs`: the operations of scripts on words, with the feature `observe`
//! - `guest.rs`, `guest_driver.rs`: an agent in a runtime of rquickjs, with the feature `rquickjs`
//! - `ffi/`: all unsafe code; its invariants are in `ffi/mod.rs`

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
