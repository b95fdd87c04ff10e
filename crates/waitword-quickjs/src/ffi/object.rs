//! Objects: properties, calls, arrays.

use rquickjs_sys as qjs;

use super::handles::{Exception, Realm, Value};

/// The name of a property: text, an array index, or any value (a Symbol, for one).
#[derive(Clone, Copy, Debug)]
pub enum PropertyKey<'a> {
    /// By name.
    Name(&'a str),
    /// By array index.
    Index(u32),
    /// By ToPropertyKey of a value.
    Value(&'a Value),
}

impl<'a> From<&'a str> for PropertyKey<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl<'a> From<&'a String> for PropertyKey<'a> {
    fn from(name: &'a String) -> Self {
        Self::Name(name)
    }
}

impl From<u32> for PropertyKey<'_> {
    fn from(index: u32) -> Self {
        Self::Index(index)
    }
}

impl<'a> From<&'a Value> for PropertyKey<'a> {
    fn from(value: &'a Value) -> Self {
        Self::Value(value)
    }
}

/// Attributes of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// An assignment changes the value.
    pub writable: bool,
    /// `Object.keys` and `for`-`in` list it.
    pub enumerable: bool,
    /// It can be deleted and defined anew.
    pub configurable: bool,
}

impl Attributes {
    /// What an assignment gives a new property: all three.
    pub const ASSIGNED: Self = Self { writable: true, enumerable: true, configurable: true };
    /// What the standard gives its built-in functions: all but enumerable.
    pub const BUILT_IN: Self = Self { writable: true, enumerable: false, configurable: true };

    fn flags(self) -> std::ffi::c_int {
        let flag = |on: bool, flag: u32| if on { flag } else { 0 };
        (flag(self.writable, qjs::JS_PROP_WRITABLE)
            | flag(self.enumerable, qjs::JS_PROP_ENUMERABLE)
            | flag(self.configurable, qjs::JS_PROP_CONFIGURABLE)) as std::ffi::c_int
    }
}

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

    /// `object[key]`
    ///
    /// # Errors
    /// What a getter throws; a TypeError when `object` is `undefined` or `null`.
    pub fn get<'a>(&self, object: &Value, key: impl Into<PropertyKey<'a>>) -> Result<Value, Exception> {
        self.check(object);
        let key = self.atom(key.into())?;
        // SAFETY: (3), (4), (5)
        self.own(unsafe { qjs::JS_GetProperty(self.raw(), object.raw(), key.raw) })
    }

    /// `object[key] = value`, as in strict code.
    ///
    /// # Errors
    /// What a setter throws; a TypeError when the property cannot be written.
    pub fn set<'a>(
        &self,
        object: &Value,
        key: impl Into<PropertyKey<'a>>,
        value: &Value,
    ) -> Result<(), Exception> {
        self.check(object);
        self.check(value);
        let key = self.atom(key.into())?;
        // SAFETY: (3), (4), (5); the count of the clone moves to the engine.
        let status =
            unsafe { qjs::JS_SetProperty(self.raw(), object.raw(), key.raw, value.clone().into_raw()) };
        self.succeeded(status).map(drop)
    }

    /// Defines an own property, whatever was there before.
    ///
    /// # Errors
    /// A TypeError when the object does not allow it.
    pub fn define<'a>(
        &self,
        object: &Value,
        key: impl Into<PropertyKey<'a>>,
        value: &Value,
        attributes: Attributes,
    ) -> Result<(), Exception> {
        self.check(object);
        self.check(value);
        let key = self.atom(key.into())?;
        let flags = attributes.flags() | qjs::JS_PROP_THROW as std::ffi::c_int;
        // SAFETY: (3), (4), (5); the count of the clone moves to the engine.
        let status = unsafe {
            qjs::JS_DefinePropertyValue(self.raw(), object.raw(), key.raw, value.clone().into_raw(), flags)
        };
        self.succeeded(status).map(drop)
    }

    /// Defines an own accessor property without a setter. `attributes.writable` means nothing here.
    ///
    /// # Errors
    /// A TypeError when the object does not allow it.
    pub fn define_getter<'a>(
        &self,
        object: &Value,
        key: impl Into<PropertyKey<'a>>,
        getter: &Value,
        attributes: Attributes,
    ) -> Result<(), Exception> {
        self.check(object);
        self.check(getter);
        let key = self.atom(key.into())?;
        let flags =
            Attributes { writable: false, ..attributes }.flags() | qjs::JS_PROP_THROW as std::ffi::c_int;
        let getter = getter.clone().into_raw();
        // SAFETY: (3), (4), (5); the count of the clone moves to the engine.
        let status = unsafe {
            qjs::JS_DefinePropertyGetSet(self.raw(), object.raw(), key.raw, getter, qjs::JS_UNDEFINED, flags)
        };
        self.succeeded(status).map(drop)
    }

    /// The getter of an own accessor property; `None` when there is no such property or it has no getter.
    ///
    /// # Errors
    /// What a proxy throws.
    pub fn own_getter<'a>(
        &self,
        object: &Value,
        key: impl Into<PropertyKey<'a>>,
    ) -> Result<Option<Value>, Exception> {
        let found = self.own_property(object, key.into())?;
        Ok(found.map(|found| found.getter).filter(|getter| !getter.is_undefined()))
    }

    /// The value of an own data property; `None` when there is no such property or it is an accessor.
    ///
    /// # Errors
    /// What a proxy throws.
    pub fn own_data<'a>(
        &self,
        object: &Value,
        key: impl Into<PropertyKey<'a>>,
    ) -> Result<Option<Value>, Exception> {
        let found = self.own_property(object, key.into())?;
        Ok(found.filter(|found| !found.is_accessor).map(|found| found.value))
    }

    fn own_property(&self, object: &Value, key: PropertyKey<'_>) -> Result<Option<OwnProperty>, Exception> {
        self.check(object);
        let key = self.atom(key)?;
        let mut found = qjs::JSPropertyDescriptor {
            flags: 0,
            value: qjs::JS_UNDEFINED,
            getter: qjs::JS_UNDEFINED,
            setter: qjs::JS_UNDEFINED,
        };
        // SAFETY: (3), (4), (5)
        let status = unsafe { qjs::JS_GetOwnProperty(self.raw(), &mut found, object.raw(), key.raw) };
        if !self.succeeded(status)? {
            return Ok(None);
        }
        let is_accessor = found.flags & qjs::JS_PROP_GETSET as std::ffi::c_int != 0;
        // SAFETY: (3): a found descriptor carries a count of each of its values.
        let [value, getter, _setter] = [found.value, found.getter, found.setter]
            .map(|raw| unsafe { Value::from_owned(self.engine(), raw) });
        Ok(Some(OwnProperty { value, getter, is_accessor }))
    }

    /// Whether the object or one of its prototypes has the property.
    ///
    /// # Errors
    /// What a proxy throws.
    pub fn has<'a>(&self, object: &Value, key: impl Into<PropertyKey<'a>>) -> Result<bool, Exception> {
        self.check(object);
        let key = self.atom(key.into())?;
        // SAFETY: (3), (4), (5)
        let status = unsafe { qjs::JS_HasProperty(self.raw(), object.raw(), key.raw) };
        self.succeeded(status)
    }

    /// `delete object[key]`. `false` when the property is there to stay.
    ///
    /// # Errors
    /// What a proxy throws.
    pub fn delete<'a>(&self, object: &Value, key: impl Into<PropertyKey<'a>>) -> Result<bool, Exception> {
        self.check(object);
        let key = self.atom(key.into())?;
        // SAFETY: (3), (4), (5)
        let status = unsafe { qjs::JS_DeleteProperty(self.raw(), object.raw(), key.raw, 0) };
        self.succeeded(status)
    }

    /// The names of the object's own enumerable properties, Symbols left out, as `Object.keys` lists them.
    ///
    /// # Errors
    /// What a proxy throws.
    pub fn keys(&self, object: &Value) -> Result<Vec<String>, Exception> {
        self.check(object);
        let (mut table, mut len) = (std::ptr::null_mut(), 0);
        let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as std::ffi::c_int;
        // SAFETY: (3), (4), (5)
        let status =
            unsafe { qjs::JS_GetOwnPropertyNames(self.raw(), &mut table, &mut len, object.raw(), flags) };
        self.succeeded(status)?;
        let mut names = Vec::with_capacity(len as usize);
        for index in 0..len as usize {
            // SAFETY: the engine gave a table of `len` entries, freed below.
            let atom = unsafe { (*table.add(index)).atom };
            // SAFETY: (4); a live atom of the table.
            names.push(
                self.own(unsafe { qjs::JS_AtomToString(self.raw(), atom) })
                    .and_then(|name| self.to_string(&name)),
            );
        }
        // SAFETY: the table that the engine gave us.
        unsafe { qjs::JS_FreePropertyEnum(self.raw(), table, len) };
        names.into_iter().collect()
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
        self.check(new_target);
        // The engine takes the caller's word for it.
        // SAFETY: (3), (4), (5)
        if !unsafe { qjs::JS_IsConstructor(self.raw(), new_target.raw()) } {
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

    fn atom(&self, key: PropertyKey<'_>) -> Result<Atom<'_>, Exception> {
        // SAFETY: (3), (4), (5); a name is one `str`.
        let raw = unsafe {
            match key {
                PropertyKey::Name(name) => {
                    qjs::JS_NewAtomLen(self.raw(), name.as_ptr().cast(), name.len() as _)
                }
                PropertyKey::Index(index) => qjs::JS_NewAtomUInt32(self.raw(), index),
                PropertyKey::Value(value) => {
                    self.check(value);
                    qjs::JS_ValueToAtom(self.raw(), value.raw())
                }
            }
        };
        if raw == qjs::JS_ATOM_NULL { Err(self.take_exception()) } else { Ok(Atom { realm: self, raw }) }
    }
}

/// An own property, as it was when it was looked at.
struct OwnProperty {
    value: Value,
    getter: Value,
    is_accessor: bool,
}

/// A property key inside the engine, counted like a value.
struct Atom<'a> {
    realm: &'a Realm,
    raw: qjs::JSAtom,
}

impl Drop for Atom<'_> {
    fn drop(&mut self) {
        // SAFETY: (4); the count that this handle owns.
        unsafe { qjs::JS_FreeAtom(self.realm.raw(), self.raw) };
    }
}
