//! A runtime of the engine, as its owner has it: its limits, its microtasks, and what the engine asks and reports while scripts run.

use std::any::TypeId;
use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs_sys as qjs;
use waitword_agents::MemoryBudget;

use super::handles::{Engine, Exception, ModuleLoader, Realm, Rejection, Value};
use super::module;

/// Limits of a runtime.
#[derive(Clone, Debug)]
pub struct RuntimeOptions {
    /// The most memory, in bytes, that scripts may hold: in the engine, and as SharedArrayBuffers that they made, until the
    /// last agent lets go of them. What the engine and its realms start with does not count. `None` for no limit.
    ///
    /// Beyond it they get an InternalError, "out of memory", or a RangeError from a SharedArrayBuffer. A script that goes on
    /// nevertheless until not even an error can be made is ended ([`Runtime::is_out_of_memory`]).
    pub memory_limit: Option<usize>,
    /// The budget that all this comes out of, in place of a new one of `memory_limit` bytes: a
    /// part of one for several runtimes, say. On that whole counts also what the engine and its realms
    /// start with, which is never refused.
    pub budget: Option<Arc<MemoryBudget>>,
    /// How many bytes of the thread's stack scripts may use before they get a RangeError. It has to be less than what the
    /// thread has left when the runtime is made.
    pub stack_size: usize,
}

impl Default for RuntimeOptions {
    /// No memory limit, and 1 MiB of stack: half of what a Rust thread has by default.
    fn default() -> Self {
        Self { memory_limit: None, budget: None, stack_size: 1 << 20 }
    }
}

impl RuntimeOptions {
    /// The budget of the runtime's scripts, if anything limits them.
    pub(super) fn budget(&self) -> Option<Arc<MemoryBudget>> {
        self.budget.clone().or_else(|| self.memory_limit.map(MemoryBudget::new))
    }
}

/// The owner of one QuickJS runtime.
///
/// Dropping it lets go of everything that Rust code stored in the runtime (state, functions, module loader). The
/// engine itself is freed once the last [`Value`] and [`Realm`] is gone as well, and asserts then that nothing leaked.
pub struct Runtime {
    pub(super) engine: Rc<Engine>,
}

impl Runtime {
    /// Makes a runtime on this thread. It has no realm yet.
    ///
    /// # Panics
    /// Panics if the engine cannot get the few kilobytes that it starts with.
    pub(crate) fn new(options: &RuntimeOptions) -> Self {
        Self { engine: Engine::new(options) }
    }

    /// Makes a realm: a global object with its own built-ins. `None` when the system has no memory.
    ///
    /// It has the engine's own `Atomics` and `SharedArrayBuffer` until [`crate::runtime`] replaces them.
    pub(crate) fn realm(&self) -> Option<Realm> {
        self.engine.new_realm()
    }

    /// Stores one value of type `T` where native functions find it ([`Realm::state`]). Replaces an earlier one.
    pub fn set_state<T: 'static>(&self, state: Rc<T>) {
        let mut all = self.engine.state.borrow_mut();
        let replaced = all.iter().position(|(id, _)| *id == TypeId::of::<T>()).map(|i| all.swap_remove(i));
        all.push((TypeId::of::<T>(), state));
        drop(all);
        // Dropped with the list free: it may hold values, and whatever their end runs.
        drop(replaced);
    }

    /// Says where ES modules come from.
    pub fn set_module_loader(&self, loader: impl ModuleLoader + 'static) {
        module::install(&self.engine, Rc::new(loader));
    }

    /// Asks `stop` now and then while a script runs; `true` ends the script with an error that it cannot catch.
    pub(crate) fn set_interrupt(&self, stop: impl Fn() -> bool + Send + 'static) {
        *self.engine.interrupt.borrow_mut() = Some(Box::new(stop));
        let opaque = Rc::as_ptr(&self.engine).cast_mut().cast();
        // SAFETY: (1); the opaque pointer lives as long as the runtime (6).
        unsafe { qjs::JS_SetInterruptHandler(self.engine.raw(), Some(interrupted), opaque) };
    }

    /// Whether a script has used up the memory that was reserved for the error that says so. It is ended at its
    /// next loop or call, with an error that it cannot catch, and so are all that run after it.
    pub fn is_out_of_memory(&self) -> bool {
        self.engine.is_exhausted()
    }

    /// Starts to record promises that are rejected while they have no handler. Off in a new runtime.
    pub fn track_rejections(&self) {
        // SAFETY: (1); the callback finds its engine through the runtime (6).
        unsafe {
            qjs::JS_SetHostPromiseRejectionTracker(self.engine.raw(), Some(rejection), std::ptr::null_mut());
        }
    }

    /// Takes the recorded rejections that are still unhandled, oldest first.
    pub fn take_rejections(&self) -> Vec<Rejection> {
        self.engine.rejections.take()
    }

    /// Whether a microtask is waiting.
    pub fn has_microtask(&self) -> bool {
        // SAFETY: (1).
        unsafe { qjs::JS_IsJobPending(self.engine.raw()) }
    }

    /// Runs the first microtask. `false` when there was none.
    ///
    /// # Errors
    /// What the microtask threw, which only a host's own job or a terminated script can do.
    pub fn run_microtask(&self) -> Result<bool, Exception> {
        self.engine.run_microtask()
    }

    /// Runs microtasks, also those that they add, until none is left.
    ///
    /// # Errors
    /// As [`Runtime::run_microtask`]; the microtasks behind the one that threw are still queued.
    pub fn run_microtasks(&self) -> Result<(), Exception> {
        while self.run_microtask()? {}
        Ok(())
    }

    /// Collects garbage cycles now.
    pub fn gc(&self) {
        // SAFETY: (1).
        unsafe { qjs::JS_RunGC(self.engine.raw()) };
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("raw", &self.engine.raw).finish_non_exhaustive()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.engine.let_go();
    }
}

impl Engine {
    pub(super) fn run_microtask(self: &Rc<Self>) -> Result<bool, Exception> {
        let mut context = std::ptr::null_mut();
        // SAFETY: (1); contexts of queued jobs are alive (4).
        match unsafe { qjs::JS_ExecutePendingJob(self.raw(), &mut context) } {
            0 => Ok(false),
            1.. => Ok(true),
            _ => {
                let context = NonNull::new(context).expect("a job that threw has a context");
                Err(Realm::of(self, context).take_exception())
            }
        }
    }
}

/// The engine's question "shall this script go on?".
unsafe extern "C" fn interrupted(_: *mut qjs::JSRuntime, opaque: *mut std::ffi::c_void) -> std::ffi::c_int {
    // SAFETY: (6): `opaque` is the engine that runs this script; its caller's count is left alone.
    let engine = &*unsafe { ManuallyDrop::new(Rc::from_raw(opaque.cast::<Engine>().cast_const())) };
    // (7). A `stop` that panics cannot stop the script later, so the script stops now.
    let asked = || {
        let stop = engine.interrupt.borrow().as_ref().is_some_and(|stop| stop());
        if !stop && engine.growables.is_behind() {
            engine.catch_up_in_any_realm();
        }
        stop
    };
    (engine.is_exhausted() || catch_unwind(AssertUnwindSafe(asked)).unwrap_or(true)).into()
}

/// The engine's report that a promise was rejected without a handler, or got one afterwards.
unsafe extern "C" fn rejection(
    context: *mut qjs::JSContext,
    promise: qjs::JSValue,
    reason: qjs::JSValue,
    is_handled: bool,
    _: *mut std::ffi::c_void,
) {
    // (7). Nothing in here panics but for lack of memory; then the report is lost, not the process.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: called by a running engine, with values that it holds.
        let (engine, promise, reason) = unsafe {
            let engine = Engine::borrow_context(context);
            let promise = Value::from_borrowed(&engine, promise);
            let reason = Value::from_borrowed(&engine, reason);
            (engine, promise, reason)
        };
        let mut all = engine.rejections.borrow_mut();
        if is_handled {
            let same = all.iter().position(|r| r.promise.is_same_object(&promise));
            let handled = same.map(|i| all.remove(i));
            drop(all);
            drop(handled);
        } else {
            all.push(Rejection { promise, reason: Exception::new(reason) });
        }
    }));
}
