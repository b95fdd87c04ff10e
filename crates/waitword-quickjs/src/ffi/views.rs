//! What the adapter has to know of buffers, views and their attributes to put right what the engine does with them.

use rquickjs_sys as qjs;

use super::handles::{Exception, Realm, Value};
use super::property::PropertyKey;

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

    /// ToBigInt or ToNumber, as of a value that becomes an element. Of a BigInt as many bits are kept as an element has.
    ///
    /// # Errors
    /// What the coercion throws.
    pub(crate) fn to_element(&self, value: &Value, is_big: bool) -> Result<Value, Exception> {
        match is_big {
            true => self.bigint(self.to_bigint64(value)?),
            false => Ok(self.number(self.to_number(value)?)),
        }
    }

    /// The getter of a property that the engine's own objects have.
    ///
    /// # Errors
    /// A TypeError when this engine has none.
    pub(crate) fn engines_getter<'a>(
        &self,
        object: &Value,
        key: impl Into<PropertyKey<'a>>,
    ) -> Result<Value, Exception> {
        let key = key.into();
        self.own_getter(object, key)?.ok_or_else(|| self.type_error(&format!("this engine has no {key:?}")))
    }
}
