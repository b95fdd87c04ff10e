//! `ArrayBuffer`, where the engine departs from the standard:
//!
//! - it takes `maxByteLength` and the new length of `resize` modulo 2^64, so that `resize(2 ** 64)` empties the buffer;
//! - it checks only after the coercion whether a buffer is resizable;
//! - it throws a TypeError for a transfer beyond the maximum, and returns a maximum for a detached buffer;
//! - `slice` throws if the species constructor has shortened the source: see [`crate::buffer_slice`].

use crate::buffer_slice::{Slice, expect_unusual_memory, replace_constructor, wanted_lengths};
use crate::ffi::{Attributes, Call, Exception, Realm, Value};

/// Replaces `ArrayBuffer` and those members of its prototype in a realm that no script has seen yet.
pub(crate) fn install(realm: &Realm) -> Result<(), Exception> {
    let global = realm.global();
    let engines = realm.get(&global, "ArrayBuffer")?;
    let prototype = realm.get(&engines, "prototype")?;
    let getter = |name: &str| realm.engines_getter(&prototype, name);

    let constructor = realm.constructor("ArrayBuffer", 1, {
        let engines = engines.clone();
        move |realm, call| construct(realm, call, &engines)
    })?;
    realm.define(&constructor, "isView", &realm.get(&engines, "isView")?, Attributes::BUILT_IN)?;
    replace_constructor(realm, "ArrayBuffer", &engines, &constructor)?;

    let (resizable, max, detached) = (getter("resizable")?, getter("maxByteLength")?, getter("detached")?);
    realm.replace(&prototype, "resize", {
        let resizable = resizable.clone();
        move |realm, call, engines| resize(realm, call, &resizable, engines)
    })?;
    realm.replace(&prototype, "transfer", {
        let (resizable, max, detached) = (resizable.clone(), max.clone(), detached.clone());
        move |realm, call, engines| transfer(realm, call, engines, [&resizable, &max, &detached])
    })?;

    let replacement = realm.closure("get maxByteLength", 0, move |realm, call| {
        // IsDetachedBuffer: the maximum of a detached buffer is 0.
        let result = call.forward(&max)?;
        Ok(if realm.to_bool(&call.forward(&detached)?) { realm.number(0) } else { result })
    })?;
    realm.define_getter(&prototype, "maxByteLength", &replacement, Attributes::BUILT_IN)?;

    let slice = Slice::new(realm, constructor)?;
    realm.replace(&prototype, "slice", move |realm, call, engines| {
        // A buffer that is not resizable cannot be shortened. The getter throws if this is not an ArrayBuffer.
        let shortens = realm.to_bool(&call.forward(&resizable)?);
        if shortens { slice.call(realm, call) } else { call.forward(engines) }
    })
}

/// `new ArrayBuffer(length, { maxByteLength })`
fn construct(realm: &Realm, call: &Call<'_>, engines: &Value) -> Result<Value, Exception> {
    let new_target = call.this();
    let (length, max) = wanted_lengths(realm, call)?;
    let Some(max) = max else {
        return realm.construct_as(engines, &new_target, &[realm.number(length as f64)]);
    };
    let options = realm.object()?;
    realm.define(&options, "maxByteLength", &realm.number(max as f64), Attributes::ASSIGNED)?;
    realm.construct_as(engines, &new_target, &[realm.number(length as f64), options])
}

/// `ArrayBuffer.prototype.resize(newLength)`
fn resize(realm: &Realm, call: &Call<'_>, resizable: &Value, engines: &Value) -> Result<Value, Exception> {
    // RequireInternalSlot(O, [[ArrayBufferMaxByteLength]]): the getter throws if this is not an ArrayBuffer.
    if !realm.to_bool(&call.forward(resizable)?) {
        return Err(realm.type_error("this ArrayBuffer has a fixed length: create it with a maxByteLength"));
    }
    // ToIndex coerces the new length.
    let length = realm.to_index(&call.argument(0))?;
    expect_unusual_memory();
    // The engine checks whether the buffer is detached, and compares with the maximum.
    realm.call(engines, &call.this(), &[realm.number(length as f64)])
}

/// `ArrayBuffer.prototype.transfer(newLength)`
fn transfer(
    realm: &Realm,
    call: &Call<'_>,
    engines: &Value,
    [resizable, max, detached]: [&Value; 3],
) -> Result<Value, Exception> {
    if call.argument(0).is_undefined() || !realm.to_bool(&call.forward(resizable)?) {
        return call.forward(engines);
    }
    // ArrayBufferCopyAndDetach: ToIndex coerces the new length.
    let length = realm.to_index(&call.argument(0))?;
    let max = call.forward(max)?.as_number().unwrap_or(0.0);
    // IsDetachedBuffer: the engine throws the TypeError. After it comes the RangeError of AllocateArrayBuffer.
    if length as f64 > max && !realm.to_bool(&call.forward(detached)?) {
        return Err(realm.range_error(&format!("cannot transfer to {length} bytes: the maximum is {max}")));
    }
    realm.call(engines, &call.this(), &[realm.number(length as f64)])
}
