//! What an engine and the handles to its contents are made of. These types hold each other (an engine keeps values for its owner, a value
//! keeps its engine alive), so they stand in one file, without their functions; those are in the files of their names.

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
    /// Where the memory comes from (9); `None` if it is not limited.
    pub(super) heap: Option<Box<Heap>>,
    /// What its buffers lie on, if the runtime is somebody else's (10); `None` in one of our own.
    pub(super) blocks: Option<Rc<Blocks>>,
    /// One count of each context ever made (4).
    pub(super) contexts: RefCell<Vec<NonNull<qjs::JSContext>>>,
    /// What each native function's `magic` number stands for.
    pub(super) natives: RefCell<Vec<Native>>,
    pub(super) loader: RefCell<Option<Rc<dyn ModuleLoader>>>,
    /// The class id of SharedArrayBuffer objects, 0 while unknown.
    pub(super) shared_class: Cell<qjs::JSClassID>,
    /// The class id of ordinary objects, 0 while unknown.
    pub(super) ordinary_class: Cell<qjs::JSClassID>,
    /// The class id of Errors, known from the first realm on.
    pub(super) error_class: Cell<qjs::JSClassID>,
    /// What is known of buffers that other agents may grow.
    pub(super) growables: Growables,
    /// A SharedArrayBuffer got no memory.
    pub(super) refused_block: Cell<bool>,
    pub(super) state: RefCell<Vec<(TypeId, Rc<dyn Any>)>>,
    pub(super) interrupt: RefCell<Option<Box<dyn Fn() -> bool>>>,
    pub(super) rejections: RefCell<Vec<Rejection>>,
}

/// A JavaScript value, kept alive for as long as this handle exists.
///
/// Cloning adds a reference, it does not copy objects. A handle keeps its whole engine alive, so one that is stored
/// inside the engine's own state ([`Runtime::set_state`](super::Runtime::set_state)) is let go when the
/// [`Runtime`](super::Runtime) is dropped, and one that is stored elsewhere stays until it is dropped there.
///
/// A value can only be used in realms of its own runtime. The methods of [`Realm`](super::Realm) panic when they are
/// given one of another.
pub struct Value {
    pub(super) engine: Rc<Engine>,
    pub(super) raw: qjs::JSValue,
}

/// A global object with its own set of built-ins. Errors that a function makes belong to its realm.
///
/// Like a [`Value`], a realm keeps its engine alive.
#[derive(Clone)]
pub struct Realm {
    pub(super) engine: Rc<Engine>,
    pub(super) context: NonNull<qjs::JSContext>,
}

/// A thrown value, on its way from a script to Rust or back.
///
/// A native function that returns `Err(exception)` throws it. [`Realm::describe`] turns it into a [`JsError`](super::JsError).
#[derive(Clone, Debug)]
pub struct Exception(pub(super) Value);

/// A promise that was rejected while nobody was listening.
#[derive(Debug)]
pub struct Rejection {
    /// The promise.
    pub promise: Value,
    /// What it was rejected with, as if it had been thrown.
    pub reason: Exception,
}

/// The Rust side of a native function. It gets the realm that the *function* belongs to.
///
/// State is found through [`Realm::state`]. A panic ends the script with an error that it cannot catch.
pub type NativeFn = fn(&Realm, &Call<'_>) -> Result<Value, Exception>;

/// What a native function was called with.
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

/// A module as a loader delivers it.
#[derive(Debug)]
pub enum Module {
    /// Source text, and what `import.meta` says in it.
    Source {
        /// The text.
        text: String,
        /// `import.meta.url`
        url: String,
        /// `import.meta.filename`: the absolute path of the file that it came from. `import.meta.dirname` is the folder of that.
        file: Option<String>,
    },
    /// The enumerable properties of this object are the exports, and so is `default`: the object itself, unless it has a
    /// property of that name.
    Exports(Value),
}

/// Finds modules.
pub trait ModuleLoader {
    /// The name under which the module is known that `importer` calls `specifier`. One name, one module.
    ///
    /// # Errors
    /// What the import throws.
    fn resolve(&self, realm: &Realm, importer: &str, specifier: &str) -> Result<String, Exception>;

    /// The module with a name that [`ModuleLoader::resolve`] gave.
    ///
    /// # Errors
    /// What the import throws.
    fn load(&self, realm: &Realm, name: &str) -> Result<Module, Exception>;
}

/// The growable buffers of an engine, and what it takes to bring them up to date.
#[derive(Default)]
pub(super) struct Growables {
    pub(super) watch: GrowthWatch,
    pub(super) intrinsics: RefCell<Option<Rc<Intrinsics>>>,
    /// A WeakRef for each growable SharedArrayBuffer that was made.
    pub(super) known: RefCell<Vec<Value>>,
    /// So many are known when it is next worth the time to look for those that were collected.
    pub(super) next_purge: Cell<usize>,
    /// Whether the buffers are being brought up to date: what is called for that asks for interrupts, which do the same.
    pub(super) is_busy: Cell<bool>,
}

/// Functions of the engine's first realm, taken before scripts could change it. They do for the objects of all realms.
pub(super) struct Intrinsics {
    /// The engine's `SharedArrayBuffer.prototype.grow`.
    pub(super) grow: Value,
    /// `WeakRef`
    pub(super) weak_ref: Value,
    /// `WeakRef.prototype.deref`
    pub(super) deref: Value,
}
