//! What ArrayBuffers and SharedArrayBuffers have in common: replacing their constructors, the lengths passed to these, and `slice`, by the
//! standard's steps. Also whether there is any memory that `Atomics` and the accessors of DataViews have to check before each access.
//!
//! A species constructor is a script, and may
//! - shorten an ArrayBuffer: the standard copies what is left, the engine throws a TypeError;
//! - return another object on the same memory as a SharedArrayBuffer: the standard throws a TypeError, the engine copies the memory onto
//!   itself.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::ffi::{Attributes, Call, Exception, Realm, Value};

/// Replaces a constructor of the engine, whose prototype and species the new one gets, in a realm that no script has used yet.
pub(crate) fn replace_constructor(
    realm: &Realm,
    name: &str,
    engines: &Value,
    ours: &Value,
) -> Result<(), Exception> {
    let global = realm.global();
    let species = realm.get(&realm.get(&global, "Symbol")?, "species")?;
    if let Some(getter) = realm.own_getter(engines, &species)? {
        realm.define_getter(ours, &species, &getter, Attributes::BUILT_IN)?;
    }
    realm.link_constructor(ours, &realm.get(engines, "prototype")?)?;
    realm.define(&global, name, ours, Attributes::BUILT_IN)
}

/// The length with which the constructor is called, and the maximum, if there is one.
///
/// # Errors
/// What a coercion throws; a RangeError if the length exceeds the maximum.
pub(crate) fn wanted_lengths(realm: &Realm, call: &Call<'_>) -> Result<(u64, Option<u64>), Exception> {
    // ToIndex coerces the length before the options are read.
    let length = realm.to_index(&call.argument(0))?;
    // GetArrayBufferMaxByteLengthOption(options): empty unless options is an object with such a property.
    let options = call.argument(1);
    let max = if options.is_object() { realm.get(&options, "maxByteLength")? } else { realm.undefined() };
    if max.is_undefined() {
        return Ok((length, None));
    }
    let max = realm.to_index(&max)?;
    // AllocateArrayBuffer, AllocateSharedArrayBuffer: before the prototype is read.
    if length > max {
        return Err(realm.range_error(&format!("byteLength {length} exceeds maxByteLength {max}")));
    }
    Ok((length, Some(max)))
}

/// The functions that `slice` needs.
pub(crate) struct Slice {
    /// The default constructor.
    constructor: Value,
    species: Value,
    /// `Uint8Array`
    bytes: Value,
    /// `%TypedArray%.prototype.set`
    set: Value,
}

impl Slice {
    /// Takes the functions from a realm that no script has used yet. `constructor` creates the buffers.
    pub(crate) fn new(realm: &Realm, constructor: Value) -> Result<Self, Exception> {
        let global = realm.global();
        let bytes = realm.get(&global, "Uint8Array")?;
        let typed_array = realm.get(&realm.prototype(&bytes)?, "prototype")?;
        Ok(Self {
            species: realm.get(&realm.get(&global, "Symbol")?, "species")?,
            set: realm.get(&typed_array, "set")?,
            constructor,
            bytes,
        })
    }

    /// Performs `slice`. `this` is a buffer of the kind that the constructor creates.
    pub(crate) fn call(&self, realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
        let buffer = call.this();
        // IsDetachedBuffer, of the source: a TypeError.
        let length = byte_length(realm, &buffer)? as f64;
        // The relative start and end, clamped to the current length.
        let relative = |value: &Value| -> Result<f64, Exception> {
            let integer = realm.to_integer_or_infinity(value)?;
            Ok(if integer < 0.0 { (length + integer).max(0.0) } else { integer.min(length) })
        };
        let first = relative(&call.argument(0))?;
        let end = call.argument(1);
        let end = if end.is_undefined() { length } else { relative(&end)? };
        let new_length = (end - first).max(0.0);
        // SpeciesConstructor of the source creates the new buffer. A script may run.
        let constructor = self.species_constructor(realm, &buffer)?;
        let new = realm.construct(&constructor, &[realm.number(new_length)])?;
        // RequireInternalSlot(new, [[ArrayBufferData]]), and IsSharedArrayBuffer(new) as IsSharedArrayBuffer(O).
        if !realm.is_same_class(&new, &buffer) {
            return Err(realm.type_error("the species constructor returned an object of another kind"));
        }
        // IsDetachedBuffer, of the new buffer: a TypeError.
        let room = byte_length(realm, &new)? as f64;
        if realm.is_immutable_buffer(&new) {
            return Err(realm.type_error("the species constructor returned an immutable buffer"));
        }
        // The source itself, or another object on its Shared Data Block: a TypeError.
        if is_same_memory(realm, &new, &buffer) {
            return Err(realm.type_error("the species constructor returned the source buffer"));
        }
        if room < new_length {
            return Err(realm.type_error("the species constructor returned a buffer that is too small"));
        }
        // The steps above may have detached O, which is a TypeError, or shortened it.
        let count = new_length.min(byte_length(realm, &buffer)? as f64 - first);
        if count > 0.0 {
            // CopyDataBlockBytes, by the engine, with views on the buffers that were just checked.
            let from = [buffer, realm.number(first), realm.number(count)];
            let from = realm.construct(&self.bytes, &from)?;
            let to = realm.construct(&self.bytes, std::slice::from_ref(&new))?;
            realm.call(&self.set, &to, &[from])?;
        }
        Ok(new)
    }

    /// SpeciesConstructor(buffer, default)
    fn species_constructor(&self, realm: &Realm, buffer: &Value) -> Result<Value, Exception> {
        let constructor = realm.get(buffer, "constructor")?;
        if constructor.is_undefined() {
            return Ok(self.constructor.clone());
        }
        if !constructor.is_object() {
            return Err(realm.type_error("the constructor of this buffer is not an object"));
        }
        let species = realm.get(&constructor, &self.species)?;
        if species.is_undefined() || species.is_null() {
            return Ok(self.constructor.clone());
        }
        if !realm.is_constructor(&species) {
            return Err(realm.type_error("the species of this buffer is not a constructor"));
        }
        Ok(species)
    }
}

/// Whether both are the same buffer, or are on the same block of shared memory.
pub(crate) fn is_same_memory(realm: &Realm, one: &Value, other: &Value) -> bool {
    let block = |buffer: &Value| realm.shared_block(buffer);
    one.is_same_object(other) || block(one).is_some_and(|one| block(other) == Some(one))
}

/// ArrayBufferByteLength(buffer, seq-cst), with a TypeError if the buffer is detached.
fn byte_length(realm: &Realm, buffer: &Value) -> Result<usize, Exception> {
    realm.catch_up()?;
    realm.buffer_byte_length(buffer)
}

/// Whether this process has created memory that has to be checked. One flag for all agents, because they share memory that grows.
static IS_UNUSUAL_MADE: AtomicBool = AtomicBool::new(false);

/// Makes each access check from now on. To be called before memory is created that can grow or shrink, or must not be written to.
pub(crate) fn expect_unusual_memory() {
    // Relaxed: an agent that gets the memory from another synchronizes with it.
    IS_UNUSUAL_MADE.store(true, Ordering::Relaxed);
}

/// Whether there may be such memory.
#[inline(always)]
pub(crate) fn is_unusual_memory_made() -> bool {
    IS_UNUSUAL_MADE.load(Ordering::Relaxed)
}
