//! The engine itself: its lifetime, its realms, its memory, and its Rust state. Its owner is in `runtime.rs`.

use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs_sys as qjs;
use waitword_agents::MemoryBudget;

use super::blocks::Blocks;
use super::handles::{Engine, Exception, Growables, Realm};
use super::heap::Heap;
use super::malloc;
use super::runtime::RuntimeOptions;
use super::shared;

/// The bytes at which a runtime first collects garbage. Later collections are at half more than was left by the last one. An agent starts
/// with about 0.5 MiB of built-ins and functions of the host, none of which is ever garbage.
const FIRST_COLLECTION: usize = 640 << 10;

impl Engine {
    pub(super) fn new(options: &RuntimeOptions) -> Rc<Self> {
        let heap = options.budget().map(Heap::new);
        // SAFETY: the heap outlives the runtime: a box in the `Engine` that frees it (9).
        let raw = NonNull::new(unsafe {
            match &heap {
                None => qjs::JS_NewRuntime(),
                Some(heap) => {
                    let _until_done = heap.work_as(true);
                    qjs::JS_NewRuntime2(&malloc::FUNCTIONS, std::ptr::from_ref(&**heap).cast_mut().cast())
                }
            }
        });
        let raw = raw.expect("no memory for a JavaScript runtime");
        let engine = Self::of(raw, heap, None);
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

    /// The state of a runtime, without a realm. With `blocks` the runtime is rquickjs's (10).
    pub(super) fn of(
        raw: NonNull<qjs::JSRuntime>,
        heap: Option<Box<Heap>>,
        blocks: Option<Rc<Blocks>>,
    ) -> Rc<Self> {
        Rc::new(Self {
            raw,
            heap,
            blocks,
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
        })
    }

    /// Runs work of the host that must not run out of memory, whatever scripts have used. (The engine cannot free a partly created realm,
    /// for example.) What it allocates is not counted, so no script may run in it.
    pub(super) fn beyond_memory_limit<T>(&self, work: impl FnOnce() -> T) -> T {
        let _until_done = self.heap.as_ref().map(|heap| heap.work_as(true));
        work()
    }

    pub(super) fn budget(&self) -> Option<&Arc<MemoryBudget>> {
        match (&self.heap, &self.blocks) {
            (Some(heap), _) => Some(&heap.budget),
            (None, Some(blocks)) => blocks.budget.as_ref(),
            (None, None) => None,
        }
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.heap.as_ref().is_some_and(|heap| heap.is_exhausted())
    }

    pub(super) fn new_realm(self: &Rc<Self>) -> Option<Realm> {
        self.beyond_memory_limit(|| {
            // SAFETY: (1).
            let context = NonNull::new(unsafe { qjs::JS_NewContext(self.raw()) })?;
            // SAFETY: a context of this runtime, whose count is ours to give away.
            let realm = unsafe { self.own_context(context) };
            self.prepare(&realm).ok()?;
            // SAFETY: (1), (4).
            (unsafe { qjs::JS_AddIntrinsicDOMException(realm.raw()) } == 0).then_some(realm)
        })
    }

    /// Makes a realm of a context, which the engine owns from now on (4).
    ///
    /// # Safety
    /// The context belongs to this runtime, and the caller has a count of it to give away.
    pub(super) unsafe fn own_context(self: &Rc<Self>, context: NonNull<qjs::JSContext>) -> Realm {
        // SAFETY: a live context; the pointer is valid until this `Engine` lets go of the context (6).
        unsafe { qjs::JS_SetContextOpaque(context.as_ptr(), Rc::as_ptr(self).cast_mut().cast()) };
        self.contexts.borrow_mut().push(context);
        Realm::of(self, context)
    }

    /// Takes the objects it needs from a realm that no script has used yet.
    pub(super) fn prepare(&self, realm: &Realm) -> Result<(), Exception> {
        // SAFETY: (4). No script has seen the realm, so none runs.
        let sample = realm.own(unsafe { qjs::JS_NewError(realm.raw()) })?;
        // SAFETY: (1), (3): a live value, only read.
        self.error_class.set(unsafe { qjs::JS_GetClassID(sample.raw()) });
        self.growables.prepare(realm)
    }

    /// The engine that called a callback, for the duration of the callback. It must not be dropped.
    ///
    /// # Safety
    /// `context` is one of an `Engine` that has not been dropped.
    pub(super) unsafe fn borrow_context(context: *mut qjs::JSContext) -> ManuallyDrop<Rc<Self>> {
        // SAFETY: (6): the opaque pointer came from an `Rc` that someone up the stack holds.
        unsafe {
            let engine = qjs::JS_GetContextOpaque(context).cast::<Self>().cast_const();
            ManuallyDrop::new(Rc::from_raw(engine))
        }
    }

    /// Updates growable buffers for a script that does not synchronize. After a failure, the next call tries again.
    pub(super) fn catch_up_in_any_realm(self: &Rc<Self>) {
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

    /// Drops what Rust code stored here, because it may contain values, which keep this engine alive.
    pub(super) fn let_go(&self) {
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
            // SAFETY: the count that this list owns (4). A guest's context stays, and must not name what is gone (10).
            unsafe {
                qjs::JS_SetContextOpaque(context.as_ptr(), std::ptr::null_mut());
                qjs::JS_FreeContext(context.as_ptr());
            }
        }
        if self.blocks.is_some() {
            // The runtime is its owner's to free (10).
            return;
        }
        if self.heap.as_ref().is_some_and(|heap| heap.has_refused.get()) && self.has_objects() {
            // The engine leaks references to objects if it is refused memory in the middle of an operation. An assertion in
            // JS_FreeRuntime would then end the process. So what is left is leaked, and stays charged to the budget. The same holds
            // for jobs that never ran, which cannot be distinguished from leaked objects.
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
