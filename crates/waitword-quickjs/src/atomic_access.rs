//! What the engine leaves out where `Atomics` loads and stores: questions that the standard asks before anything else.
//!
//! - Is the array out of the bounds of its buffer, or is the buffer immutable and about to be written to? Then there is
//!   a TypeError before the index is coerced (ValidateTypedArray). The engine has a RangeError for the one, and writes to
//!   the other, which scripts were promised would never change.
//! - Has another agent grown the memory? The engine's view still has its old length then (see
//!   [`crate::shared_array_buffer`]), and a RangeError for what lies behind it.
//!
//! The access itself stays the engine's. Most programs have none of this memory, and to ask costs as much as the access:
//! so nobody asks until some was made ([`expect_unusual_memory`]).

use std::sync::atomic::{AtomicBool, Ordering};

use crate::ffi::{Attributes, Call, Exception, Realm, Value};
use crate::shared_array_buffer;

/// What a function does with the element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// The functions of `Atomics`, by name, `length` and access.
const ACCESSES: [(&str, u8, Access); 9] = [
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

/// The functions of `ArrayBuffer.prototype` that make a buffer immutable, or can leave an array out of bounds.
const ORIGINS: [(&str, u8); 3] = [("resize", 1), ("sliceToImmutable", 2), ("transferToImmutable", 0)];

/// Whether this process has made memory that has to be asked about. Of all agents, because memory that grows goes from
/// one to another.
static IS_UNUSUAL_MADE: AtomicBool = AtomicBool::new(false);

/// Memory that can grow or shrink, or that must not be written to, is about to be made: from now on each access asks.
pub(crate) fn expect_unusual_memory() {
    // Whoever gets the memory from here gets it by a way that synchronizes; this need not.
    IS_UNUSUAL_MADE.store(true, Ordering::Relaxed);
}

/// Puts the questions in front of a realm's functions.
pub(crate) fn install(realm: &Realm) -> Result<(), Exception> {
    let atomics = realm.get(&realm.global(), "Atomics")?;
    for (name, length, access) in ACCESSES {
        put_before(realm, &atomics, name, length, move |realm, call| {
            if IS_UNUSUAL_MADE.load(Ordering::Relaxed) { validate(realm, call, access) } else { Ok(()) }
        })?;
    }
    let array_buffers = realm.get(&realm.get(&realm.global(), "ArrayBuffer")?, "prototype")?;
    for (name, length) in ORIGINS {
        put_before(realm, &array_buffers, name, length, |_, _| {
            expect_unusual_memory();
            Ok(())
        })?;
    }
    Ok(())
}

/// Replaces a function of the engine by one that runs `before` and then the engine's.
fn put_before(
    realm: &Realm,
    object: &Value,
    name: &str,
    length: u8,
    before: impl Fn(&Realm, &Call<'_>) -> Result<(), Exception> + 'static,
) -> Result<(), Exception> {
    let engines = realm.get(object, name)?;
    let replacement = realm.closure(name, length, move |realm, call| {
        before(realm, call)?;
        call.forward(&engines)
    })?;
    realm.define(object, name, &replacement, Attributes::BUILT_IN)
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
