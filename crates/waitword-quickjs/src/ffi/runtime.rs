//! A runtime of the engine for its owner: limits, microtasks, and the engine's callbacks while scripts run.

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

/// The limits of a runtime.
#[derive(Clone, Debug)]
pub struct RuntimeOptions {
    /// The memory, in bytes, that scripts may hold: values in the engine, and SharedArrayBuffers that they created, until the last agent
    /// drops them. What the engine and its realms start with does not count. `None` means no limit.
    ///
    /// Beyond the limit a script gets an InternalError "out of memory", and SharedArrayBuffer throws a RangeError. A script that continues
    /// until not even an error can be created is ended ([`Runtime::is_out_of_memory`]).
    pub memory_limit: Option<usize>,
    /// The budget to which this memory is charged, instead of a new one of `memory_limit` bytes. It can be a part of a budget for several
    /// runtimes. What the engine and its realms start with is charged only to that common budget, even beyond its limit.
    pub budget: Option<Arc<MemoryBudget>>,
    /// The bytes of the thread's stack that scripts may use before they get a RangeError. Must be less than what is left of the stack when
    /// the runtime is created.
    pub stack_size: usize,
}

impl Default for RuntimeOptions {
    /// No memory limit, and 1 MiB of stack: half the default stack of a Rust thread.
    fn default() -> Self {
        Self { memory_limit: None, budget: None, stack_size: 1 << 20 }
    }
}

impl RuntimeOptions {
    /// The budget of the runtime's scripts, if their memory is limited.
    pub(super) fn budget(&self) -> Option<Arc<MemoryBudget>> {
        self.budget.clone().or_else(|| self.memory_limit.map(MemoryBudget::new))
    }
}

/// The owner of a QuickJS runtime.
///
/// Dropping it drops everything that Rust code stored in the runtime (state, functions, module loader). The engine itself is freed when
/// the last [`Value`] and [`Realm`] is dropped as well. It asserts then that nothing leaked.
pub struct Runtime {
    pub(super) engine: Rc<Engine>,
}

impl Runtime {
    /// Creates a runtime on this thread, without a realm.
    ///
    /// # Panics
    /// If the engine cannot allocate the few kilobytes that it starts with.
    pub(crate) fn new(options: &RuntimeOptions) -> Self {
        Self { engine: Engine::new(options) }
    }

    /// Creates a realm: a global object with its own built-ins. Returns `None` if the system has no memory.
    ///
    /// The realm has the engine's own `Atomics` and `SharedArrayBuffer` until [`crate::runtime`] replaces them.
    pub(crate) fn realm(&self) -> Option<Realm> {
        self.engine.new_realm()
    }

    /// Stores a value of type `T`, which native functions read with [`Realm::state`]. Replaces an earlier value of this type.
    pub fn set_state<T: 'static>(&self, state: Rc<T>) {
        let mut all = self.engine.state.borrow_mut();
        let replaced = all.iter().position(|(id, _)| *id == TypeId::of::<T>()).map(|i| all.swap_remove(i));
        all.push((TypeId::of::<T>(), state));
        drop(all);
        // Dropped after the borrow of the list has ended, because dropping values may run code.
        drop(replaced);
    }

    /// Sets the loader of ES modules.
    pub fn set_module_loader(&self, loader: impl ModuleLoader + 'static) {
        module::install(&self.engine, Rc::new(loader));
    }

    /// Sets a function that is called now and then while a script runs. If it returns `true`, the script ends with an error that it cannot
    /// catch.
    pub(crate) fn set_interrupt(&self, stop: impl Fn() -> bool + Send + 'static) {
        *self.engine.interrupt.borrow_mut() = Some(Box::new(stop));
        let opaque = Rc::as_ptr(&self.engine).cast_mut().cast();
        // SAFETY: (1); the opaque pointer lives as long as the runtime (6).
        unsafe { qjs::JS_SetInterruptHandler(self.engine.raw(), Some(interrupted), opaque) };
    }

    /// Returns whether a script has used up even the memory reserved for the out-of-memory error. The script, and every later one, is
    /// ended at its next loop or call with an error that it cannot catch.
    pub fn is_out_of_memory(&self) -> bool {
        self.engine.is_exhausted()
    }

    /// Starts recording promises that are rejected without a handler. Off by default.
    pub fn track_rejections(&self) {
        // SAFETY: (1); the callback finds its engine through the runtime (6).
        unsafe {
            qjs::JS_SetHostPromiseRejectionTracker(self.engine.raw(), Some(rejection), std::ptr::null_mut());
        }
    }

    /// Removes and returns the recorded rejections that are still unhandled, the oldest first.
    pub fn take_rejections(&self) -> Vec<Rejection> {
        self.engine.rejections.take()
    }

    /// Returns whether a microtask is enqueued.
    pub fn has_microtask(&self) -> bool {
        // SAFETY: (1).
        unsafe { qjs::JS_IsJobPending(self.engine.raw()) }
    }

    /// Runs the first microtask. Returns `false` if there was none.
    ///
    /// # Errors
    /// What the microtask threw. Only a host's own job or a terminated script can throw.
    pub fn run_microtask(&self) -> Result<bool, Exception> {
        self.engine.run_microtask()
    }

    /// Runs microtasks until none is left, including those that they enqueue.
    ///
    /// # Errors
    /// As [`Runtime::run_microtask`]. The microtasks after the one that threw stay enqueued.
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

/// The engine's interrupt handler: returns whether the script is to end.
unsafe extern "C" fn interrupted(_: *mut qjs::JSRuntime, opaque: *mut std::ffi::c_void) -> std::ffi::c_int {
    // SAFETY: (6): `opaque` is the engine that runs this script; its caller's count is left alone.
    let engine = &*unsafe { ManuallyDrop::new(Rc::from_raw(opaque.cast::<Engine>().cast_const())) };
    // (7). If `stop` panics, the script ends now, because `stop` may never return `true` later.
    let asked = || {
        let stop = engine.interrupt.borrow().as_ref().is_some_and(|stop| stop());
        if !stop && engine.growables.is_behind() {
            engine.catch_up_in_any_realm();
        }
        stop
    };
    (engine.is_exhausted() || catch_unwind(AssertUnwindSafe(asked)).unwrap_or(true)).into()
}

/// The engine's rejection tracker: a promise was rejected without a handler, or got a handler later.
unsafe extern "C" fn rejection(
    context: *mut qjs::JSContext,
    promise: qjs::JSValue,
    reason: qjs::JSValue,
    is_handled: bool,
    _: *mut std::ffi::c_void,
) {
    // (7). Only a failed allocation can panic here. The rejection is then not reported.
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
