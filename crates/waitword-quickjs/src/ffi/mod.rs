//! All the unsafe code of this crate: a safe layer over the C interface of QuickJS-NG.
//!
//! `handles.rs` has the types, `engine.rs` and `runtime.rs` a runtime of the engine, which everything else keeps alive. There is a file
//! for each kind of object in it: realms, values, objects, functions, modules, promises, shared memory.
//!
//! # Invariants
//! The safety comments cite these by number.
//!
//! 1. **Alive.** `Engine::raw` is a live `JSRuntime`. It is freed only in `Engine::drop`, and every [`Value`] and
//!    [`Realm`] holds an `Rc<Engine>`, so nothing of the runtime is used after that.
//! 2. **One thread.** An `Rc` is not `Send`: an engine and all that belongs to it stay on the thread that created them.
//! 3. **Counted.** A [`Value`] owns exactly one reference count of its `JSValue`. A function of the engine that takes
//!    ownership gets a count of its own (`Value::into_raw`); one that borrows gets `Value::raw`.
//! 4. **Contexts last.** The engine's job queue refers to contexts without counting them. So a context, once created, lives
//!    until `Engine::drop`. A [`Realm`] is an engine and one of its contexts.
//! 5. **No mixing.** A value that is passed to a realm belongs to the realm's engine; `Realm::check` checks it. A
//!    [`Key`] belongs to its engine, too: `Realm::check_key`.
//! 6. **The way back.** A context's opaque pointer is the address of its `Engine`, taken from the `Rc`. While the
//!    engine calls us outside `Engine::drop`, a caller further up the stack holds that `Rc`. The pointer is null after the `Engine`
//!    is dropped, which only a guest's context can outlive (10).
//! 7. **No unwinding.** Every `extern "C"` function catches panics before they reach C.
//! 8. **Blocks.** Each SharedArrayBuffer's data pointer is the data pointer of a `SharedBlock`, and the engine holds
//!    one count of the block for each such buffer object. In a guest's runtime (10) this holds for the buffers in its `Blocks`.
//! 9. **The heap.** An engine with a memory limit allocates through the functions of `malloc.rs`, with the address of the
//!    `Heap` that its `Engine` owns, which lives until after `JS_FreeRuntime`. Everything that it frees through these functions
//!    came from them. A runtime that is leaked, because it leaked objects when it was refused memory, keeps its heap.
//! 10. **Guests.** The runtime of an engine that has `Blocks` is rquickjs's. The runtime's userdata holds the only [`Runtime`], and drops
//!     it after all futures and before `JS_FreeRuntime`. Other userdata, dropped after it, may still call functions. Values and realms of
//!     such an engine are only in its own state, in those futures and on the stack. So the engine is dropped with the `Runtime`, and (1),
//!     (4) and (6) hold until then. It counts the contexts that it was given. What rquickjs does on several threads (its feature
//!     `parallel`), it does under the runtime's lock: for (2) that is one thread.

mod blocks;
mod engine;
mod exception;
mod function;
mod graph;
mod growth;
#[cfg(feature = "rquickjs")]
pub(crate) mod guest;
mod handles;
mod heap;
mod keys;
mod malloc;
mod module;
mod object;
mod promise;
mod property;
mod realm;
mod runtime;
mod script;
mod shared;
mod value;

pub use exception::{JsError, place_in_frame};
pub use handles::{Call, Exception, Module, ModuleLoader, NativeFn, Realm, Rejection, Value};
pub use keys::Keys;
pub(crate) use malloc::trim;
pub use promise::{PromiseState, Resolver};
pub use property::{Attributes, Key, PropertyKey};
pub use runtime::{Runtime, RuntimeOptions};
pub use script::{Bytecode, Script, parses_as_module};
pub(crate) use shared::BorrowedBlock;
pub use shared::{TypedArrayKind, TypedArrayView};
pub use value::BorrowedValue;
