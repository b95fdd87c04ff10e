#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![cfg(all(target_family = "wasm", target_os = "unknown"))]

mod agent;
mod async_lock;
mod bell;
mod engine;
mod executor;
#[allow(unsafe_code)]
mod ready;
#[cfg(target_feature = "atomics")]
mod thread;
mod timekeeper;

pub use agent::{Agent, spins, start, start_without_blocking};
pub use async_lock::{AsyncLock, LockAsync, LockAsyncUntil};
pub use bell::use_messages;
pub use executor::{promise, spawn_local};
#[cfg(target_feature = "atomics")]
pub use thread::{JoinHandle, Terminated, spawn};
#[cfg(target_feature = "atomics")]
pub use timekeeper::run_timer;
