//! What the adapter has to know of buffers, views and their attributes to put right what the engine does with them.

use std::ffi::c_int;

use rquickjs_sys as qjs;

use super::handles::{Exception, Realm, Value};

impl Realm {
    /// Whether this is a DataView.
    pub(crate) fn is_data_view(&self, value: &Value) -> bool {
        // SAFETY: (1), (3): a live value, only read.
        unsafe { qjs::JS_IsDataView(value.raw()) }
    }

    /// Whether both are objects with the same internal slots: two typed arrays of one element type, say.
    pub(crate) fn is_same_class(&self, one: &Value, other: &Value) -> bool {
        // SAFETY: (1), (3): live values, only read.
        unsafe { one.is_object() && qjs::JS_GetClassID(one.raw()) == qjs::JS_GetClassID(other.raw()) }
    }

    /// Whether the value can be called with `new`.
    pub(crate) fn is_constructor(&self, value: &Value) -> bool {
        self.check(value);
        // SAFETY: (3), (4), (5)
        unsafe { qjs::JS_IsConstructor(self.raw(), value.raw()) }
    }

    /// ToIntegerOrInfinity.
    ///
    /// # Errors
    /// As [`Realm::to_number`].
    pub(crate) fn to_integer_or_infinity(&self, value: &Value) -> Result<f64, Exception> {
        let number = self.to_number(value)?;
        // No negative zero, as the standard's mathematical values have none.
        Ok(if number.is_nan() { 0.0 } else { number.trunc() + 0.0 })
    }

    /// SetIntegrityLevel(object, frozen), from its fifth step on: makes all own properties read-only and permanent. Of an object
    /// that is not extensible.
    ///
    /// # Errors
    /// A TypeError when the object does not allow it.
    pub(crate) fn freeze_properties(&self, object: &Value) -> Result<(), Exception> {
        self.check(object);
        let (mut table, mut len) = (std::ptr::null_mut(), 0);
        let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_SYMBOL_MASK) as c_int;
        // SAFETY: (3), (4), (5)
        let status =
            unsafe { qjs::JS_GetOwnPropertyNames(self.raw(), &mut table, &mut len, object.raw(), flags) };
        self.succeeded(status)?;
        let result = (0..len as usize).try_for_each(|index| {
            // SAFETY: the engine gave a table of `len` entries, freed below.
            self.freeze_property(object, unsafe { (*table.add(index)).atom })
        });
        // SAFETY: the table that the engine gave us.
        unsafe { qjs::JS_FreePropertyEnum(self.raw(), table, len) };
        result
    }

    fn freeze_property(&self, object: &Value, key: qjs::JSAtom) -> Result<(), Exception> {
        let mut found = qjs::JSPropertyDescriptor {
            flags: 0,
            value: qjs::JS_UNDEFINED,
            getter: qjs::JS_UNDEFINED,
            setter: qjs::JS_UNDEFINED,
        };
        // SAFETY: (3), (4), (5)
        let status = unsafe { qjs::JS_GetOwnProperty(self.raw(), &mut found, object.raw(), key) };
        if !self.succeeded(status)? {
            return Ok(());
        }
        for raw in [found.value, found.getter, found.setter] {
            // SAFETY: (3): a found descriptor carries a count of each of its values.
            drop(unsafe { Value::from_owned(self.engine(), raw) });
        }
        // { [[Configurable]]: false }, and of a data property { [[Writable]]: false }.
        let writable = match found.flags & qjs::JS_PROP_GETSET as c_int {
            0 => qjs::JS_PROP_HAS_WRITABLE,
            _ => 0,
        };
        let flags = (qjs::JS_PROP_HAS_CONFIGURABLE | qjs::JS_PROP_THROW | writable) as c_int;
        let none = qjs::JS_UNDEFINED;
        // SAFETY: (3), (4), (5); the engine borrows the values.
        let status =
            unsafe { qjs::JS_DefineProperty(self.raw(), object.raw(), key, none, none, none, flags) };
        self.succeeded(status).map(drop)
    }
}
