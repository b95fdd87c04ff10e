//! One runtime of the engine: its life, its limits, its jobs, and the Rust state that belongs to it.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs_sys as qjs;
use waitword_agents::MemoryBudget;

use super::exception::Exception;
use super::function::Native;
use super::growth::Growables;
use super::heap::{self, Heap};
use super::module::{self, ModuleLoader};
use super::realm::Realm;
use super::shared;
use super::value::Value;

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
    /// [part](MemoryBudget::part_of) of one for several runtimes, say. On that whole counts also what the engine and its realms
    /// start with, which is never refused.
    pub budget: Option<Arc<MemoryBudget>>,
    /// How many bytes of the thread's stack scripts may use before they get a RangeError. It has to be less than what the
    /// thread has left when the runtime is made.
    pub stack_size: usize,
}

impl Default for RuntimeOptions {
    /// No memory limit, and 1 MiB of stack: half of what a Rust thread has unless told otherwise.
    fn default() -> Self {
        Self { memory_limit: None, budget: None, stack_size: 1 << 20 }
    }
}

impl RuntimeOptions {
    /// The budget of the runtime's scripts, if anything limits them.
    fn budget(&self) -> Option<Arc<MemoryBudget>> {
        self.budget.clone().or_else(|| self.memory_limit.map(MemoryBudget::new))
    }
}

/// A promise that was rejected while nobody was listening.
#[derive(Debug)]
pub struct Rejection {
    /// The promise.
    pub promise: Value,
    /// What it was rejected with, as if it had been thrown.
    pub reason: Exception,
}

/// The owner of one QuickJS runtime.
///
/// Dropping it lets go of everything that Rust code stored in the runtime (state, functions, module loader). The
/// engine itself is freed once the last [`Value`] and [`Realm`] is gone as well, and asserts then that nothing leaked.
pub struct Runtime {
    engine: Rc<Engine>,
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

    /// The state of type `T` that was stored with [`Runtime::set_state`].
    #[inline(always)]
    pub fn state<T: 'static>(&self) -> Option<Rc<T>> {
        self.engine.state()
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

    /// Whether a script has used up the memory that was kept back for telling it that there is no more. It is ended at its
    /// next loop or call, with an error that it cannot catch, and so are all that run after it.
    pub fn is_out_of_memory(&self) -> bool {
        self.engine.is_exhausted()
    }

    /// What scripts may hold; `None` without a limit. A host counts on it what else it keeps for them.
    pub fn memory_budget(&self) -> Option<&Arc<MemoryBudget>> {
        self.engine.budget()
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
        let mut context = std::ptr::null_mut();
        // SAFETY: (1); contexts of queued jobs are alive (4).
        match unsafe { qjs::JS_ExecutePendingJob(self.engine.raw(), &mut context) } {
            0 => Ok(false),
            1.. => Ok(true),
            _ => {
                let context = NonNull::new(context).expect("a job that threw has a context");
                Err(Realm::of(&self.engine, context).take_exception())
            }
        }
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

/// How many bytes a runtime holds when it first looks for garbage; from then on it is half more than the last time. An agent
/// starts with about half a MiB of built-ins and of the host's functions, none of which is ever garbage.
const FIRST_COLLECTION: usize = 640 << 10;

/// The runtime itself, shared by all handles to its contents.
pub(super) struct Engine {
    raw: NonNull<qjs::JSRuntime>,
    /// Where the memory comes from (9); `None` if it is not limited.
    heap: Option<Box<Heap>>,
    /// One count of each context ever made (4).
    contexts: RefCell<Vec<NonNull<qjs::JSContext>>>,
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
    state: RefCell<Vec<(TypeId, Rc<dyn Any>)>>,
    interrupt: RefCell<Option<Box<dyn Fn() -> bool>>>,
    rejections: RefCell<Vec<Rejection>>,
}

impl Engine {
    fn new(options: &RuntimeOptions) -> Rc<Self> {
        let heap = options.budget().map(Heap::new);
        // SAFETY: the heap outlives the runtime: a box in the `Engine` that frees it (9).
        let raw = NonNull::new(unsafe {
            match &heap {
                None => qjs::JS_NewRuntime(),
                Some(heap) => {
                    let _until_done = heap.work_as(true);
                    qjs::JS_NewRuntime2(&heap::FUNCTIONS, std::ptr::from_ref(&**heap).cast_mut().cast())
                }
            }
        });
        let raw = raw.expect("no memory for a JavaScript runtime");
        let engine = Rc::new(Self {
            raw,
            heap,
            contexts: RefCell::default(),
            natives: RefCell::default(),
            loader: RefCell::default(),
            shared_class: Cell::new(qjs::JS_INVALID_CLASS_ID),
            ordinary_class: Cell::new(qjs::JS_INVALID_CLASS_ID),
            error_class: Cell::new(qjs::JS_INVALID_CLASS_ID),
            growables: Growables::default(),
            refused_block: Cell::new(false),
            state: RefCell::default(),
            interrupt: RefCell::default(),
            rejections: RefCell::default(),
        });
        let opaque = Rc::as_ptr(&engine).cast_mut().cast();
        // SAFETY: a live runtime; the pointer is valid for as long as it is, because this `Engine` frees it (6).
        unsafe {
            // 0 would mean no limit at all.
            qjs::JS_SetMaxStackSize(raw.as_ptr(), options.stack_size.max(1) as _);
            qjs::JS_SetGCThreshold(raw.as_ptr(), FIRST_COLLECTION as _);
            qjs::JS_SetSharedArrayBufferFunctions(raw.as_ptr(), &shared::hooks(opaque));
        }
        engine
    }

    /// Does some work of the host's own for which there has to be memory, whatever scripts have used: half-made realms, for
    /// one, the engine cannot take down again. What it allocates is not counted, so no script may run in it.
    pub(super) fn beyond_memory_limit<T>(&self, work: impl FnOnce() -> T) -> T {
        let _until_done = self.heap.as_ref().map(|heap| heap.work_as(true));
        work()
    }

    /// Does some work for a script in the midst of the host's own.
    pub(super) fn within_memory_limit<T>(&self, work: impl FnOnce() -> T) -> T {
        let _until_done = self.heap.as_ref().map(|heap| heap.work_as(false));
        work()
    }

    /// Has the engine parse something, in which refusals are put off ([`Heap::parse`]); whether there was one.
    pub(super) fn parse<T>(&self, work: impl FnOnce() -> T) -> (T, bool) {
        match &self.heap {
            Some(heap) => heap.parse(work),
            None => (work(), false),
        }
    }

    pub(super) fn budget(&self) -> Option<&Arc<MemoryBudget>> {
        self.heap.as_ref().map(|heap| &heap.budget)
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.heap.as_ref().is_some_and(|heap| heap.is_exhausted())
    }

    pub(super) fn new_realm(self: &Rc<Self>) -> Option<Realm> {
        self.beyond_memory_limit(|| {
            // SAFETY: (1).
            let context = NonNull::new(unsafe { qjs::JS_NewContext(self.raw()) })?;
            // SAFETY: a live context; the pointer is valid for as long as the context is, because this `Engine` frees it (6).
            unsafe { qjs::JS_SetContextOpaque(context.as_ptr(), Rc::as_ptr(self).cast_mut().cast()) };
            // The engine now owns the context, whatever happens below (4).
            self.contexts.borrow_mut().push(context);
            let realm = Realm::of(self, context);
            // SAFETY: (4). No script has seen the realm, so none runs.
            let sample = realm.own(unsafe { qjs::JS_NewError(realm.raw()) }).ok()?;
            // SAFETY: looks at a live value.
            self.error_class.set(unsafe { qjs::JS_GetClassID(sample.raw()) });
            self.growables.prepare(&realm).ok()?;
            // SAFETY: (1), (4).
            (unsafe { qjs::JS_AddIntrinsicDOMException(realm.raw()) } == 0).then_some(realm)
        })
    }

    /// The engine that a callback was called by.
    ///
    /// # Safety
    /// `context` belongs to a runtime that an `Engine` made and is not freeing.
    pub(super) unsafe fn of_context(context: *mut qjs::JSContext) -> Rc<Self> {
        // SAFETY: the caller's promise.
        Rc::clone(&*unsafe { Self::borrow_context(context) })
    }

    /// As [`of_context`](Self::of_context), for as long as the callback lasts: not to be dropped.
    ///
    /// # Safety
    /// As `of_context`.
    pub(super) unsafe fn borrow_context(context: *mut qjs::JSContext) -> ManuallyDrop<Rc<Self>> {
        // SAFETY: (6): the opaque pointer came from an `Rc` that someone up the stack holds.
        unsafe {
            let engine = qjs::JS_GetContextOpaque(context).cast::<Self>().cast_const();
            ManuallyDrop::new(Rc::from_raw(engine))
        }
    }

    /// Brings growable buffers up to date for a script that does not synchronize. What fails is left to the next time.
    fn catch_up_in_any_realm(self: &Rc<Self>) {
        let context = self.contexts.borrow().first().copied();
        if let Some(context) = context {
            let _ = Realm::of(self, context).catch_up();
        }
    }

    pub(super) fn raw(&self) -> *mut qjs::JSRuntime {
        self.raw.as_ptr()
    }

    pub(super) fn state<T: 'static>(&self) -> Option<Rc<T>> {
        let all = self.state.borrow();
        let (_, found) = all.iter().find(|(id, _)| *id == TypeId::of::<T>())?;
        // SAFETY: `set_state` stored an `Rc<T>` under this id.
        Some(unsafe { Rc::from_raw(Rc::into_raw(Rc::clone(found)).cast::<T>()) })
    }

    /// Drops what Rust code stored here: it may hold values, which hold this engine.
    fn let_go(&self) {
        drop(self.state.take());
        drop(self.natives.take());
        self.growables.let_go();
        drop(self.loader.take());
        drop(self.interrupt.take());
        drop(self.rejections.take());
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        for context in self.contexts.get_mut().drain(..) {
            // SAFETY: the count that this list owns (4).
            unsafe { qjs::JS_FreeContext(context.as_ptr()) };
        }
        if self.heap.as_ref().is_some_and(|heap| heap.has_refused()) && self.has_objects() {
            // The engine loses count of objects where it is refused memory in the midst of something, and then an assertion
            // in JS_FreeRuntime would end the process. What is left stays where it is, counted on the budget, and nobody comes
            // back to it. The same goes for jobs that never ran, which cannot be told from what was lost.
            std::mem::forget(self.heap.take());
            return;
        }
        // SAFETY: the last `Rc` is gone, so no value or realm is left (1). The engine asserts the same.
        unsafe { qjs::JS_FreeRuntime(self.raw()) };
    }
}

impl Engine {
    /// Whether there are objects that the collector cannot free.
    fn has_objects(&self) -> bool {
        let mut usage = std::mem::MaybeUninit::zeroed();
        // SAFETY: (1); the engine writes all of the structure, which consists of integers.
        let usage: qjs::JSMemoryUsage = unsafe {
            qjs::JS_RunGC(self.raw());
            qjs::JS_ComputeMemoryUsage(self.raw(), usage.as_mut_ptr());
            usage.assume_init()
        };
        usage.obj_count > 0
    }
}

/// The engine's question "shall this script go on?".
unsafe extern "C" fn interrupted(_: *mut qjs::JSRuntime, opaque: *mut std::ffi::c_void) -> std::ffi::c_int {
    // SAFETY: (6): `opaque` is the engine that runs this script; its caller's count is left alone.
    let engine = &*unsafe { ManuallyDrop::new(Rc::from_raw(opaque.cast::<Engine>().cast_const())) };
    // (7). Whoever panics instead of answering can no longer stop the script later, so it stops now.
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
            let engine = Engine::of_context(context);
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
