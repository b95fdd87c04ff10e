//! Enters a runtime of rquickjs, and converts its values into ours (10).
//!
//! The settings of the runtime's owner stay: its opaque pointer, its handlers of interrupts and rejections, its module loader, its limits,
//! and its functions for shared memory (`blocks.rs`).

use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::{Ctx, JsLifetime};
use rquickjs_sys as qjs;
use waitword_agents::MemoryBudget;

use super::blocks::Blocks;
use super::handles::{Engine, Exception, Realm, Value};
use super::runtime::Runtime;

/// Our entry in the runtime's userdata.
struct Stored(Runtime);

// SAFETY: the type contains no lifetime.
unsafe impl<'js> JsLifetime<'js> for Stored {
    type Changed<'to> = Stored;
}

/// Whether the context's runtime has an engine of ours.
pub(crate) fn is_entered(ctx: &Ctx<'_>) -> bool {
    ctx.userdata::<Stored>().is_some()
}

/// Creates an engine for the context's runtime, which has none. The budget is for blocks that scripts create. Returns `false` if the
/// runtime's userdata is borrowed further up the stack.
pub(crate) fn enter(ctx: &Ctx<'_>, budget: Option<Arc<MemoryBudget>>) -> bool {
    // SAFETY: a live context.
    let raw = NonNull::new(unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) });
    let raw = raw.expect("a context has a runtime");
    let engine = Engine::of(raw, None, Some(Blocks::new(budget)));
    ctx.store_userdata(Stored(Runtime { engine })).is_ok()
}

/// Undoes [`enter`], for a runtime whose scripts have none of our functions, which need the engine.
pub(crate) fn leave(ctx: &Ctx<'_>) {
    let stored = ctx.remove_userdata::<Stored>();
    drop(stored);
}

/// Makes a realm of a context that is not one yet, in a runtime that has an engine. Returns `None` if the context's opaque pointer is in use.
pub(crate) fn adopt(ctx: &Ctx<'_>) -> Option<Realm> {
    let (engine, context) = (engine(ctx)?, ctx.as_raw());
    // SAFETY: a live context of the engine's runtime, with a new count of it.
    unsafe {
        if !qjs::JS_GetContextOpaque(context.as_ptr()).is_null() {
            return None;
        }
        qjs::JS_DupContext(context.as_ptr());
        Some(engine.own_context(context))
    }
}

/// The realm of a context that was [adopted](adopt).
pub(crate) fn realm(ctx: &Ctx<'_>) -> Option<Realm> {
    let (engine, context) = (engine(ctx)?, ctx.as_raw());
    let is_adopted = engine.contexts.borrow().contains(&context);
    is_adopted.then(|| Realm::of(&engine, context))
}

fn engine(ctx: &Ctx<'_>) -> Option<Rc<Engine>> {
    let stored = ctx.userdata::<Stored>()?;
    Some(Rc::clone(&stored.0.engine))
}

/// The value stored by [`set_state`].
pub(crate) fn state<T: 'static>(ctx: &Ctx<'_>) -> Option<Rc<T>> {
    engine(ctx)?.state()
}

/// Stores a value of type `T`, which native functions read with [`Realm::state`], in a runtime that has an engine.
pub(crate) fn set_state<T: 'static>(ctx: &Ctx<'_>, state: Rc<T>) {
    if let Some(stored) = ctx.userdata::<Stored>() {
        stored.0.set_state(state);
    }
}

impl Realm {
    /// Takes the objects that the engine needs from a realm that was just adopted.
    ///
    /// # Errors
    /// If the memory limit is reached, or a script has changed one of these objects.
    pub(crate) fn prepare(&self) -> Result<(), Exception> {
        self.engine().prepare(self)
    }

    /// Converts a value into one of rquickjs.
    ///
    /// # Panics
    /// If the context belongs to another runtime.
    pub(crate) fn give<'js>(&self, ctx: &Ctx<'js>, value: Value) -> rquickjs::Value<'js> {
        self.check(&value);
        self.check_context(ctx);
        // SAFETY: (3), (5): the count moves to rquickjs, in whose runtime the value lives.
        unsafe { rquickjs::Value::from_raw(ctx.clone(), value.into_raw()) }
    }

    /// Converts a value of rquickjs.
    ///
    /// # Panics
    /// If it belongs to another runtime.
    pub(crate) fn take(&self, value: &rquickjs::Value<'_>) -> Value {
        self.check_context(value.ctx());
        // SAFETY: (3), (5): a live value of this runtime.
        unsafe { Value::from_borrowed(self.engine(), value.as_raw()) }
    }

    /// Throws an exception in rquickjs.
    pub(crate) fn raise(&self, exception: Exception) -> rquickjs::Error {
        self.throw(exception);
        rquickjs::Error::Exception
    }

    /// Spawns a future on the runtime's own scheduler.
    ///
    /// # Panics
    /// If the runtime is not an `AsyncRuntime`.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        // SAFETY: (10): code that has a realm of a guest holds the runtime's lock. The `Ctx` does not leave this function.
        let ctx = unsafe { Ctx::from_raw(self.context) };
        ctx.spawn(future);
    }

    /// Runs microtasks until none is left, including those that they enqueue. What one throws is ignored, as by rquickjs's own drivers.
    pub(crate) fn run_microtasks(&self) {
        while !matches!(self.engine().run_microtask(), Ok(false)) {}
    }

    fn check_context(&self, ctx: &Ctx<'_>) {
        // SAFETY: a live context.
        let raw = unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) };
        assert_eq!(raw, self.engine().raw(), "a JavaScript value was used in a runtime that is not its own");
    }
}
