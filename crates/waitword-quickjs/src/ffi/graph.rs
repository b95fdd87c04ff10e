//! The operations with which a structured clone walks a graph of values and builds a copy: elements of arrays, strings with lone
//! surrogates, the bytes of buffers. Properties are in `keys.rs`.

use rquickjs_sys as qjs;

use super::handles::{Exception, Realm, Value};
use super::keys::PLAIN;

impl Realm {
    /// Adds an element to an array, as [`put`](Self::put) adds a property.
    ///
    /// # Errors
    /// If the engine runs out of memory.
    pub fn put_index(&self, array: &Value, index: u32, value: Value) -> Result<(), Exception> {
        self.check(array);
        self.check(&value);
        // SAFETY: (3), (4), (5); the value's count moves to the engine.
        let status = unsafe {
            qjs::JS_DefinePropertyValueUint32(self.raw(), array.raw(), index, value.into_raw(), PLAIN)
        };
        self.succeeded(status).map(drop)
    }

    /// Returns the length of an array.
    ///
    /// # Errors
    /// If the engine runs out of memory.
    pub fn array_length(&self, array: &Value) -> Result<u32, Exception> {
        self.check(array);
        let mut length = 0;
        // SAFETY: (3), (4), (5). An Array's length is a data property.
        let status = unsafe { qjs::JS_GetLength(self.raw(), array.raw(), &mut length) };
        self.succeeded(status)?;
        Ok(u32::try_from(length).unwrap_or(u32::MAX))
    }

    /// Sets the length of an array.
    ///
    /// # Errors
    /// If the engine runs out of memory.
    pub fn set_array_length(&self, array: &Value, length: u32) -> Result<(), Exception> {
        self.check(array);
        // SAFETY: (3), (4), (5).
        let status = unsafe { qjs::JS_SetLength(self.raw(), array.raw(), length.into()) };
        self.succeeded(status).map(drop)
    }

    /// Converts a value by ToString and calls `taken` with the text, in UTF-8 extended by encodings of lone surrogates.
    ///
    /// # Errors
    /// What the conversion throws, and the error of `taken`.
    pub fn with_text<T>(
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

    /// Creates a string from the encoding of [`with_text`](Self::with_text).
    ///
    /// # Errors
    /// If the engine runs out of memory.
    pub fn string_of(&self, text: &[u8]) -> Result<Value, Exception> {
        // SAFETY: (4); pointer and length of one slice.
        self.own(unsafe { qjs::JS_NewStringLen(self.raw(), text.as_ptr().cast(), text.len() as _) })
    }

    /// Returns whether this is an ordinary object: not an array, a proxy, or an object with other internal slots.
    pub fn is_ordinary(&self, value: &Value) -> bool {
        // SAFETY: (1), (3): a live value, only read.
        value.is_object() && unsafe { qjs::JS_GetClassID(value.raw()) } == self.ordinary_class()
    }

    /// Returns whether this is a proxy, revoked or not.
    pub fn is_proxy(&self, value: &Value) -> bool {
        // SAFETY: (1), (3): a live value, only read.
        unsafe { qjs::JS_IsProxy(value.raw()) }
    }

    /// Returns whether this is an ArrayBuffer. A SharedArrayBuffer is not.
    pub fn is_array_buffer(&self, value: &Value) -> bool {
        // SAFETY: (1), (3): a live value, only read.
        unsafe { qjs::JS_IsArrayBuffer(value.raw()) }
    }

    /// Appends the first `length` bytes of an ArrayBuffer to the vector `tape`.
    ///
    /// # Errors
    /// A TypeError if this is not an ArrayBuffer, or is detached; a RangeError if it is shorter than `length`.
    pub fn copy_array_buffer(
        &self,
        buffer: &Value,
        length: usize,
        tape: &mut Vec<u8>,
    ) -> Result<(), Exception> {
        // Reserves first: from here on only the copy runs.
        tape.reserve(length);
        let (data, len) = self.unshared_bytes(buffer)?;
        if len < length {
            return Err(
                self.range_error(&format!("cannot copy {length} bytes from an ArrayBuffer of {len} bytes"))
            );
        }
        // SAFETY: (1): `len` bytes of a buffer that `buffer` keeps alive, and of this thread alone, because the buffer is not
        // shared. No script runs meanwhile, so nothing resizes or detaches the buffer.
        tape.extend_from_slice(unsafe { std::slice::from_raw_parts(data, length) });
        Ok(())
    }

    /// Overwrites the first bytes of an ArrayBuffer.
    ///
    /// # Errors
    /// A TypeError if this is not an ArrayBuffer, or is detached; a RangeError if it is shorter than `bytes`.
    pub fn fill_array_buffer(&self, buffer: &Value, bytes: &[u8]) -> Result<(), Exception> {
        let (data, len) = self.unshared_bytes(buffer)?;
        if len < bytes.len() {
            let message = format!("cannot write {} bytes to an ArrayBuffer of {len} bytes", bytes.len());
            return Err(self.range_error(&message));
        }
        // SAFETY: as in `copy_array_buffer` (1); `bytes` is no part of it, because nobody gets a reference to a buffer's bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len()) };
        Ok(())
    }

    fn unshared_bytes(&self, buffer: &Value) -> Result<(*mut u8, usize), Exception> {
        self.check(buffer);
        if !self.is_array_buffer(buffer) {
            return Err(self.type_error("expected an ArrayBuffer"));
        }
        let mut len = 0;
        // SAFETY: (1), (3), (4).
        let data = unsafe { qjs::JS_GetArrayBuffer(self.raw(), &mut len, buffer.raw()) };
        if data.is_null() { Err(self.take_exception()) } else { Ok((data, len as usize)) }
    }

    /// Creates an ArrayBuffer with a copy of these bytes.
    ///
    /// # Errors
    /// If the engine runs out of memory.
    pub fn array_buffer(&self, bytes: &[u8]) -> Result<Value, Exception> {
        // SAFETY: (4); pointer and length of one slice.
        self.own(unsafe { qjs::JS_NewArrayBufferCopy(self.raw(), bytes.as_ptr(), bytes.len() as _) })
    }

    fn ordinary_class(&self) -> qjs::JSClassID {
        let known = &self.engine().ordinary_class;
        if known.get() == qjs::JS_INVALID_CLASS_ID
            && let Ok(sample) = self.beyond_memory_limit(|| self.object())
        {
            // SAFETY: (1), (3): a live value, only read.
            known.set(unsafe { qjs::JS_GetClassID(sample.raw()) });
        }
        known.get()
    }
}
