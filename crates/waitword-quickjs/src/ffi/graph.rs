//! What it takes to walk a graph of values quickly and to build a copy of it: elements of arrays, strings with their lone
//! surrogates, the bytes of buffers. Properties: `keys.rs`.

use rquickjs_sys as qjs;

use super::exception::Exception;
use super::keys::PLAIN;
use super::realm::Realm;
use super::value::Value;

impl Realm {
    /// As [`put`](Self::put), for an element of an array.
    ///
    /// # Errors
    /// Lack of memory.
    pub(crate) fn put_index(&self, array: &Value, index: u32, value: Value) -> Result<(), Exception> {
        self.check(array);
        self.check(&value);
        // SAFETY: (3), (4), (5); the value's count moves to the engine.
        let status = unsafe {
            qjs::JS_DefinePropertyValueUint32(self.raw(), array.raw(), index, value.into_raw(), PLAIN)
        };
        self.succeeded(status).map(drop)
    }

    /// The length of an array.
    ///
    /// # Errors
    /// Lack of memory.
    pub(crate) fn array_length(&self, array: &Value) -> Result<u32, Exception> {
        self.check(array);
        let mut length = 0;
        // SAFETY: (3), (4), (5). An Array's length is a data property.
        let status = unsafe { qjs::JS_GetLength(self.raw(), array.raw(), &mut length) };
        self.succeeded(status)?;
        Ok(u32::try_from(length).unwrap_or(u32::MAX))
    }

    /// Gives an array this length.
    ///
    /// # Errors
    /// Lack of memory.
    pub(crate) fn set_array_length(&self, array: &Value, length: u32) -> Result<(), Exception> {
        self.check(array);
        // SAFETY: (3), (4), (5).
        let status = unsafe { qjs::JS_SetLength(self.raw(), array.raw(), length.into()) };
        self.succeeded(status).map(drop)
    }

    /// Hands the text of a string to `taken`, in UTF-8 in which lone surrogates have codes of their own.
    ///
    /// # Errors
    /// Lack of memory, and what `taken` makes of it.
    pub(crate) fn with_text<T>(
        &self,
        string: &Value,
        taken: impl FnOnce(&[u8]) -> Result<T, Exception>,
    ) -> Result<T, Exception> {
        self.check(string);
        let mut len = 0;
        // SAFETY: (3), (4)
        let text = unsafe { qjs::JS_ToCStringLen2(self.raw(), &mut len, string.raw(), false) };
        if text.is_null() {
            return Err(self.take_exception());
        }
        // SAFETY: the engine gave `len` bytes at `text`, which stay until they are freed below.
        let result = taken(unsafe { std::slice::from_raw_parts(text.cast(), len as usize) });
        // SAFETY: as above.
        unsafe { qjs::JS_FreeCString(self.raw(), text) };
        result
    }

    /// The string that [`with_text`](Self::with_text) handed out.
    ///
    /// # Errors
    /// Lack of memory.
    pub(crate) fn string_of(&self, text: &[u8]) -> Result<Value, Exception> {
        // SAFETY: (4); pointer and length of one slice.
        self.own(unsafe { qjs::JS_NewStringLen(self.raw(), text.as_ptr().cast(), text.len() as _) })
    }

    /// Whether this is an ordinary object: no array, no proxy, nothing with other internal slots.
    pub(crate) fn is_ordinary(&self, value: &Value) -> bool {
        // SAFETY: looks at a live value.
        value.is_object() && unsafe { qjs::JS_GetClassID(value.raw()) } == self.ordinary_class()
    }

    /// Whether this is a proxy, revoked or not.
    pub(crate) fn is_proxy(&self, value: &Value) -> bool {
        // SAFETY: looks at a live value.
        unsafe { qjs::JS_IsProxy(value.raw()) }
    }

    /// Whether this is an ArrayBuffer, and no SharedArrayBuffer.
    pub(crate) fn is_array_buffer(&self, value: &Value) -> bool {
        // SAFETY: looks at a live value.
        unsafe { qjs::JS_IsArrayBuffer(value.raw()) }
    }

    /// Hands the bytes of an ArrayBuffer to `taken`, which runs no script.
    ///
    /// # Errors
    /// A TypeError for one that is detached, and what `taken` makes of it.
    pub(crate) fn with_bytes<T>(
        &self,
        buffer: &Value,
        taken: impl FnOnce(&mut [u8]) -> Result<T, Exception>,
    ) -> Result<T, Exception> {
        self.check(buffer);
        let mut len = 0;
        // SAFETY: (1), (3), (4).
        let data = unsafe { qjs::JS_GetArrayBuffer(self.raw(), &mut len, buffer.raw()) };
        if data.is_null() {
            return Err(self.take_exception());
        }
        // SAFETY: `len` bytes of a buffer that `buffer` keeps alive, and of this thread alone: it is not shared. Nobody
        // resizes or detaches it meanwhile, because no script runs.
        taken(unsafe { std::slice::from_raw_parts_mut(data, len as usize) })
    }

    /// A new ArrayBuffer with a copy of these bytes.
    ///
    /// # Errors
    /// Lack of memory.
    pub(crate) fn array_buffer(&self, bytes: &[u8]) -> Result<Value, Exception> {
        // SAFETY: (4); pointer and length of one slice.
        self.own(unsafe { qjs::JS_NewArrayBufferCopy(self.raw(), bytes.as_ptr(), bytes.len() as _) })
    }

    fn ordinary_class(&self) -> qjs::JSClassID {
        let known = &self.engine().ordinary_class;
        if known.get() == qjs::JS_INVALID_CLASS_ID
            && let Ok(sample) = self.beyond_memory_limit(|| self.object())
        {
            // SAFETY: looks at a live value.
            known.set(unsafe { qjs::JS_GetClassID(sample.raw()) });
        }
        known.get()
    }
}
