//! Checks that the engine omits where `Atomics` loads and stores, before the coercions and after them:
//!
//! - An array out of the bounds of its buffer, or an access that writes to an immutable buffer, is a TypeError before the index is coerced
//!   (ValidateTypedArray). The engine throws a RangeError for the former, and writes to the latter.
//! - Another agent may have grown the memory. The engine's view still has its old length then (see `ffi/growth.rs`), and the engine throws a
//!   RangeError for an index beyond that.
//! - The coercion of an argument may detach, shrink or grow the memory. The standard compares the index with the length from before, and
//!   throws a TypeError for an array that is out of bounds after all coercions (RevalidateAtomicAccess). The engine compares with the current
//!   length, and throws a RangeError for an array that is out of bounds.
//!
//! The engine performs the access itself. Most programs have no such memory, and the checks cost as much as the access. So they are
//! omitted until such memory was created (`buffer_slice.rs`). If no argument is an object, coercing them runs no script, and is left to the
//! engine, too.

#[cfg(feature = "observe")]
use std::time::Instant;

#[cfg(feature = "observe")]
use crate::agent_state::AgentState;
use crate::buffer_slice::{expect_unusual_memory, is_unusual_memory_made};
use crate::ffi::{Attributes, Call, Exception, Realm, TypedArrayKind, Value};
use crate::shared_array_buffer;
#[cfg(feature = "observe")]
use crate::word_observer::{changed, is_any_agent_observed};

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

/// Adds the checks to a realm's functions.
pub(crate) fn install(realm: &Realm) -> Result<(), Exception> {
    let atomics = realm.get(&realm.global(), "Atomics")?;
    let as_int_n = realm.get(&realm.get(&realm.global(), "BigInt")?, "asIntN")?;
    for (name, length, access) in ACCESSES {
        let engines = realm.get(&atomics, name)?;
        let function =
            AtomicFunction { name, engines, as_int_n: as_int_n.clone(), length: length.into(), access };
        let replacement = realm.closure(name, length, move |realm, call| function.call(realm, call))?;
        realm.define(&atomics, name, &replacement, Attributes::BUILT_IN)?;
    }
    let array_buffers = realm.get(&realm.get(&realm.global(), "ArrayBuffer")?, "prototype")?;
    // These make a buffer immutable. Only `resize`, which is replaced already, can leave an array out of bounds.
    for name in ["sliceToImmutable", "transferToImmutable"] {
        realm.replace(&array_buffers, name, |_, call, engines| {
            expect_unusual_memory();
            call.forward(engines)
        })?;
    }
    Ok(())
}

/// The replacement of a function of `Atomics`.
struct AtomicFunction {
    #[cfg_attr(not(feature = "observe"), expect(dead_code))]
    name: &'static str,
    /// The engine's function.
    engines: Value,
    /// `BigInt.asIntN`
    as_int_n: Value,
    length: usize,
    access: Access,
}

impl AtomicFunction {
    fn call(&self, realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
        #[cfg(feature = "observe")]
        if self.access == Access::Write && is_any_agent_observed() {
            return self.call_observed(realm, call);
        }
        self.perform(realm, call, |_| {})
    }

    /// Performs the function as [`perform`](Self::perform) does, and calls the agent's observer.
    #[cfg(feature = "observe")]
    fn call_observed(&self, realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
        let Some(observer) = AgentState::of(realm)?.word_observer() else {
            return self.perform(realm, call, |_| {});
        };
        let begun = Instant::now();
        // Arguments that were coerced are not coerced again, which a script could observe.
        let mut coerced = None;
        let result = self.perform(realm, call, |arguments| coerced = Some(arguments.to_vec()))?;
        let arguments = coerced
            .unwrap_or_else(|| (0..self.length).map(|position| (*call.argument(position)).clone()).collect());
        if let Some((block, byte_index, change)) = changed(realm, self.name, &arguments, &result) {
            observer.changed(&block, byte_index, change, begun);
        }
        Ok(result)
    }

    /// Performs the function. `coerced` is called with the arguments if they are coerced here and not by the engine.
    fn perform(
        &self,
        realm: &Realm,
        call: &Call<'_>,
        coerced: impl FnOnce(&[Value]),
    ) -> Result<Value, Exception> {
        let array = call.argument(0);
        // The engine throws the TypeError if the value is not a typed array.
        if is_unusual_memory_made() && realm.typed_array_kind(&array).is_some() {
            self.validate(realm, &array)?;
        }
        if call.has_object_from(1) {
            self.coerce_and_call(realm, call, coerced)
        } else {
            call.forward(&self.engines)
        }
    }

    /// The part of ValidateTypedArray(typedArray, unordered, accessMode) that the engine omits.
    fn validate(&self, realm: &Realm, array: &Value) -> Result<(), Exception> {
        // IsTypedArrayOutOfBounds: a TypeError.
        let view = realm.typed_array_view(array)?;
        // IsImmutableBuffer: a TypeError for an access that writes.
        if self.access == Access::Write && realm.is_immutable_buffer(&view.buffer) {
            return Err(realm.type_error("cannot write to this typed array: its buffer is immutable"));
        }
        // TypedArrayLength(taRecord) is the current length.
        realm.catch_up()
    }

    /// Performs all steps before the access here, because scripts may run between them.
    fn coerce_and_call(
        &self,
        realm: &Realm,
        call: &Call<'_>,
        coerced: impl FnOnce(&[Value]),
    ) -> Result<Value, Exception> {
        // ValidateIntegerTypedArray(typedArray, waitable = false)
        let array = call.argument(0);
        let coerce: &dyn Fn(&Value) -> Result<Value, Exception> = match realm.typed_array_kind(&array) {
            Some(TypedArrayKind::BigInt64 | TypedArrayKind::BigUint64) => &|value| {
                // ToBigInt(value): `asIntN` with the largest number of bits only converts.
                realm.call(
                    &self.as_int_n,
                    &realm.undefined(),
                    &[realm.number(MAX_SAFE_INTEGER), value.clone()],
                )
            },
            // The engine converts the Number to an integer.
            Some(TypedArrayKind::Int32 | TypedArrayKind::SmallInteger) => {
                &|value| Ok(realm.number(realm.to_number(value)?))
            }
            // The engine throws the TypeError, before anything is coerced.
            Some(TypedArrayKind::Other) | None => return call.forward(&self.engines),
        };
        self.validate(realm, &array)?;
        // ValidateAtomicAccess(taRecord, requestIndex)
        let length = shared_array_buffer::current_view_length(realm, &array)?;
        let index = realm.to_index(&call.argument(1))?;
        if index >= length {
            return Err(realm.range_error(&format!("index {index} is out of range: the length is {length}")));
        }
        let mut arguments = vec![array.clone(), realm.number(index as f64)];
        for position in 2..self.length {
            arguments.push(coerce(&call.argument(position))?);
        }
        // RevalidateAtomicAccess(typedArray, byteIndexInBuffer): a TypeError for an array that is out of bounds. The engine throws the
        // RangeError for one that has become too short.
        self.validate(realm, &array)?;
        coerced(&arguments);
        realm.call(&self.engines, &call.this(), &arguments)
    }
}

/// 2^53 - 1
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;
