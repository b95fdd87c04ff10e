//! Values on their way between a Rust program and its scripts.

use waitword_agents::SharedBlock;

use crate::ffi::{Exception, Realm, Value};

/// A JavaScript value as Rust sees it.
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
    /// A BigInt that fits.
    BigInt(i128),
    /// A string, with lone surrogates replaced by U+FFFD.
    String(String),
    /// Anything else: an object, a function, a Symbol, a larger BigInt. It can be used with the agent's [`Realm`], and
    /// keeps the agent's engine alive.
    Other(Value),
}

impl JsValue {
    /// Copies what is no object out of the engine. Runs no script.
    ///
    /// # Errors
    /// When the engine has no memory to flatten a string.
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

    /// The number, if this is a Number.
    pub fn as_number(&self) -> Option<f64> {
        if let Self::Number(value) = self { Some(*value) } else { None }
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(value) = self { Some(value) } else { None }
    }
}

/// Rust values that can be handed to a script.
pub trait IntoJs {
    /// The value as one of this realm.
    ///
    /// # Errors
    /// When the engine's memory limit is reached.
    fn into_js(self, realm: &Realm) -> Result<Value, Exception>;
}

/// Rust values that scripts can hand over, converted as the standard's functions convert their arguments.
pub trait FromJs: Sized {
    /// What the value is as one of Rust. Objects run their scripts for it.
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
    /// As `undefined`.
    (), _nothing, realm => Ok(realm.undefined());
    bool, value, realm => Ok(realm.bool(value));
    f64, value, realm => Ok(realm.number(value));
    i32, value, realm => Ok(realm.number(value));
    u32, value, realm => Ok(realm.number(value));
    /// As a BigInt.
    i64, value, realm => realm.bigint(value);
    &str, value, realm => realm.string(value);
    String, value, realm => realm.string(&value);
    /// As a SharedArrayBuffer on the block.
    ///
    /// # Errors
    /// Also a RangeError when the block has 2^31 bytes or more: the engine cannot handle that many.
    SharedBlock, block, realm => realm.shared_array_buffer(&block);
    /// The value itself.
    ///
    /// # Panics
    /// When used, if it belongs to another agent.
    Value, value, _realm => Ok(value);
}

impl<T: IntoJs> IntoJs for Result<T, Exception> {
    /// The value, or what is thrown in its place.
    fn into_js(self, realm: &Realm) -> Result<Value, Exception> {
        self?.into_js(realm)
    }
}

impl<T: IntoJs> IntoJs for Option<T> {
    /// `None` as `undefined`.
    fn into_js(self, realm: &Realm) -> Result<Value, Exception> {
        self.map_or_else(|| Ok(realm.undefined()), |value| value.into_js(realm))
    }
}

impl<T: IntoJs> IntoJs for Vec<T> {
    /// As an Array.
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
    /// ToBoolean.
    bool, value, realm => Ok(realm.to_bool(value));
    /// ToInt32.
    i32, value, realm => realm.to_i32(value);
    /// ToUint32.
    u32, value, realm => Ok(realm.to_i32(value)? as u32);
    /// ToIndex.
    u64, value, realm => realm.to_index(value);
    /// ToNumber.
    f64, value, realm => realm.to_number(value);
    /// ToString, with lone surrogates replaced by U+FFFD.
    String, value, realm => realm.to_string(value);
    /// The value itself.
    Value, value, _realm => Ok(value.clone());
}

impl<T: FromJs> FromJs for Option<T> {
    /// `undefined` as `None`.
    fn from_js(realm: &Realm, value: &Value) -> Result<Self, Exception> {
        if value.is_undefined() { Ok(None) } else { T::from_js(realm, value).map(Some) }
    }
}

impl<T: FromJs> FromJs for Vec<T> {
    /// The elements of an Array, or of what has a length and elements like one.
    fn from_js(realm: &Realm, value: &Value) -> Result<Self, Exception> {
        let length = u32::from_js(realm, &realm.get(value, "length")?)?;
        (0..length).map(|index| T::from_js(realm, &realm.get(value, index)?)).collect()
    }
}
