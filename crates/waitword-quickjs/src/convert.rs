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

impl IntoJs for bool {
    fn into_js(self, realm: &Realm) -> Result<Value, Exception> {
        Ok(realm.bool(self))
    }
}

impl IntoJs for f64 {
    fn into_js(self, realm: &Realm) -> Result<Value, Exception> {
        Ok(realm.number(self))
    }
}

impl IntoJs for i32 {
    fn into_js(self, realm: &Realm) -> Result<Value, Exception> {
        Ok(realm.number(self))
    }
}

impl IntoJs for i64 {
    /// As a BigInt.
    fn into_js(self, realm: &Realm) -> Result<Value, Exception> {
        realm.bigint(self)
    }
}

impl IntoJs for &str {
    fn into_js(self, realm: &Realm) -> Result<Value, Exception> {
        realm.string(self)
    }
}

impl IntoJs for SharedBlock {
    /// As a SharedArrayBuffer on the block.
    ///
    /// # Errors
    /// Also a RangeError when the block has 2^31 bytes or more: the engine cannot handle that many.
    fn into_js(self, realm: &Realm) -> Result<Value, Exception> {
        realm.shared_array_buffer(&self)
    }
}

impl IntoJs for Value {
    /// The value itself.
    ///
    /// # Panics
    /// When used, if it belongs to another agent.
    fn into_js(self, _: &Realm) -> Result<Value, Exception> {
        Ok(self)
    }
}
