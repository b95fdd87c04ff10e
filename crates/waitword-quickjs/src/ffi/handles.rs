//! The types of an engine and of the handles to its contents. These types contain each other (an engine stores values for its owner, a
//! value keeps its engine alive), so they are defined in one file. Their functions are in the files of their names.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::rc::Rc;

use rquickjs_sys as qjs;
use waitword_agents::GrowthWatch;

use super::blocks::Blocks;
use super::heap::Heap;

/// The runtime itself, shared by all handles to its contents.
pub(super) struct Engine {
    pub(super) raw: NonNull<qjs::JSRuntime>,
    /// The allocator's state (9); `None` if the memory is not limited.
    pub(super) heap: Option<Box<Heap>>,
    /// The blocks of its buffers, if the runtime is rquickjs's (10); `None` in a runtime of our own.
    pub(super) blocks: Option<Rc<Blocks>>,
    /// One count of each context ever created (4).
    pub(super) contexts: RefCell<Vec<NonNull<qjs::JSContext>>>,
    /// The native functions, by their `magic` numbers.
    pub(super) natives: RefCell<Vec<Native>>,
    pub(super) loader: RefCell<Option<Rc<dyn ModuleLoader>>>,
    /// The class id of SharedArrayBuffer objects, 0 while unknown.
    pub(super) shared_class: Cell<qjs::JSClassID>,
    /// The class id of ordinary objects, 0 while unknown.
    pub(super) ordinary_class: Cell<qjs::JSClassID>,
    /// The class id of Errors, known from the first realm on.
    pub(super) error_class: Cell<qjs::JSClassID>,
    /// The buffers that other agents may grow.
    pub(super) growables: Growables,
    /// Whether the allocation of a SharedArrayBuffer's memory failed.
    pub(super) refused_block: Cell<bool>,
    pub(super) state: RefCell<Vec<(TypeId, Rc<dyn Any>)>>,
    pub(super) interrupt: RefCell<Option<Box<dyn Fn() -> bool>>>,
    pub(super) rejections: RefCell<Vec<Rejection>>,
}

/// A handle to a JavaScript value, which keeps the value alive.
///
/// Cloning adds a reference; it does not copy objects. A handle keeps its whole engine alive. A handle that is stored in the engine's own
/// state ([`Runtime::set_state`](super::Runtime::set_state)) is dropped with the [`Runtime`](super::Runtime). One that is stored elsewhere
/// keeps the engine alive until its owner drops it.
///
/// A value can only be used in realms of its own runtime. The methods of [`Realm`](super::Realm) panic if they get a value of another
/// runtime.
pub struct Value {
    pub(super) engine: Rc<Engine>,
    pub(super) raw: qjs::JSValue,
}

/// A realm: a global object with its own set of built-ins. Errors created by a function belong to the function's realm.
///
/// Like a [`Value`], a realm keeps its engine alive.
#[derive(Clone)]
pub struct Realm {
    pub(super) engine: Rc<Engine>,
    pub(super) context: NonNull<qjs::JSContext>,
}

/// A thrown value that propagates from a script to Rust, or from Rust to a script.
///
/// A native function that returns `Err(exception)` throws it. [`Realm::describe`] turns it into a [`JsError`](super::JsError).
#[derive(Clone, Debug)]
pub struct Exception(pub(super) Value);

/// A promise that was rejected without a handler.
#[derive(Debug)]
pub struct Rejection {
    /// The promise.
    pub promise: Value,
    /// The reason, as an exception.
    pub reason: Exception,
}

/// The Rust side of a native function. It receives the realm of the *function*, not of the caller.
///
/// State is available through [`Realm::state`]. A panic ends the script with an error that it cannot catch.
pub type NativeFn = fn(&Realm, &Call<'_>) -> Result<Value, Exception>;

/// The `this` value and the arguments of a call of a native function.
pub struct Call<'a> {
    pub(super) realm: &'a Realm,
    pub(super) this: qjs::JSValue,
    pub(super) arguments: &'a [qjs::JSValue],
}

/// An entry of the engine's table of native functions.
#[derive(Clone)]
pub(super) enum Native {
    Function(NativeFn),
    Closure(Rc<Closure>),
}

pub(super) type Closure = dyn Fn(&Realm, &Call<'_>) -> Result<Value, Exception>;

/// A module as a [`ModuleLoader`] returns it.
#[derive(Debug)]
pub enum Module {
    /// Source text, with the properties of its `import.meta`.
    Source {
        /// The text.
        text: String,
        /// `import.meta.url`
        url: String,
        /// `import.meta.filename`: the absolute path of the source file. `import.meta.dirname` is the file's folder.
        file: Option<String>,
    },
    /// An object whose enumerable properties are the exports. The object itself is the export `default`, unless it has a property of
    /// that name.
    Exports(Value),
}

/// Resolves and loads the modules that scripts import.
pub trait ModuleLoader {
    /// Returns the name of the module that `importer` imports as `specifier`. Each name identifies one module.
    ///
    /// # Errors
    /// The exception that the import throws.
    fn resolve(&self, realm: &Realm, importer: &str, specifier: &str) -> Result<String, Exception>;

    /// Returns the module with a name from [`ModuleLoader::resolve`].
    ///
    /// # Errors
    /// The exception that the import throws.
    fn load(&self, realm: &Realm, name: &str) -> Result<Module, Exception>;
}

/// The growable buffers of an engine, and the state for updating their lengths.
#[derive(Default)]
pub(super) struct Growables {
    pub(super) watch: GrowthWatch,
    pub(super) intrinsics: RefCell<Option<Rc<Intrinsics>>>,
    /// A WeakRef for each growable SharedArrayBuffer.
    pub(super) known: RefCell<Vec<Value>>,
    /// The length of `known` at which collected buffers are removed next.
    pub(super) next_purge: Cell<usize>,
    /// Whether the buffers are being updated now. The functions called for that check for interrupts, whose handler would update them
    /// again.
    pub(super) is_busy: Cell<bool>,
}

/// Functions of the engine's first realm, taken before scripts could change it. They work on the objects of all realms.
pub(super) struct Intrinsics {
    /// The engine's `SharedArrayBuffer.prototype.grow`.
    pub(super) grow: Value,
    /// `WeakRef`
    pub(super) weak_ref: Value,
    /// `WeakRef.prototype.deref`
    pub(super) deref: Value,
}
