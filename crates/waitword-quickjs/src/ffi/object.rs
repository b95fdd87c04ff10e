//! Objects: how they are made and called. Their properties are in `property.rs` and `keys.rs`.

use rquickjs_sys as qjs;

use super::handles::{Exception, Realm, Value};
use super::property::{Attributes, PropertyKey};

/// The methods below run a script's code where the standard does: getters, setters, proxies. Their errors are what that
/// code throws, or the engine for lack of memory.
impl Realm {
    /// A new object with this realm's `%Object.prototype%`.
    ///
    /// # Errors
    /// When the engine's memory limit is reached.
    pub fn object(&self) -> Result<Value, Exception> {
        // SAFETY: (4)
        self.own(unsafe { qjs::JS_NewObject(self.raw()) })
    }

    /// A new Array of these elements.
    ///
    /// # Errors
    /// When the engine's memory limit is reached.
    pub fn array(&self, elements: &[Value]) -> Result<Value, Exception> {
        // SAFETY: (4)
        let array = self.own(unsafe { qjs::JS_NewArray(self.raw()) })?;
        for (index, element) in (0..).zip(elements) {
            self.define(&array, PropertyKey::Index(index), element, Attributes::ASSIGNED)?;
        }
        Ok(array)
    }

    /// The object's prototype: an object or `null`.
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
    /// A TypeError when the object does not allow it.
    pub fn set_prototype(&self, object: &Value, prototype: &Value) -> Result<(), Exception> {
        self.check(object);
        self.check(prototype);
        // SAFETY: (3), (4), (5)
        let status = unsafe { qjs::JS_SetPrototype(self.raw(), object.raw(), prototype.raw()) };
        self.succeeded(status).map(drop)
    }

    /// Whether the value can be called.
    pub fn is_function(&self, value: &Value) -> bool {
        self.check(value);
        // SAFETY: (3), (4), (5)
        unsafe { qjs::JS_IsFunction(self.raw(), value.raw()) }
    }

    /// Calls a function.
    ///
    /// # Errors
    /// What it throws; a TypeError when it is no function.
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

    /// `new constructor(...arguments)`
    ///
    /// # Errors
    /// What it throws; a TypeError when it is no constructor.
    pub fn construct(&self, constructor: &Value, arguments: &[Value]) -> Result<Value, Exception> {
        self.construct_as(constructor, constructor, arguments)
    }

    /// `Reflect.construct(constructor, arguments, new_target)`
    ///
    /// # Errors
    /// What it throws; a TypeError when one of the two is no constructor.
    pub fn construct_as(
        &self,
        constructor: &Value,
        new_target: &Value,
        arguments: &[Value],
    ) -> Result<Value, Exception> {
        self.check(constructor);
        // The engine takes the caller's word for it.
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

    /// Gives an object the internal slot \[\[IsHTMLDDA]]: it is falsy, `typeof` calls it `"undefined"`, and it equals
    /// `null`, as `document.all` does.
    pub fn mark_html_dda(&self, object: &Value) {
        self.check(object);
        if object.is_object() {
            // SAFETY: (3), (4), (5)
            unsafe { qjs::JS_SetIsHTMLDDA(self.raw(), object.raw()) };
        }
    }

    /// Links a constructor and its prototype object to each other, as the standard's built-in ones are.
    ///
    /// # Errors
    /// A TypeError when one of the properties cannot be defined.
    pub fn link_constructor(&self, constructor: &Value, prototype: &Value) -> Result<(), Exception> {
        self.check(constructor);
        self.check(prototype);
        // SAFETY: (3), (4), (5)
        let status = unsafe { qjs::JS_SetConstructor(self.raw(), constructor.raw(), prototype.raw()) };
        self.succeeded(status).map(drop)
    }

    fn raw_arguments(&self, arguments: &[Value]) -> Vec<qjs::JSValue> {
        let borrow = |value: &Value| {
            self.check(value);
            value.raw()
        };
        arguments.iter().map(borrow).collect()
    }
}
