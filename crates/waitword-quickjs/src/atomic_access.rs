//! What the engine leaves out where `Atomics` loads and stores: two questions that the standard asks before anything else.
//!
//! - Is the array out of the bounds of its buffer, or is the buffer immutable and about to be written to? The engine
//!   asks neither, and so writes to memory that scripts were promised would never change. Both are TypeErrors, before
//!   the index is coerced (ValidateTypedArray).
//! - Has another agent grown the memory? The engine's view still has its old length then (see
//!   [`crate::shared_array_buffer`]), and what lies behind it would be a RangeError.
//!
//! The access itself stays the engine's.

use crate::ffi::{Attributes, Call, Exception, Realm};
use crate::shared_array_buffer;

/// What a function does with the element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// The functions, by name, `length` and access.
const FUNCTIONS: [(&str, u8, Access); 9] = [
    ("add", 3, Access::Write),
    ("and", 3, Access::Write),
    ("compareExchange", 4, Access::Write),
    ("exchange", 3, Access::Write),
    ("load", 2, Access::Read),
    ("or", 3, Access::Write),
    ("store", 3, Access::Write),
    ("sub", 3, Access::Write),
    ("xor", 3, Access::Write),
];

/// Puts the questions in front of a realm's functions.
pub(crate) fn install(realm: &Realm) -> Result<(), Exception> {
    let atomics = realm.get(&realm.global(), "Atomics")?;
    for (name, length, access) in FUNCTIONS {
        let engines = realm.get(&atomics, name)?;
        let asking = realm.closure(name, length, move |realm, call| {
            validate(realm, call, access)?;
            call.forward(&engines)
        })?;
        realm.define(&atomics, name, &asking, Attributes::BUILT_IN)?;
    }
    Ok(())
}

/// The part of ValidateTypedArray(typedArray, unordered, accessMode) that the engine does not do itself.
fn validate(realm: &Realm, call: &Call<'_>, access: Access) -> Result<(), Exception> {
    let array = call.argument(0);
    if realm.typed_array_kind(&array).is_none() {
        // The engine throws the TypeError for what is no typed array.
        return Ok(());
    }
    // If IsTypedArrayOutOfBounds(taRecord), throw a TypeError.
    let view = realm.typed_array_view(&array)?;
    // If accessMode is write and IsImmutableBuffer(buffer), throw a TypeError.
    if access == Access::Write && realm.is_immutable_buffer(&view.buffer) {
        return Err(realm.type_error("cannot write to this typed array: its buffer is immutable"));
    }
    // TypedArrayLength(taRecord) is that of today.
    shared_array_buffer::catch_up(realm, &view.buffer)
}
