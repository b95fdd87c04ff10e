//! Methods of typed arrays, and `Object.freeze` of them, where the engine departs from the standard:
//!
//! - `set` from an array of another type on the same memory reads what it has just written;
//! - `with` throws a TypeError if the index is out of bounds after the coercions, and coerces before it validates;
//! - `sort` with a comparator sees what the comparator writes, and loses the order if the buffer was shortened;
//! - `freeze` refuses empty arrays of a fixed length on memory that can grow, and on detached buffers.

use std::rc::Rc;

use crate::buffer_slice::is_same_memory;
use crate::ffi::{Call, Exception, Realm, TypedArrayKind, Value};

/// The engine's functions, from a realm that no script has used yet.
struct Engines {
    /// The getter of `%TypedArray%.prototype.length`.
    length: Value,
    set: Value,
    with: Value,
    sort: Value,
    reverse: Value,
    to_reversed: Value,
    to_sorted: Value,
    fill: Value,
    /// The getter of `%TypedArray%.prototype[@@toStringTag]`, which returns the name of an array's constructor.
    name: Value,
    constructors: Vec<(&'static str, Value)>,
    freeze: Value,
    prevent_extensions: Value,
    define_property: Value,
    /// `Reflect.ownKeys`
    own_keys: Value,
}

const NAMES: [&str; 12] = [
    "Int8Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "Int16Array",
    "Uint16Array",
    "Int32Array",
    "Uint32Array",
    "BigInt64Array",
    "BigUint64Array",
    "Float16Array",
    "Float32Array",
    "Float64Array",
];

type Method = fn(&Engines, &Realm, &Call<'_>) -> Result<Value, Exception>;

/// Replaces the functions in a realm.
pub(crate) fn install(realm: &Realm) -> Result<(), Exception> {
    let global = realm.global();
    let prototype = realm.get(&realm.prototype(&realm.get(&global, "Int32Array")?)?, "prototype")?;
    let object = realm.get(&global, "Object")?;
    let method = |name: &str| realm.get(&prototype, name);
    let tag = realm.get(&realm.get(&global, "Symbol")?, "toStringTag")?;
    let constructors =
        NAMES.iter().map(|&name| Ok((name, realm.get(&global, name)?))).collect::<Result<_, _>>();
    let engines = Rc::new(Engines {
        length: realm.engines_getter(&prototype, "length")?,
        set: method("set")?,
        with: method("with")?,
        sort: method("sort")?,
        reverse: method("reverse")?,
        to_reversed: method("toReversed")?,
        to_sorted: method("toSorted")?,
        fill: method("fill")?,
        name: realm.engines_getter(&prototype, &tag)?,
        constructors: constructors?,
        freeze: realm.get(&object, "freeze")?,
        prevent_extensions: realm.get(&object, "preventExtensions")?,
        define_property: realm.get(&object, "defineProperty")?,
        own_keys: realm.get(&realm.get(&global, "Reflect")?, "ownKeys")?,
    });
    let methods: [(&Value, &str, Method); 4] = [
        (&prototype, "set", Engines::set),
        (&prototype, "with", Engines::with),
        (&prototype, "sort", Engines::sort),
        (&object, "freeze", Engines::freeze),
    ];
    for (holder, name, method) in methods {
        let engines = Rc::clone(&engines);
        realm.replace(holder, name, move |realm, call, _| method(&engines, realm, call))?;
    }
    Ok(())
}

impl Engines {
    /// `%TypedArray%.prototype.set(source, offset)`
    fn set(&self, realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
        let (this, source) = (call.this(), call.argument(0));
        let is_typed = realm.typed_array_kind(&this).is_some() && realm.typed_array_kind(&source).is_some();
        // Between arrays of the same type, the engine copies correctly.
        if !is_typed || realm.is_same_class(&this, &source) || !shares_memory(realm, &this, &source) {
            return call.forward(&self.set);
        }
        // ToIntegerOrInfinity coerces the offset before the copy, because a script may run. Then SetTypedArrayFromTypedArray with a
        // clone of the source buffer. The clone is made here, the rest is done by the engine.
        let offset = realm.number(realm.to_integer_or_infinity(&call.argument(1))?);
        let source = match realm.typed_array_view(&source) {
            // The clone: a new array of the same type, whatever scripts have done to its constructor.
            Ok(_) => {
                let reversed = realm.call(&self.to_reversed, &source, &[])?;
                realm.call(&self.reverse, &reversed, &[])?
            }
            // The engine throws the TypeError.
            Err(_) => source.clone(),
        };
        realm.call(&self.set, &this, &[source, offset])
    }

    /// `%TypedArray%.prototype.with(index, value)`
    fn with(&self, realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
        let this = call.this();
        let Some(kind) = realm.typed_array_kind(&this) else { return call.forward(&self.with) };
        // ValidateTypedArray, and TypedArrayLength before the coercions.
        realm.typed_array_view(&this)?;
        let length = self.length(realm, call)?;
        // The relative index, then ToNumber or ToBigInt of the value.
        let relative = realm.to_integer_or_infinity(&call.argument(0))?;
        let index = if relative < 0.0 { length + relative } else { relative };
        let is_big = matches!(kind, TypedArrayKind::BigInt64 | TypedArrayKind::BigUint64);
        let value = realm.to_element(&call.argument(1), is_big)?;
        // IsValidIntegerIndex: a RangeError beyond the current length, which is 0 for an array that is out of bounds.
        let today = self.length(realm, call)?;
        if index < 0.0 || index >= today {
            return Err(realm.range_error(&format!("index {index} is out of range: the length is {today}")));
        }
        if today == length {
            return realm.call(&self.with, &this, &[realm.number(index), value]);
        }
        // TypedArrayCreateSameType creates the copy with the length from before. Elements out of bounds are undefined.
        let copy = realm.construct(self.constructor_of(realm, call)?, &[realm.number(length)])?;
        self.copy(realm, &this, &copy, length.min(today))?;
        if today < length {
            realm.call(&self.fill, &copy, &[realm.undefined(), realm.number(today)])?;
        }
        realm.set(&copy, index as u32, &value)?;
        Ok(copy)
    }

    /// `%TypedArray%.prototype.sort(comparator)`
    fn sort(&self, realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
        let (this, comparator) = (call.this(), call.argument(0));
        let is_ours = realm.is_function(&comparator) && realm.typed_array_kind(&this).is_some();
        // Without a comparator no script runs. The engine throws if the comparator is not a function.
        if !is_ours {
            return call.forward(&self.sort);
        }
        let view = realm.typed_array_view(&this)?;
        if realm.is_immutable_buffer(&view.buffer) {
            return call.forward(&self.sort);
        }
        // SortIndexedProperties(obj, len, SortCompare, read-through-holes): on a list of the values.
        let sorted = realm.call(&self.to_sorted, &this, std::slice::from_ref(&comparator))?;
        // Set(obj, j, sortedList[j]) for each. Elements beyond the current end are dropped.
        let (length, today) = (realm.call(&self.length, &sorted, &[])?, self.length(realm, call)?);
        let length = length.as_number().unwrap_or(0.0);
        if today >= length {
            realm.call(&self.set, &this, &[sorted])?;
        } else {
            self.copy(realm, &sorted, &this, today)?;
        }
        Ok(this)
    }

    /// `Object.freeze(O)`
    fn freeze(&self, realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
        let object = call.argument(0);
        if realm.typed_array_kind(&object).is_none() {
            return call.forward(&self.freeze);
        }
        // SetIntegrityLevel(O, frozen): [[PreventExtensions]] refuses arrays whose length may change. Then all own properties are made
        // permanent, which elements refuse.
        realm.call(&self.prevent_extensions, &realm.undefined(), std::slice::from_ref(&object))?;
        let keys = realm.call(&self.own_keys, &realm.undefined(), std::slice::from_ref(&object))?;
        for at in 0..realm.array_length(&keys)? {
            let key = realm.get(&keys, at)?;
            let frozen = realm.object()?;
            realm.set_prototype(&frozen, &realm.null())?;
            realm.set(&frozen, "configurable", &realm.bool(false))?;
            if realm.own_data(&object, &key)?.is_some() {
                realm.set(&frozen, "writable", &realm.bool(false))?;
            }
            realm.call(&self.define_property, &realm.undefined(), &[object.clone(), key, frozen])?;
        }
        Ok(object.clone())
    }

    /// Copies the first `count` elements, one by one. Both arrays have the same type and at least `count` elements, so no script runs.
    fn copy(&self, realm: &Realm, from: &Value, to: &Value, count: f64) -> Result<(), Exception> {
        (0..count as u32).try_for_each(|index| realm.set(to, index, &realm.get(from, index)?))
    }

    /// The constructor for arrays of the type of `this`.
    fn constructor_of(&self, realm: &Realm, call: &Call<'_>) -> Result<&Value, Exception> {
        let name = realm.to_string(&call.forward(&self.name)?)?;
        let found = self.constructors.iter().find(|(known, _)| *known == name);
        found.map(|(_, constructor)| constructor).ok_or_else(|| realm.type_error("expected a typed array"))
    }

    /// The length of `this`, or 0 if it is out of bounds.
    fn length(&self, realm: &Realm, call: &Call<'_>) -> Result<f64, Exception> {
        realm.catch_up()?;
        Ok(call.forward(&self.length)?.as_number().unwrap_or(0.0))
    }
}

/// Whether both arrays are in bounds, and are in the same buffer or on the same block of shared memory.
fn shares_memory(realm: &Realm, one: &Value, other: &Value) -> bool {
    match (realm.typed_array_view(one), realm.typed_array_view(other)) {
        (Ok(one), Ok(other)) => is_same_memory(realm, &one.buffer, &other.buffer),
        _ => false,
    }
}
