//! The way into a runtime of rquickjs, and its values as ours (10).
//!
//! What the runtime's owner has set stays: its opaque pointer, its handlers of interrupts and rejections, its loader of
//! modules, its limits, and its functions for shared memory (`blocks.rs`).

use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::{Ctx, JsLifetime};
use rquickjs_sys as qjs;
use waitword_agents::MemoryBudget;

use super::blocks::Blocks;
use super::handles::{Engine, Exception, Realm, Value};
use super::runtime::Runtime;

/// What the runtime's userdata holds.
struct Stored(Runtime);

// SAFETY: there is no lifetime in it.
unsafe impl<'js> JsLifetime<'js> for Stored {
    type Changed<'to> = Stored;
}

/// Whether the context's runtime has an engine of ours.
pub(crate) fn is_entered(ctx: &Ctx<'_>) -> bool {
    ctx.userdata::<Stored>().is_some()
}

/// Makes an engine for the context's runtime, which has none; the budget is for blocks that scripts make. `false` when somebody is using
/// the runtime's userdata.
pub(crate) fn enter(ctx: &Ctx<'_>, budget: Option<Arc<MemoryBudget>>) -> bool {
    // SAFETY: a live context.
    let raw = NonNull::new(unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) });
    let raw = raw.expect("a context has a runtime");
    let engine = Engine::of(raw, None, Some(Blocks::new(budget)));
    ctx.store_userdata(Stored(Runtime { engine })).is_ok()
}

/// Undoes [`enter`]: for a runtime whose scripts have got none of our functions, for these need the engine.
pub(crate) fn leave(ctx: &Ctx<'_>) {
    let stored = ctx.remove_userdata::<Stored>();
    drop(stored);
}

/// Makes a realm of a context that is none, in a runtime that has an engine. `None` when somebody else uses the context's
/// opaque pointer.
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

/// What [`set_state`] has stored.
pub(crate) fn state<T: 'static>(ctx: &Ctx<'_>) -> Option<Rc<T>> {
    engine(ctx)?.state()
}

/// Stores one value of type `T` where native functions find it ([`Realm::state`]), in a runtime that has an engine.
pub(crate) fn set_state<T: 'static>(ctx: &Ctx<'_>, state: Rc<T>) {
    if let Some(stored) = ctx.userdata::<Stored>() {
        stored.0.set_state(state);
    }
}

impl Realm {
    /// Takes what the engine needs from a realm that was just adopted.
    ///
    /// # Errors
    /// When the memory limit is reached, or a script has changed what is taken.
    pub(crate) fn prepare(&self) -> Result<(), Exception> {
        self.engine().prepare(self)
    }

    /// Gives a value to rquickjs.
    ///
    /// # Panics
    /// If the context belongs to another runtime.
    pub(crate) fn give<'js>(&self, ctx: &Ctx<'js>, value: Value) -> rquickjs::Value<'js> {
        self.check(&value);
        self.check_context(ctx);
        // SAFETY: (3), (5): the count moves to rquickjs, in whose runtime the value lives.
        unsafe { rquickjs::Value::from_raw(ctx.clone(), value.into_raw()) }
    }

    /// A value that rquickjs holds.
    ///
    /// # Panics
    /// If it belongs to another runtime.
    pub(crate) fn take(&self, value: &rquickjs::Value<'_>) -> Value {
        self.check_context(value.ctx());
        // SAFETY: (3), (5): a live value of this runtime.
        unsafe { Value::from_borrowed(self.engine(), value.as_raw()) }
    }

    /// Throws an exception where rquickjs looks for it.
    pub(crate) fn raise(&self, exception: Exception) -> rquickjs::Error {
        self.throw(exception);
        rquickjs::Error::Exception
    }

    /// Gives a future to the runtime's own scheduler.
    ///
    /// # Panics
    /// If the runtime is no `AsyncRuntime`.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        // SAFETY: (10): who has a realm of a guest has the runtime's lock; the `Ctx` does not leave this function.
        let ctx = unsafe { Ctx::from_raw(self.context) };
        ctx.spawn(future);
    }

    /// Runs microtasks, also those that they add, until none is left. What one throws is dropped, as rquickjs's own drivers drop it.
    pub(crate) fn run_microtasks(&self) {
        while !matches!(self.engine().run_microtask(), Ok(false)) {}
    }

    fn check_context(&self, ctx: &Ctx<'_>) {
        // SAFETY: a live context.
        let raw = unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) };
        assert_eq!(raw, self.engine().raw(), "a JavaScript value was used in a runtime that is not its own");
    }
}
