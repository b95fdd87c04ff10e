//! The blocks under the SharedArrayBuffers of a runtime that is somebody else's (10).
//!
//! The engine has one set of functions for the memory of all SharedArrayBuffers of a runtime. There may be such objects already, on memory
//! that these functions would take for blocks, and rquickjs makes others on memory of its users (`ArrayBuffer::from_source_shared`). So the
//! set stays as it is, and each object on a block of ours brings a function for its own end, which the engine calls where no set is there.
//! An object is known to be one of ours by the address of its data.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs_sys as qjs;
use waitword_agents::{MemoryBudget, SharedBlock};

/// What is known of the blocks. The engine's last objects end after the `Engine`, so each has a count of this.
pub(super) struct Blocks {
    /// How many buffer objects lie on each, by the address of its data.
    objects: RefCell<BTreeMap<usize, usize>>,
    /// What scripts may make of them.
    pub(super) budget: Option<Arc<MemoryBudget>>,
}

impl Blocks {
    #[cfg(feature = "rquickjs")]
    pub(super) fn new(budget: Option<Arc<MemoryBudget>>) -> Rc<Self> {
        Rc::new(Self { objects: RefCell::default(), budget })
    }

    /// Whether the data of a SharedArrayBuffer object is a block's.
    pub(super) fn has(&self, data: *mut u8) -> bool {
        self.objects.borrow().contains_key(&data.addr())
    }

    /// A SharedArrayBuffer object on the first bytes of a block, growable to `max` unless that is 0; or the mark of an exception.
    ///
    /// # Safety
    /// The context is alive, and belongs to the runtime that this list is for. The block has so many bytes.
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
                // No object was made, and none gives them back.
                release(std::ptr::null_mut(), list, data.cast(), 0);
            }
            buffer
        }
    }
}

/// The end of a buffer object: the engine asks for 0 bytes. It never asks for another size of memory that is shared.
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
