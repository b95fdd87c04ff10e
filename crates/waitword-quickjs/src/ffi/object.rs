//! Objects: creating and calling them, and the queries that the adapter needs to correct the engine's buffers and views. Their
//! properties are in `property.rs` and `keys.rs`.

use rquickjs_sys as qjs;

use super::handles::{Exception, Realm, Value};
use super::property::{Attributes, PropertyKey};

/// These methods run code of scripts where the standard does: getters, setters, proxies. Their errors are what that code throws, or the
/// engine's out-of-memory error.
impl Realm {
    /// Creates an object with this realm's `%Object.prototype%`.
    ///
    /// # Errors
    /// If the engine's memory limit is reached.
    pub fn object(&self) -> Result<Value, Exception> {
        // SAFETY: (4)
        self.own(unsafe { qjs::JS_NewObject(self.raw()) })
    }

    /// Creates an Array of these elements.
    ///
    /// # Errors
    /// If the engine's memory limit is reached.
    pub fn array(&self, elements: &[Value]) -> Result<Value, Exception> {
        // SAFETY: (4)
        let array = self.own(unsafe { qjs::JS_NewArray(self.raw()) })?;
        for (index, element) in (0..).zip(elements) {
            self.define(&array, PropertyKey::Index(index), element, Attributes::ASSIGNED)?;
        }
        Ok(array)
    }

    /// Returns the object's prototype: an object or `null`.
    ///
    /// # Errors
    /// What a proxy throws.
    pub fn prototype(&self, object: &Value) -> Result<Value, Exception> {
        self.check(object);
        // SAFETY: (3), (4), (5)
        self.own(unsafe { qjs::JS_GetPrototype(self.raw(), object.raw()) })
    }

    /// Sets the object's prototype to an object or `null`.
    ///
    /// # Errors
    /// A TypeError if the object does not allow it.
    pub fn set_prototype(&self, object: &Value, prototype: &Value) -> Result<(), Exception> {
        self.check(object);
        self.check(prototype);
        // SAFETY: (3), (4), (5)
        let status = unsafe { qjs::JS_SetPrototype(self.raw(), object.raw(), prototype.raw()) };
        self.succeeded(status).map(drop)
    }

    /// Returns whether the value can be called.
    pub fn is_function(&self, value: &Value) -> bool {
        self.check(value);
        // SAFETY: (3), (4), (5)
        unsafe { qjs::JS_IsFunction(self.raw(), value.raw()) }
    }

    /// Calls a function.
    ///
    /// # Errors
    /// What the function throws; a TypeError if it is not a function.
    pub fn call(&self, function: &Value, this: &Value, arguments: &[Value]) -> Result<Value, Exception> {
        self.check(function);
        self.check(this);
        let mut raw = self.raw_arguments(arguments);
        // SAFETY: (3), (4), (5); the engine borrows the arguments.
        self.own(unsafe {
            qjs::JS_Call(
                self.raw(),
                function.raw(),
                this.raw(),
                raw.len() as std::ffi::c_int,
                raw.as_mut_ptr(),
            )
        })
    }

    /// Evaluates `new constructor(...arguments)`.
    ///
    /// # Errors
    /// What the constructor throws; a TypeError if it is not a constructor.
    pub fn construct(&self, constructor: &Value, arguments: &[Value]) -> Result<Value, Exception> {
        self.construct_as(constructor, constructor, arguments)
    }

    /// Evaluates `Reflect.construct(constructor, arguments, new_target)`.
    ///
    /// # Errors
    /// What the constructor throws; a TypeError if `constructor` or `new_target` is not a constructor.
    pub fn construct_as(
        &self,
        constructor: &Value,
        new_target: &Value,
        arguments: &[Value],
    ) -> Result<Value, Exception> {
        self.check(constructor);
        // The engine does not check this.
        if !self.is_constructor(new_target) {
            return Err(self.type_error("new.target is not a constructor"));
        }
        let mut raw = self.raw_arguments(arguments);
        // SAFETY: (3), (4), (5); the engine borrows the arguments.
        self.own(unsafe {
            qjs::JS_CallConstructor2(
                self.raw(),
                constructor.raw(),
                new_target.raw(),
                raw.len() as std::ffi::c_int,
                raw.as_mut_ptr(),
            )
        })
    }

    /// Adds the internal slot \[\[IsHTMLDDA]] to an object. As with `document.all`, the object is falsy then, its `typeof` is
    /// `"undefined"`, and it equals `null`.
    pub fn mark_html_dda(&self, object: &Value) {
        self.check(object);
        if object.is_object() {
            // SAFETY: (3), (4), (5)
            unsafe { qjs::JS_SetIsHTMLDDA(self.raw(), object.raw()) };
        }
    }

    /// Links a constructor and its prototype object to each other, as those of the standard's built-ins are.
    ///
    /// # Errors
    /// A TypeError if one of the properties cannot be defined.
    pub fn link_constructor(&self, constructor: &Value, prototype: &Value) -> Result<(), Exception> {
        self.check(constructor);
        self.check(prototype);
        // SAFETY: (3), (4), (5)
        let status = unsafe { qjs::JS_SetConstructor(self.raw(), constructor.raw(), prototype.raw()) };
        self.succeeded(status).map(drop)
    }

    /// Whether this is a DataView.
    pub(crate) fn is_data_view(&self, value: &Value) -> bool {
        // SAFETY: (1), (3): a live value, only read.
        unsafe { qjs::JS_IsDataView(value.raw()) }
    }

    /// Whether both are objects with the same internal slots, such as two typed arrays of one element type.
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
        // Never negative zero, which the standard's mathematical values do not include.
        Ok(if number.is_nan() { 0.0 } else { number.trunc() + 0.0 })
    }

    /// ToBigInt or ToNumber, for a value that becomes an element. A BigInt is truncated to the bits of an element.
    ///
    /// # Errors
    /// What the coercion throws.
    pub(crate) fn to_element(&self, value: &Value, is_big: bool) -> Result<Value, Exception> {
        match is_big {
            true => self.bigint(self.to_bigint64(value)?),
            false => Ok(self.number(self.to_number(value)?)),
        }
    }

    /// The getter of a property of the engine's own objects.
    ///
    /// # Errors
    /// A TypeError if this engine has no such getter.
    pub(crate) fn engines_getter<'a>(
        &self,
        object: &Value,
        key: impl Into<PropertyKey<'a>>,
    ) -> Result<Value, Exception> {
        let key = key.into();
        self.own_getter(object, key)?.ok_or_else(|| self.type_error(&format!("this engine has no {key:?}")))
    }

    fn raw_arguments(&self, arguments: &[Value]) -> Vec<qjs::JSValue> {
        let borrow = |value: &Value| {
            self.check(value);
            value.raw()
        };
        arguments.iter().map(borrow).collect()
    }
}
