//! `SharedArrayBuffer` on [`SharedBlock`]s: the constructor, and the members of the prototype that read or change the length.
//!
//! The length of a growable one is stored in the block, and is the same for all agents. `ffi/growth.rs` updates the engine's objects, which
//! have lengths of their own.

use std::rc::Rc;

use waitword_agents::SharedBlock;

use crate::agent_state::{AgentState, Intrinsics};
use crate::buffer_slice::{Slice, expect_unusual_memory, replace_constructor, wanted_lengths};
use crate::ffi::{Attributes, Call, Exception, Realm, Value};

/// The most bytes that the engine supports in a buffer.
const LENGTH_LIMIT: u64 = i32::MAX as u64;

/// The message of the RangeError of CreateSharedByteDataBlock when the allocation fails.
const NO_SHARED_MEMORY: &str = "Array buffer allocation failed: not enough memory for a SharedArrayBuffer";

/// Replaces `SharedArrayBuffer` in a realm that no script has used yet.
pub(crate) fn install(realm: &Realm) -> Result<(), Exception> {
    let global = realm.global();
    let engines = realm.get(&global, "SharedArrayBuffer")?;
    let prototype = realm.get(&engines, "prototype")?;
    let typed_array = realm.prototype(&realm.get(&global, "Int32Array")?)?;
    let intrinsics = Intrinsics {
        view_length: realm.engines_getter(&realm.get(&typed_array, "prototype")?, "length")?,
        constructor: engines,
    };

    let constructor = realm.constructor("SharedArrayBuffer", 1, construct)?;
    replace_constructor(realm, "SharedArrayBuffer", &intrinsics.constructor, &constructor)?;
    // Anything but a buffer on a block is left to the engine, which throws the TypeError. In a guest's runtime the engine may have created
    // the buffer.
    let getters: [(&str, &str, Member); 3] = [
        ("byteLength", "get byteLength", byte_length),
        ("growable", "get growable", growable),
        ("maxByteLength", "get maxByteLength", max_byte_length),
    ];
    for (key, name, member) in getters {
        let engines = realm.engines_getter(&prototype, key)?;
        let getter = realm.closure(name, 0, move |realm, call| {
            let this = call.this();
            realm
                .shared_block(&this)
                .map_or_else(|| call.forward(&engines), |block| member(realm, &this, &block))
        })?;
        realm.define_getter(&prototype, key, &getter, Attributes::BUILT_IN)?;
    }
    realm.replace(&prototype, "grow", |realm, call, engines| {
        realm
            .shared_block(&call.this())
            .map_or_else(|| call.forward(engines), |block| grow(realm, call, &block))
    })?;
    let slice = Slice::new(realm, constructor)?;
    realm.replace(&prototype, "slice", move |realm, call, engines| {
        if realm.shared_block(&call.this()).is_some() {
            slice.call(realm, call)
        } else {
            call.forward(engines)
        }
    })?;

    AgentState::of(realm)?.intrinsics.borrow_mut().push((realm.clone(), Rc::new(intrinsics)));
    Ok(())
}

impl Realm {
    /// Creates a SharedArrayBuffer object on `block`.
    ///
    /// # Errors
    /// A RangeError if the block has 2^31 bytes or more, which the engine does not support, or if there is no memory for the object.
    pub fn shared_array_buffer(&self, block: &SharedBlock) -> Result<Value, Exception> {
        if block.is_growable() {
            expect_unusual_memory();
        }
        self.shared_array_buffer_of(block, block.len())
    }

    /// Creates a SharedArrayBuffer object of length 0 on a block of a fixed length. Such a block has at least one byte, but an object may
    /// have none.
    ///
    /// # Errors
    /// As [`shared_array_buffer`](Self::shared_array_buffer).
    pub fn empty_shared_array_buffer(&self, block: &SharedBlock) -> Result<Value, Exception> {
        self.shared_array_buffer_of(block, 0)
    }
}

/// TypedArrayLength of a view that may track the length of its buffer.
pub(crate) fn current_view_length(realm: &Realm, view: &Value) -> Result<u64, Exception> {
    realm.catch_up()?;
    // The C interface reports the length with which the view was created. The getter returns the current one.
    let length = realm.call(&Intrinsics::of(realm)?.view_length, view, &[])?;
    Ok(length.as_number().unwrap_or(0.0) as u64)
}

/// `new SharedArrayBuffer(length, { maxByteLength })`
fn construct(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let intrinsics = Intrinsics::of(realm)?;
    let new_target = call.this();
    let (length, max) = wanted_lengths(realm, call)?;
    let Some(max) = max else { return construct_fixed(realm, &intrinsics, &new_target, length) };
    // CreateSharedByteDataBlock for the maximum, so that growing never moves it.
    construct_on(realm, &intrinsics, &new_target, length, || {
        (max <= LENGTH_LIMIT).then(|| realm.new_block(length as usize, Some(max as usize)).ok()).flatten()
    })
}

/// AllocateSharedArrayBuffer on a block that is created here; `None` if the allocation fails.
fn construct_on(
    realm: &Realm,
    intrinsics: &Intrinsics,
    new_target: &Value,
    length: u64,
    block: impl FnOnce() -> Option<SharedBlock>,
) -> Result<Value, Exception> {
    // OrdinaryCreateFromConstructor(newTarget, ...): the engine finds the prototype when it creates an empty buffer.
    let prototype = realm.prototype(&realm.construct_as(&intrinsics.constructor, new_target, &[])?)?;
    let block = block().ok_or_else(|| realm.range_error(NO_SHARED_MEMORY))?;
    let buffer = match length {
        0 if !block.is_growable() => realm.empty_shared_array_buffer(&block)?,
        _ => realm.shared_array_buffer(&block)?,
    };
    realm.set_prototype(&buffer, &prototype)?;
    Ok(buffer)
}

/// From this number of bytes on, the block of a fixed length is created here, because the engine writes zeros over a block that it creates:
/// that takes the memory of each page, in a loop that cannot be interrupted. The engine creates smaller ones faster, except in a guest's
/// runtime, where it creates no blocks.
const LAZY_FROM: u64 = 64 << 10;

/// `new SharedArrayBuffer(length)`
fn construct_fixed(
    realm: &Realm,
    intrinsics: &Intrinsics,
    new_target: &Value,
    length: u64,
) -> Result<Value, Exception> {
    // The engine throws the error for a length that it does not support.
    let is_engines = length > LENGTH_LIMIT || (length < LAZY_FROM && !realm.is_guest());
    if is_engines {
        let made = realm.construct_as(&intrinsics.constructor, new_target, &[realm.number(length as f64)]);
        return match realm.take_block_refusal() {
            true => made.map_err(|_| realm.range_error(NO_SHARED_MEMORY)),
            false => made,
        };
    }
    construct_on(realm, intrinsics, new_target, length, || realm.new_block(length.max(1) as usize, None).ok())
}

/// A getter of the prototype, for a buffer on a block.
type Member = fn(&Realm, &Value, &SharedBlock) -> Result<Value, Exception>;

/// `get SharedArrayBuffer.prototype.byteLength`
fn byte_length(realm: &Realm, buffer: &Value, block: &SharedBlock) -> Result<Value, Exception> {
    // A block that is not growable is at least one byte, a buffer may have none.
    let length = if block.is_growable() { block.len() } else { realm.buffer_byte_length(buffer)? };
    Ok(realm.number(length as f64))
}

/// `get SharedArrayBuffer.prototype.growable`
fn growable(realm: &Realm, _: &Value, block: &SharedBlock) -> Result<Value, Exception> {
    Ok(realm.bool(block.is_growable()))
}

/// `get SharedArrayBuffer.prototype.maxByteLength`
fn max_byte_length(realm: &Realm, buffer: &Value, block: &SharedBlock) -> Result<Value, Exception> {
    let length = if block.is_growable() { block.max_len() } else { realm.buffer_byte_length(buffer)? };
    Ok(realm.number(length as f64))
}

/// `SharedArrayBuffer.prototype.grow(newLength)`
fn grow(realm: &Realm, call: &Call<'_>, block: &SharedBlock) -> Result<Value, Exception> {
    // RequireInternalSlot: a SharedArrayBuffer that can grow.
    if !block.is_growable() {
        return Err(
            realm.type_error("this SharedArrayBuffer has a fixed length: create it with a maxByteLength")
        );
    }
    // ToIndex coerces the new length.
    let length = realm.to_index(&call.argument(0))?;
    // The block compares and stores the length in one atomic step. A RangeError if it would shrink, or exceed the maximum.
    let grown = usize::try_from(length).ok().is_some_and(|length| block.grow(length).is_ok());
    if !grown {
        let (now, max) = (block.len(), block.max_len());
        return Err(
            realm.range_error(&format!("cannot grow from {now} to {length} bytes: the maximum is {max}"))
        );
    }
    // All objects of this agent on the block are updated when this function returns.
    Ok(realm.undefined())
}

impl Intrinsics {
    fn of(realm: &Realm) -> Result<Rc<Self>, Exception> {
        let state = AgentState::of(realm)?;
        let all = state.intrinsics.borrow();
        let found = all.iter().find(|(owner, _)| owner == realm).map(|(_, intrinsics)| Rc::clone(intrinsics));
        found.ok_or_else(|| realm.type_error("this realm has no shared memory"))
    }
}
