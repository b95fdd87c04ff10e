//! SharedArrayBuffers on [`SharedBlock`]s, and the views on them.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rquickjs_sys as qjs;
use waitword_agents::{BlockError, SharedBlock};

use super::handles::{Engine, Exception, Realm, Value};
use super::value::BorrowedValue;

/// The element type of a typed array, as far as it matters to `Atomics`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedArrayKind {
    /// `Int32Array`
    Int32,
    /// `BigInt64Array`
    BigInt64,
    /// `BigUint64Array`, whose elements cannot be waited on.
    BigUint64,
    /// `Int8Array`, `Uint8Array`, `Int16Array`, `Uint16Array` or `Uint32Array`, whose elements cannot be waited on.
    SmallInteger,
    /// Any other type, whose elements `Atomics` does not access.
    Other,
}

/// The buffer of a typed array, and the array's position in it.
#[derive(Debug)]
pub struct TypedArrayView<'a> {
    /// The ArrayBuffer or SharedArrayBuffer.
    pub buffer: BorrowedValue<'a>,
    /// The offset of the view's first byte in the buffer.
    pub byte_offset: usize,
    /// The length in bytes when the view was created. A view that tracks its buffer's length may be longer by now.
    pub byte_length: usize,
}

/// The block of a SharedArrayBuffer object that is kept alive for `'a`.
pub(crate) struct BorrowedBlock<'a> {
    block: ManuallyDrop<SharedBlock>,
    _holder: PhantomData<&'a Value>,
}

impl Deref for BorrowedBlock<'_> {
    type Target = SharedBlock;

    fn deref(&self) -> &SharedBlock {
        &self.block
    }
}

impl Realm {
    /// Creates the block of a SharedArrayBuffer, charged to the agent's budget. With a maximum it is growable.
    ///
    /// # Errors
    /// If the allocation fails or exceeds what is left of the budget.
    pub(crate) fn new_block(&self, len: usize, max_len: Option<usize>) -> Result<SharedBlock, BlockError> {
        self.engine().new_block(len, max_len)
    }

    /// Whether the allocation of a SharedArrayBuffer failed since the last call. The engine throws nothing then.
    pub(crate) fn take_block_refusal(&self) -> bool {
        self.engine().refused_block.take()
    }

    /// Creates a SharedArrayBuffer object on the first bytes of a block.
    ///
    /// # Errors
    /// A RangeError if there are 2^31 bytes or more, which the engine does not support, or if there is no memory for the object.
    pub(crate) fn shared_array_buffer_of(&self, block: &SharedBlock, len: usize) -> Result<Value, Exception> {
        let len = len.min(block.len());
        let max = if block.is_growable() { block.max_len() } else { 0 };
        let no_opaque = std::ptr::null_mut();
        // SAFETY: (1), (4). The object gets a count of its own (8): through `dup`, or from `Blocks`.
        let buffer = self.own(unsafe {
            match &self.engine().blocks {
                None => qjs::JS_NewArrayBuffer(
                    self.raw(),
                    block.as_ptr(),
                    len as _,
                    max as _,
                    None,
                    no_opaque,
                    true,
                ),
                Some(blocks) => blocks.new_buffer(self.raw(), block, len, max),
            }
        })?;
        if max > 0 {
            self.track(&buffer)?;
        }
        Ok(buffer)
    }

    /// Returns the block of a SharedArrayBuffer object, or `None` for any other value.
    pub fn shared_block(&self, buffer: &Value) -> Option<SharedBlock> {
        self.borrow_shared_block(&buffer.borrow()).as_deref().cloned()
    }

    /// Borrows the block of a SharedArrayBuffer object, without the two atomic operations of [`shared_block`](Self::shared_block).
    #[inline(always)]
    pub(crate) fn borrow_shared_block<'a>(&self, buffer: &BorrowedValue<'a>) -> Option<BorrowedBlock<'a>> {
        self.check(buffer);
        // SAFETY: (1), (3).
        if unsafe { qjs::JS_GetClassID(buffer.raw()) } != self.shared_class()? {
            return None;
        }
        let mut len = 0;
        // SAFETY: (1), (3), (4): a SharedArrayBuffer, by its class; such a buffer is never detached.
        let data = unsafe { qjs::JS_GetArrayBuffer(self.raw(), &mut len, buffer.raw()) };
        if self.engine().blocks.as_ref().is_some_and(|blocks| !blocks.has(data)) {
            return None;
        }
        // SAFETY: (8): the buffer object holds a count, and somebody the object for as long as `'a`. The block is not dropped.
        let block = || ManuallyDrop::new(unsafe { SharedBlock::from_raw(data) });
        (!data.is_null()).then(|| BorrowedBlock { block: block(), _holder: PhantomData })
    }

    /// Whether this is a SharedArrayBuffer, on a block or on the engine's own memory.
    pub(crate) fn is_shared_array_buffer(&self, buffer: &Value) -> bool {
        self.check(buffer);
        // SAFETY: (1), (3): a live value, only read.
        self.shared_class() == Some(unsafe { qjs::JS_GetClassID(buffer.raw()) })
    }

    /// Whether the runtime is rquickjs's, where the engine cannot create blocks.
    pub(crate) fn is_guest(&self) -> bool {
        self.engine().blocks.is_some()
    }

    /// Returns the length in bytes of an ArrayBuffer or a SharedArrayBuffer. A growable one may be longer by now, because another agent
    /// has grown it: its [block](Self::shared_block) has the current length.
    ///
    /// # Errors
    /// A TypeError if the buffer is detached, or the value is not a buffer.
    pub fn buffer_byte_length(&self, buffer: &Value) -> Result<usize, Exception> {
        self.check(buffer);
        let mut len = 0;
        // SAFETY: (1), (3), (4).
        if unsafe { qjs::JS_GetArrayBuffer(self.raw(), &mut len, buffer.raw()) }.is_null() {
            return Err(self.take_exception());
        }
        Ok(len as usize)
    }

    /// Returns the element type of a typed array, or `None` for any other value.
    pub fn typed_array_kind(&self, value: &Value) -> Option<TypedArrayKind> {
        self.check(value);
        // SAFETY: (1), (3).
        let kind = unsafe { qjs::JS_GetTypedArrayType(value.raw()) };
        Some(match qjs::JSTypedArrayEnum::try_from(kind).ok()? {
            qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_INT32 => TypedArrayKind::Int32,
            qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_BIG_INT64 => TypedArrayKind::BigInt64,
            qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_BIG_UINT64 => TypedArrayKind::BigUint64,
            qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_INT8
            | qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8
            | qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_INT16
            | qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT16
            | qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT32 => TypedArrayKind::SmallInteger,
            _ => TypedArrayKind::Other,
        })
    }

    /// Returns the buffer of a typed array, and the array's position in it.
    ///
    /// # Errors
    /// A TypeError if `value` is not a typed array, is out of the bounds of its buffer, or is detached.
    #[inline(always)]
    pub fn typed_array_view<'a>(&self, value: &'a Value) -> Result<TypedArrayView<'a>, Exception> {
        self.check(value);
        let (mut offset, mut length, mut element) = (0, 0, 0);
        // SAFETY: (1), (3), (4).
        let buffer = self.own(unsafe {
            qjs::JS_GetTypedArrayBuffer(self.raw(), value.raw(), &mut offset, &mut length, &mut element)
        })?;
        // SAFETY: `value` keeps the typed array alive, and the array keeps its buffer alive. So our count may end.
        let buffer = unsafe { BorrowedValue::new(self.engine(), buffer.raw()) };
        Ok(TypedArrayView { buffer, byte_offset: offset as usize, byte_length: length as usize })
    }

    /// Returns whether this is an immutable ArrayBuffer (`transferToImmutable`).
    pub fn is_immutable_buffer(&self, buffer: &Value) -> bool {
        self.check(buffer);
        // SAFETY: (1), (3). Negative for what is no ArrayBuffer.
        unsafe { qjs::JS_IsImmutableArrayBuffer(buffer.raw()) > 0 }
    }

    /// Detaches an ArrayBuffer (DetachArrayBuffer). Does nothing if it is detached already.
    ///
    /// # Errors
    /// A TypeError if the value is not an ArrayBuffer (a SharedArrayBuffer is not), or is immutable.
    pub fn detach_array_buffer(&self, buffer: &Value) -> Result<(), Exception> {
        if !self.is_array_buffer(buffer) || self.is_immutable_buffer(buffer) {
            return Err(self.type_error("cannot detach: not an ArrayBuffer, or immutable"));
        }
        // SAFETY: (1), (3), (4).
        unsafe { qjs::JS_DetachArrayBuffer(self.raw(), buffer.raw()) };
        Ok(())
    }

    /// The class id of SharedArrayBuffer objects in this runtime. It is not in the engine's header, so the first caller reads it from
    /// such an object.
    fn shared_class(&self) -> Option<qjs::JSClassID> {
        let known = &self.engine().shared_class;
        if known.get() == qjs::JS_INVALID_CLASS_ID {
            let sample = self.shared_array_buffer_of(&SharedBlock::new(16).ok()?, 16).ok()?;
            // SAFETY: (1), (3).
            known.set(unsafe { qjs::JS_GetClassID(sample.raw()) });
        }
        Some(known.get())
    }
}

/// The functions with which an engine allocates, shares and frees the memory of SharedArrayBuffers.
pub(super) fn hooks(engine: *mut c_void) -> qjs::JSSharedArrayBufferFunctions {
    qjs::JSSharedArrayBufferFunctions {
        sab_alloc: Some(alloc),
        sab_free: Some(free),
        sab_dup: Some(dup),
        sab_opaque: engine,
    }
}

impl Engine {
    /// Creates a block, growable if there is a maximum. It is charged to the agent's budget until its last owner drops it.
    fn new_block(&self, len: usize, max_len: Option<usize>) -> Result<SharedBlock, BlockError> {
        let make = || match (self.budget(), max_len) {
            (None, None) => SharedBlock::new(len),
            (None, Some(max_len)) => SharedBlock::growable(len, max_len),
            (Some(budget), None) => SharedBlock::charged_to(budget, len),
            (Some(budget), Some(max_len)) => SharedBlock::growable_charged_to(budget, len, max_len),
        };
        make().or_else(|_| {
            // Garbage cycles may hold blocks, whose sizes the engine's collector does not take into account.
            // SAFETY: (1).
            unsafe { qjs::JS_RunGC(self.raw()) };
            make()
        })
    }
}

/// Creates a zeroed block. Returns null if the allocation fails. Growable blocks are never created here: see
/// [`crate::shared_array_buffer`].
unsafe extern "C" fn alloc(engine: *mut c_void, size: qjs::size_t) -> *mut c_void {
    // SAFETY: (6): the engine that calls us.
    let engine = unsafe { &*engine.cast::<Engine>() };
    // (7)
    match catch_unwind(AssertUnwindSafe(|| engine.new_block(size as usize, None))) {
        Ok(Ok(block)) => block.into_raw().cast(),
        _ => {
            engine.refused_block.set(true);
            std::ptr::null_mut()
        }
    }
}

unsafe extern "C" fn dup(_: *mut c_void, data: *mut c_void) {
    // (7). A count that overflows aborts, so no panic has to be swallowed here.
    // SAFETY: (8): the caller's buffer, or the message that is being read, holds a count while we add one.
    let block = unsafe { SharedBlock::clone_from_raw(data.cast()) };
    let _kept_by_the_engine = block.into_raw();
}

unsafe extern "C" fn free(_: *mut c_void, data: *mut c_void) {
    // (7). Freeing memory does not panic.
    // SAFETY: (8): the count that the dying buffer object held.
    drop(unsafe { SharedBlock::from_raw(data.cast()) });
}
