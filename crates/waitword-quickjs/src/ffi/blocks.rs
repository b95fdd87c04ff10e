//! The blocks of the SharedArrayBuffers of a runtime that is rquickjs's (10).
//!
//! The engine has one set of functions for the memory of all SharedArrayBuffers of a runtime. Our functions would treat all such memory as
//! blocks. But there may be such objects already, and rquickjs creates others on memory of its users (`ArrayBuffer::from_source_shared`). So
//! the set stays empty, and each object on a block of ours has a free function of its own, which the engine calls if there is no set.
//! Our objects are recognized by the address of their data.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs_sys as qjs;
use waitword_agents::{MemoryBudget, SharedBlock};

/// The blocks of a runtime. The engine's last objects are freed after the `Engine`, so each owns a count of this.
pub(super) struct Blocks {
    /// The number of buffer objects on each block, by the address of its data.
    objects: RefCell<BTreeMap<usize, usize>>,
    /// The budget for blocks that scripts create.
    pub(super) budget: Option<Arc<MemoryBudget>>,
}

impl Blocks {
    #[cfg(feature = "rquickjs")]
    pub(super) fn new(budget: Option<Arc<MemoryBudget>>) -> Rc<Self> {
        Rc::new(Self { objects: RefCell::default(), budget })
    }

    /// Whether the data of a SharedArrayBuffer object belongs to a block.
    pub(super) fn has(&self, data: *mut u8) -> bool {
        self.objects.borrow().contains_key(&data.addr())
    }

    /// Creates a SharedArrayBuffer object on the first bytes of a block, growable to `max` unless that is 0. Returns the exception marker
    /// on failure.
    ///
    /// # Safety
    /// The context is alive, and belongs to the runtime of this list. The block has at least these bytes.
    pub(super) unsafe fn new_buffer(
        self: &Rc<Self>,
        context: *mut qjs::JSContext,
        block: &SharedBlock,
        len: usize,
        max: usize,
    ) -> qjs::JSValue {
        let (data, list) = (block.clone().into_raw(), Rc::into_raw(Rc::clone(self)).cast_mut().cast());
        *self.objects.borrow_mut().entry(data.addr()).or_default() += 1;
        // SAFETY: the caller's promise; the object owns both counts, which `release` gives back.
        unsafe {
            let buffer = qjs::JS_NewArrayBuffer(context, data, len as _, max as _, Some(release), list, true);
            if qjs::JS_IsException(buffer) {
                // No object was created that would release the counts.
                release(std::ptr::null_mut(), list, data.cast(), 0);
            }
            buffer
        }
    }
}

/// Frees a buffer object's memory: the engine reallocates it to 0 bytes. It never reallocates shared memory to another size.
unsafe extern "C" fn release(
    _: *mut qjs::JSRuntime,
    list: *mut c_void,
    data: *mut c_void,
    size: qjs::size_t,
) -> *mut c_void {
    if size == 0 {
        // (7). Nothing in here panics.
        // SAFETY: the counts that `new_buffer` gave to this object, which ends once.
        let (list, block) =
            unsafe { (Rc::from_raw(list.cast::<Blocks>()), SharedBlock::from_raw(data.cast())) };
        let mut objects = list.objects.borrow_mut();
        if let Some(count) = objects.get_mut(&data.addr()) {
            *count -= 1;
            if *count == 0 {
                objects.remove(&data.addr());
            }
        }
        drop(objects);
        drop(block);
    }
    std::ptr::null_mut()
}
