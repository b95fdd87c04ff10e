//! Throws a RangeError for strings longer than V8's limit before the engine begins to create them. The engine's own limit is twice as high,
//! and it cannot be interrupted while it fills such a string, or while it reads the elements of an array of 10^9 holes.
//!
//! The length is checked only where that runs no script. Other functions that grow a string (`+`, `concat`, `replaceAll`) are left to the
//! engine's own limit.

use crate::ffi::{Call, Exception, Realm, Value};

/// V8's limit of characters in a string, on 64 bits.
const MOST: f64 = ((1_u32 << 29) - 24) as f64;

/// A lower bound of the length of a call's result, if it can be computed without running a script.
type Estimate = fn(&Realm, &Call<'_>) -> Result<Option<f64>, Exception>;

/// Adds the check to a realm's functions.
pub(crate) fn install(realm: &Realm) -> Result<(), Exception> {
    let functions: [(&str, &str, Estimate); 4] = [
        ("String", "repeat", repeat),
        ("String", "padEnd", pad),
        ("String", "padStart", pad),
        ("Array", "join", join),
    ];
    for (class, name, estimate) in functions {
        let prototype = realm.get(&realm.get(&realm.global(), class)?, "prototype")?;
        realm.replace(&prototype, name, move |realm, call, engines| match estimate(realm, call)? {
            Some(length) if length > MOST => Err(realm.range_error("Invalid string length")),
            _ => call.forward(engines),
        })?;
    }
    Ok(())
}

/// `String.prototype.repeat(count)`
fn repeat(realm: &Realm, call: &Call<'_>) -> Result<Option<f64>, Exception> {
    let (length, count) = (length(realm, &call.this())?, call.argument(0).as_number());
    // Beyond this the engine throws a RangeError for the count itself.
    Ok(length
        .zip(count)
        .filter(|(_, count)| *count <= f64::from(i32::MAX))
        .map(|(length, count)| length * count.trunc()))
}

/// `String.prototype.padEnd(maxLength, fillString)`, `padStart`
fn pad(realm: &Realm, call: &Call<'_>) -> Result<Option<f64>, Exception> {
    let fill = match call.argument(1).is_undefined() {
        true => Some(1.0),
        false => length(realm, &call.argument(1))?,
    };
    let (this, most) = (length(realm, &call.this())?, call.argument(0).as_number());
    let is_filled = fill.is_some_and(|fill| fill > 0.0);
    Ok(this.zip(most).filter(|(this, most)| is_filled && most > this).map(|(_, most)| most.trunc()))
}

/// `Array.prototype.join(separator)` of a real array: the length of the separators alone.
fn join(realm: &Realm, call: &Call<'_>) -> Result<Option<f64>, Exception> {
    let this = call.this();
    if !this.is_array() {
        return Ok(None);
    }
    let separator = match call.argument(0).is_undefined() {
        true => Some(1.0),
        false => length(realm, &call.argument(0))?,
    };
    let elements = realm.get(&this, "length")?.as_number();
    Ok(separator.zip(elements).map(|(separator, elements)| separator * (elements - 1.0)))
}

/// The length of a string.
fn length(realm: &Realm, value: &Value) -> Result<Option<f64>, Exception> {
    if value.is_string() { Ok(realm.get(value, "length")?.as_number()) } else { Ok(None) }
}
