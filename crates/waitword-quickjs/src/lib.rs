//! waitword's `Atomics.wait`, `notify` and `waitAsync` inside QuickJS-NG.
#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod ffi;

pub use ffi::{
    Attributes, Call, Exception, JsError, Message, Module, ModuleLoader, NativeFn, PromiseState, PropertyKey,
    Realm, Rejection, Resolver, Runtime, RuntimeOptions, TypedArrayKind, TypedArrayView, Value,
};
