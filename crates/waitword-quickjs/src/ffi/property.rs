//! Properties of objects, by keys that are looked up at each use. For keys that are looked up once, see `keys.rs`.

use std::rc::Rc;

use rquickjs_sys as qjs;

use super::handles::{Engine, Exception, Realm, Value};

/// The name of a property: text, an array index, or any value, such as a Symbol.
#[derive(Clone, Copy, Debug)]
pub enum PropertyKey<'a> {
    /// Text.
    Name(&'a str),
    /// An array index.
    Index(u32),
    /// A value, converted by ToPropertyKey.
    Value(&'a Value),
}

macro_rules! property_keys {
    ($($type:ty => $variant:ident,)*) => {$(
        impl<'a> From<$type> for PropertyKey<'a> {
            fn from(key: $type) -> Self {
                Self::$variant(key)
            }
        }
    )*};
}

property_keys! {
    &'a str => Name,
    &'a String => Name,
    u32 => Index,
    &'a Value => Value,
}

/// The attributes of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Whether an assignment changes the value.
    pub writable: bool,
    /// Whether `Object.keys` and `for`-`in` list the property.
    pub enumerable: bool,
    /// Whether the property can be deleted and redefined.
    pub configurable: bool,
}

impl Attributes {
    /// The attributes of a property created by an assignment: all three.
    pub const ASSIGNED: Self = Self { writable: true, enumerable: true, configurable: true };
    /// The attributes of the standard's built-in functions: all but enumerable.
    pub const BUILT_IN: Self = Self { writable: true, enumerable: false, configurable: true };

    pub(super) const fn flags(self) -> std::ffi::c_int {
        let writable = self.writable as u32 * qjs::JS_PROP_WRITABLE;
        let enumerable = self.enumerable as u32 * qjs::JS_PROP_ENUMERABLE;
        let configurable = self.configurable as u32 * qjs::JS_PROP_CONFIGURABLE;
        (writable | enumerable | configurable) as std::ffi::c_int
    }
}

/// These methods run code of scripts where the standard does: getters, setters, proxies. Their errors are what that code throws, or the
/// engine's out-of-memory error.
impl Realm {
    /// Evaluates `object[key]`.
    ///
    /// # Errors
    /// What a getter throws; a TypeError if `object` is `undefined` or `null`.
    pub fn get<'a>(&self, object: &Value, key: impl Into<PropertyKey<'a>>) -> Result<Value, Exception> {
        self.check(object);
        let key = self.atom(key.into())?;
        // SAFETY: (3), (4), (5)
        self.own(unsafe { qjs::JS_GetProperty(self.raw(), object.raw(), key.atom) })
    }

    /// Evaluates `object[key] = value`, as in strict code.
    ///
    /// # Errors
    /// What a setter throws; a TypeError if the property cannot be written.
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
            unsafe { qjs::JS_SetProperty(self.raw(), object.raw(), key.atom, value.clone().into_raw()) };
        self.succeeded(status).map(drop)
    }

    /// Defines or redefines an own property.
    ///
    /// # Errors
    /// A TypeError if the object does not allow it.
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
            qjs::JS_DefinePropertyValue(self.raw(), object.raw(), key.atom, value.clone().into_raw(), flags)
        };
        self.succeeded(status).map(drop)
    }

    /// Defines an own accessor property without a setter. `attributes.writable` is ignored.
    ///
    /// # Errors
    /// A TypeError if the object does not allow it.
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
            qjs::JS_DefinePropertyGetSet(self.raw(), object.raw(), key.atom, getter, qjs::JS_UNDEFINED, flags)
        };
        self.succeeded(status).map(drop)
    }

    /// Returns the getter of an own accessor property, or `None` if there is no such property or it has no getter.
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

    /// Returns the value of an own data property, or `None` if there is no such property or it is an accessor.
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
        // SAFETY: `key` holds a count of its atom.
        unsafe { self.own_property_of_atom(object, key.atom) }
    }

    /// # Safety
    /// The caller holds a count of the atom.
    pub(super) unsafe fn own_property_of_atom(
        &self,
        object: &Value,
        atom: qjs::JSAtom,
    ) -> Result<Option<OwnProperty>, Exception> {
        let mut found = qjs::JSPropertyDescriptor {
            flags: 0,
            value: qjs::JS_UNDEFINED,
            getter: qjs::JS_UNDEFINED,
            setter: qjs::JS_UNDEFINED,
        };
        // SAFETY: (3), (4), (5)
        let status = unsafe { qjs::JS_GetOwnProperty(self.raw(), &mut found, object.raw(), atom) };
        if !self.succeeded(status)? {
            return Ok(None);
        }
        let is_accessor = found.flags & qjs::JS_PROP_GETSET as std::ffi::c_int != 0;
        // SAFETY: (3): a found descriptor carries a count of each of its values.
        let [value, getter, _setter] = [found.value, found.getter, found.setter]
            .map(|raw| unsafe { Value::from_owned(self.engine(), raw) });
        Ok(Some(OwnProperty { value, getter, is_accessor }))
    }

    pub(super) fn atom(&self, key: PropertyKey<'_>) -> Result<Key, Exception> {
        // SAFETY: (3), (4), (5); a name is one `str`.
        let atom = unsafe {
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
        match atom {
            qjs::JS_ATOM_NULL => Err(self.take_exception()),
            atom => Ok(Key { engine: Rc::clone(self.engine()), atom }),
        }
    }
}

/// An own property at the time when it was read.
pub(super) struct OwnProperty {
    pub(super) value: Value,
    getter: Value,
    pub(super) is_accessor: bool,
}

/// A property's name inside the engine. Like a [`Value`], it is reference-counted.
pub struct Key {
    pub(super) engine: Rc<Engine>,
    pub(super) atom: qjs::JSAtom,
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: (1); the count that this handle owns.
        unsafe { qjs::JS_FreeAtomRT(self.engine.raw(), self.atom) };
    }
}
