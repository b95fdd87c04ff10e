//! What ArrayBuffers and SharedArrayBuffers share: how their constructors are put in place, the lengths that these are
//! asked for and `slice`, by the standard's steps; and whether there is any memory that `Atomics` and the accessors of
//! DataViews have to ask about before each access.
//!
//! A species constructor is a script. It may shorten an ArrayBuffer, of which what is left is copied then, and the engine has a
//! TypeError; and it may return another object on the very memory of a SharedArrayBuffer, which is a TypeError, and the
//! engine copies the memory onto itself.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::ffi::{Attributes, Call, Exception, Realm, Value};

/// Puts a constructor in the place of the engine's, whose prototype and species it gets, in a realm that no script
/// has seen yet.
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

/// The length that the constructor is called with, and the maximum, if the buffer is to have one.
///
/// # Errors
/// What a coercion throws; a RangeError when the buffer would start longer than it may become.
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
    // AllocateArrayBuffer, AllocateSharedArrayBuffer: before the prototype is asked for.
    if length > max {
        return Err(realm.range_error(&format!("byteLength {length} is more than maxByteLength {max}")));
    }
    Ok((length, Some(max)))
}

/// What a `slice` is made of.
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
    /// Of a realm that no script has seen yet. `constructor` makes the buffers.
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

    /// `this` is a buffer of the kind that the constructor makes.
    pub(crate) fn call(&self, realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
        let buffer = call.this();
        // IsDetachedBuffer, of the source: a TypeError.
        let length = byte_length(realm, &buffer)? as f64;
        // The relative start and end, within the length of now.
        let relative = |value: &Value| -> Result<f64, Exception> {
            let integer = realm.to_integer_or_infinity(value)?;
            Ok(if integer < 0.0 { (length + integer).max(0.0) } else { integer.min(length) })
        };
        let first = relative(&call.argument(0))?;
        let end = call.argument(1);
        let end = if end.is_undefined() { length } else { relative(&end)? };
        let new_length = (end - first).max(0.0);
        // SpeciesConstructor of the source makes the new buffer: a script may run.
        let constructor = self.species_constructor(realm, &buffer)?;
        let new = realm.construct(&constructor, &[realm.number(new_length)])?;
        // RequireInternalSlot(new, [[ArrayBufferData]]), and IsSharedArrayBuffer(new) as IsSharedArrayBuffer(O).
        if !realm.is_same_class(&new, &buffer) {
            return Err(realm.type_error("the species constructor has made no buffer of this kind"));
        }
        // IsDetachedBuffer, of the new buffer: a TypeError.
        let room = byte_length(realm, &new)? as f64;
        if realm.is_immutable_buffer(&new) {
            return Err(realm.type_error("the species constructor has made an immutable buffer"));
        }
        // The source itself, or another object on its Shared Data Block: a TypeError.
        if is_same_memory(realm, &new, &buffer) {
            return Err(realm.type_error("the species constructor has returned the buffer that is sliced"));
        }
        if room < new_length {
            return Err(realm.type_error("the species constructor has made a buffer that is too small"));
        }
        // The steps above may have detached O, which is a TypeError, or shortened it.
        let count = new_length.min(byte_length(realm, &buffer)? as f64 - first);
        if count > 0.0 {
            // CopyDataBlockBytes, by the engine: views on buffers that were just looked at.
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
            return Err(realm.type_error("the constructor of this buffer is no object"));
        }
        let species = realm.get(&constructor, &self.species)?;
        if species.is_undefined() || species.is_null() {
            return Ok(self.constructor.clone());
        }
        if !realm.is_constructor(&species) {
            return Err(realm.type_error("the species of this buffer is no constructor"));
        }
        Ok(species)
    }
}

/// Whether both are one buffer, or lie on the same block of shared memory.
pub(crate) fn is_same_memory(realm: &Realm, one: &Value, other: &Value) -> bool {
    let block = |buffer: &Value| realm.shared_block(buffer);
    one.is_same_object(other) || block(one).is_some_and(|one| block(other) == Some(one))
}

/// ArrayBufferByteLength(buffer, seq-cst), with a TypeError for one that is detached.
fn byte_length(realm: &Realm, buffer: &Value) -> Result<usize, Exception> {
    realm.catch_up()?;
    realm.buffer_byte_length(buffer)
}

/// Whether this process has made memory that has to be asked about. Of all agents, because memory that grows goes from
/// one to another.
static IS_UNUSUAL_MADE: AtomicBool = AtomicBool::new(false);

/// Memory that can grow or shrink, or that must not be written to, is about to be made: from now on each access asks.
pub(crate) fn expect_unusual_memory() {
    // Another agent gets the memory by a way that synchronizes; this store need not.
    IS_UNUSUAL_MADE.store(true, Ordering::Relaxed);
}

/// Whether there may be such memory.
#[inline(always)]
pub(crate) fn is_unusual_memory_made() -> bool {
    IS_UNUSUAL_MADE.load(Ordering::Relaxed)
}
