//! waitword's `Atomics.wait`, `notify` and `waitAsync` inside QuickJS-NG.
#![deny(unsafe_code)]

mod agent_state;
mod atomics;
mod convert;
mod doorbell;
#[allow(unsafe_code)]
mod ffi;
pub mod host;
mod runtime;
mod shared_array_buffer;

pub use agent_state::WaitObserver;
pub use convert::{IntoJs, JsValue};
pub use doorbell::Doorbell;
pub use ffi::{
    Attributes, Call, Exception, JsError, Message, Module, ModuleLoader, NativeFn, PromiseState, PropertyKey,
    Realm, Rejection, Resolver, Runtime, RuntimeOptions, TypedArrayKind, TypedArrayView, Value,
};
pub use runtime::{JsAgent, JsAgentOptions};
pub use waitword_agents::{Agent, AgentHandle, PendingWait, SharedBlock};
