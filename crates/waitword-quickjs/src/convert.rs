//! Conversions between the values of Rust and of scripts.

use waitword_agents::SharedBlock;

use crate::ffi::{Exception, Realm, Value};

/// A JavaScript value as Rust data.
#[derive(Clone, Debug)]
pub enum JsValue {
    /// `undefined`
    Undefined,
    /// `null`
    Null,
    /// A Boolean.
    Bool(bool),
    /// A Number.
    Number(f64),
    /// A BigInt that fits into 128 bits.
    BigInt(i128),
    /// A string, with lone surrogates replaced by U+FFFD.
    String(String),
    /// Any other value: an object, a function, a Symbol, a larger BigInt. It can be used with the agent's [`Realm`], and keeps the
    /// agent's engine alive.
    Other(Value),
}

impl JsValue {
    /// Copies a primitive value out of the engine; other values become [`Other`](Self::Other). Runs no script.
    ///
    /// # Errors
    /// If the engine has no memory to flatten a string.
    pub fn from_value(realm: &Realm, value: Value) -> Result<Self, Exception> {
        Ok(if value.is_undefined() {
            Self::Undefined
        } else if value.is_null() {
            Self::Null
        } else if let Some(value) = value.as_bool() {
            Self::Bool(value)
        } else if let Some(value) = value.as_number() {
            Self::Number(value)
        } else if value.is_string() {
            Self::String(realm.to_string(&value)?)
        } else if value.is_bigint() {
            realm.to_string(&value)?.parse().map_or(Self::Other(value), Self::BigInt)
        } else {
            Self::Other(value)
        })
    }

    /// Returns the number, if this is a Number.
    pub fn as_number(&self) -> Option<f64> {
        if let Self::Number(value) = self { Some(*value) } else { None }
    }

    /// Returns the text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(value) = self { Some(value) } else { None }
    }
}

/// A conversion of a Rust value into a JavaScript value.
pub trait IntoJs {
    /// Converts the value into a JavaScript value of this realm.
    ///
    /// # Errors
    /// If the engine's memory limit is reached.
    fn into_js(self, realm: &Realm) -> Result<Value, Exception>;
}

/// A conversion of a JavaScript value into a Rust value, as the standard's functions coerce their arguments.
pub trait FromJs: Sized {
    /// Converts a JavaScript value. For objects, this may run scripts.
    ///
    /// # Errors
    /// What the conversion throws.
    fn from_js(realm: &Realm, value: &Value) -> Result<Self, Exception>;
}

macro_rules! into_js {
    ($($(#[$attribute:meta])* $type:ty, $value:ident, $realm:ident => $made:expr;)*) => {$(
        impl IntoJs for $type {
            $(#[$attribute])*
            fn into_js(self, $realm: &Realm) -> Result<Value, Exception> {
                let $value = self;
                $made
            }
        }
    )*};
}

into_js! {
    /// Converts into `undefined`.
    (), _nothing, realm => Ok(realm.undefined());
    bool, value, realm => Ok(realm.bool(value));
    f64, value, realm => Ok(realm.number(value));
    i32, value, realm => Ok(realm.number(value));
    u32, value, realm => Ok(realm.number(value));
    /// Converts into a BigInt.
    i64, value, realm => realm.bigint(value);
    &str, value, realm => realm.string(value);
    String, value, realm => realm.string(&value);
    /// Creates a SharedArrayBuffer on the block.
    ///
    /// # Errors
    /// Also a RangeError if the block has 2^31 bytes or more, which the engine does not support.
    SharedBlock, block, realm => realm.shared_array_buffer(&block);
    /// Returns the value itself.
    ///
    /// # Panics
    /// Using the result panics if it belongs to another agent.
    Value, value, _realm => Ok(value);
}

impl<T: IntoJs> IntoJs for Result<T, Exception> {
    /// Converts the value, or throws the exception.
    fn into_js(self, realm: &Realm) -> Result<Value, Exception> {
        self?.into_js(realm)
    }
}

impl<T: IntoJs> IntoJs for Option<T> {
    /// Converts `None` into `undefined`.
    fn into_js(self, realm: &Realm) -> Result<Value, Exception> {
        self.map_or_else(|| Ok(realm.undefined()), |value| value.into_js(realm))
    }
}

impl<T: IntoJs> IntoJs for Vec<T> {
    /// Converts into an Array.
    fn into_js(self, realm: &Realm) -> Result<Value, Exception> {
        let elements = self.into_iter().map(|each| each.into_js(realm)).collect::<Result<Vec<_>, _>>()?;
        realm.array(&elements)
    }
}

macro_rules! from_js {
    ($($(#[$attribute:meta])* $type:ty, $value:ident, $realm:ident => $made:expr;)*) => {$(
        impl FromJs for $type {
            $(#[$attribute])*
            fn from_js($realm: &Realm, $value: &Value) -> Result<Self, Exception> {
                $made
            }
        }
    )*};
}

from_js! {
    /// Converts by ToBoolean.
    bool, value, realm => Ok(realm.to_bool(value));
    /// Converts by ToInt32.
    i32, value, realm => realm.to_i32(value);
    /// Converts by ToUint32.
    u32, value, realm => Ok(realm.to_i32(value)? as u32);
    /// Converts by ToIndex.
    u64, value, realm => realm.to_index(value);
    /// Converts by ToNumber.
    f64, value, realm => realm.to_number(value);
    /// Converts by ToString, with lone surrogates replaced by U+FFFD.
    String, value, realm => realm.to_string(value);
    /// Returns the value itself.
    Value, value, _realm => Ok(value.clone());
}

impl<T: FromJs> FromJs for Option<T> {
    /// Converts `undefined` into `None`.
    fn from_js(realm: &Realm, value: &Value) -> Result<Self, Exception> {
        if value.is_undefined() { Ok(None) } else { T::from_js(realm, value).map(Some) }
    }
}

impl<T: FromJs> FromJs for Vec<T> {
    /// Converts the elements of an Array or an array-like object.
    fn from_js(realm: &Realm, value: &Value) -> Result<Self, Exception> {
        let length = u32::from_js(realm, &realm.get(value, "length")?)?;
        (0..length).map(|index| T::from_js(realm, &realm.get(value, index)?)).collect()
    }
}
