//! A counted JavaScript value.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::rc::Rc;

use rquickjs_sys as qjs;

use super::handles::{Engine, Value};

impl Value {
    /// Returns whether this is `undefined`.
    pub fn is_undefined(&self) -> bool {
        self.tag() == qjs::JS_TAG_UNDEFINED
    }

    /// Returns whether this is `null`.
    pub fn is_null(&self) -> bool {
        self.tag() == qjs::JS_TAG_NULL
    }

    /// Returns whether this is an object. Functions are objects.
    pub fn is_object(&self) -> bool {
        self.tag() == qjs::JS_TAG_OBJECT
    }

    /// Returns whether this is a string.
    pub fn is_string(&self) -> bool {
        matches!(self.tag(), qjs::JS_TAG_STRING | qjs::JS_TAG_STRING_ROPE)
    }

    /// Returns whether this is a BigInt.
    pub fn is_bigint(&self) -> bool {
        matches!(self.tag(), qjs::JS_TAG_BIG_INT | qjs::JS_TAG_SHORT_BIG_INT)
    }

    /// Returns the Boolean, if this is one, without a conversion.
    pub fn as_bool(&self) -> Option<bool> {
        // SAFETY: the tag says which member of the union is set.
        (self.tag() == qjs::JS_TAG_BOOL).then(|| unsafe { qjs::JS_VALUE_GET_BOOL(self.raw) })
    }

    /// Returns the Number, if this is one, without a conversion.
    pub fn as_number(&self) -> Option<f64> {
        match self.tag() {
            // SAFETY: the tag says which member of the union is set.
            qjs::JS_TAG_INT => Some(f64::from(unsafe { qjs::JS_VALUE_GET_INT(self.raw) })),
            // SAFETY: as above.
            qjs::JS_TAG_FLOAT64 => Some(unsafe { qjs::JS_VALUE_GET_FLOAT64(self.raw) }),
            _ => None,
        }
    }

    /// The Number, if the engine stores it as an integer, as it does with small ones.
    pub(super) fn as_int(&self) -> Option<i32> {
        // SAFETY: the tag says which member of the union is set.
        (self.tag() == qjs::JS_TAG_INT).then(|| unsafe { qjs::JS_VALUE_GET_INT(self.raw) })
    }

    /// Returns whether this is an Array object (not a proxy for one).
    pub fn is_array(&self) -> bool {
        // SAFETY: (1), (3): a live value, only read.
        unsafe { qjs::JS_IsArray(self.raw) }
    }

    /// Returns whether this is an object with the internal slots of an Error.
    pub fn is_error(&self) -> bool {
        // SAFETY: (1), (3): a live value, only read.
        unsafe { qjs::JS_IsError(self.raw) }
    }

    /// Returns whether both are the same object.
    pub fn is_same_object(&self, other: &Self) -> bool {
        self.is_object() && self.address() == other.address()
    }

    /// Returns an address that is unique among live objects, or null if this is not an object.
    pub fn address(&self) -> *const std::ffi::c_void {
        // SAFETY: the tag says that the union holds a pointer.
        if self.is_object() { unsafe { qjs::JS_VALUE_GET_PTR(self.raw) } } else { std::ptr::null() }
    }

    /// Borrows this handle as a [`BorrowedValue`].
    pub(super) fn borrow(&self) -> BorrowedValue<'_> {
        // SAFETY: this handle keeps both alive.
        unsafe { BorrowedValue::new(&self.engine, self.raw) }
    }

    /// Takes ownership of a count from the engine.
    ///
    /// # Safety
    /// `raw` belongs to `engine` and the caller owns one count of it.
    pub(super) unsafe fn from_owned(engine: &Rc<Engine>, raw: qjs::JSValue) -> Self {
        Self { engine: Rc::clone(engine), raw }
    }

    /// Adds a count to a value that is alive.
    ///
    /// # Safety
    /// `raw` belongs to `engine` and is alive.
    pub(super) unsafe fn from_borrowed(engine: &Rc<Engine>, raw: qjs::JSValue) -> Self {
        // SAFETY: the caller's promise, and (1). Numbers and other immediate values are not counted, which the tag says.
        if unsafe { qjs::JS_VALUE_HAS_REF_COUNT(raw) } {
            // SAFETY: as above.
            unsafe { qjs::JS_DupValueRT(engine.raw(), raw) };
        }
        Self { engine: Rc::clone(engine), raw }
    }

    /// Creates a value that needs no count.
    pub(super) fn immediate(engine: &Rc<Engine>, raw: qjs::JSValue) -> Self {
        Self { engine: Rc::clone(engine), raw }
    }

    /// The value for a function that borrows it.
    pub(super) fn raw(&self) -> qjs::JSValue {
        self.raw
    }

    /// The value and its count, for a function that takes both.
    pub(super) fn into_raw(self) -> qjs::JSValue {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is never used or dropped again, so the `Rc` is moved out exactly once.
        drop(unsafe { std::ptr::read(&this.engine) });
        this.raw
    }

    pub(super) fn engine(&self) -> &Rc<Engine> {
        &self.engine
    }

    pub(super) fn tag(&self) -> std::ffi::c_int {
        // SAFETY: reads the tag only; with NaN boxing it normalises the many tags of a double to one.
        unsafe { qjs::JS_VALUE_GET_NORM_TAG(self.raw) }
    }
}

/// A borrowed [`Value`], without a reference count of its own. Cloning the value adds a count.
pub struct BorrowedValue<'a> {
    value: ManuallyDrop<Value>,
    _holder: PhantomData<&'a Value>,
}

impl<'a> BorrowedValue<'a> {
    /// # Safety
    /// `raw` belongs to `engine`, and both stay alive for as long as the lifetime that the caller gives to the result.
    pub(super) unsafe fn new(engine: &Rc<Engine>, raw: qjs::JSValue) -> Self {
        // SAFETY: an `Rc` that is never dropped and never moved out is a borrow of the one that it was read from.
        let engine = unsafe { std::ptr::read(engine) };
        Self { value: ManuallyDrop::new(Value { engine, raw }), _holder: PhantomData }
    }
}

impl Deref for BorrowedValue<'_> {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.value
    }
}

impl fmt::Debug for BorrowedValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        // SAFETY: (3): this handle keeps the value alive.
        unsafe { Self::from_borrowed(&self.engine, self.raw) }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: looks at the tag.
        if unsafe { qjs::JS_VALUE_HAS_REF_COUNT(self.raw) } {
            // SAFETY: (1), (3): the one count that this handle owns.
            unsafe { qjs::JS_FreeValueRT(self.engine.raw(), self.raw) }
        }
    }
}

impl fmt::Debug for Value {
    /// Writes the kind of the value, and the value itself if that runs no script.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tag() {
            qjs::JS_TAG_UNDEFINED => f.write_str("undefined"),
            qjs::JS_TAG_NULL => f.write_str("null"),
            qjs::JS_TAG_OBJECT => f.write_str("[object]"),
            qjs::JS_TAG_SYMBOL => f.write_str("[symbol]"),
            _ if self.is_string() => f.write_str("[string]"),
            _ if self.is_bigint() => f.write_str("[bigint]"),
            _ => match (self.as_bool(), self.as_number()) {
                (Some(b), _) => write!(f, "{b}"),
                (_, Some(n)) => write!(f, "{n}"),
                _ => f.write_str("[internal]"),
            },
        }
    }
}
