//! `Function.prototype.apply`, `Reflect.apply` and `Reflect.construct`, in which the engine takes the length of the list modulo 2^32: a
//! list of length 2^32 + 1 has one element, instead of the RangeError for more arguments than the engine passes.

use crate::ffi::{Call, Exception, Realm, Value};

/// The most arguments that the engine passes.
const MOST: usize = 65_535;

/// Longer lists are passed by the engine itself, which charges their memory to the limit.
const FEW: usize = 64;

/// Replaces the functions in a realm that no script has seen yet.
pub(crate) fn install(realm: &Realm) -> Result<(), Exception> {
    let global = realm.global();
    let function = realm.get(&realm.get(&global, "Function")?, "prototype")?;
    let reflect = realm.get(&global, "Reflect")?;
    realm.replace(&function, "apply", function_apply)?;
    realm.replace(&reflect, "apply", reflect_apply)?;
    realm.replace(&reflect, "construct", reflect_construct)
}

/// `Function.prototype.apply(thisArg, argArray)`
fn function_apply(realm: &Realm, call: &Call<'_>, engines: &Value) -> Result<Value, Exception> {
    let (function, array) = (call.this(), call.argument(1));
    // IsCallable(func): the engine throws the TypeError, also for a list that is not an object.
    if !realm.is_function(&function) || !(array.is_object() || array.is_undefined() || array.is_null()) {
        return call.forward(engines);
    }
    let this = call.argument(0);
    if !array.is_object() {
        return realm.call(&function, &this, &[]);
    }
    match list(realm, &array)? {
        List::Few(arguments) => realm.call(&function, &this, &arguments),
        List::Engines(array) => realm.call(engines, &function, &[this.clone(), array]),
    }
}

/// `Reflect.apply(target, thisArgument, argumentsList)`
fn reflect_apply(realm: &Realm, call: &Call<'_>, engines: &Value) -> Result<Value, Exception> {
    let (target, this, array) = (call.argument(0), call.argument(1), call.argument(2));
    // IsCallable(target), and a list that is not an object: TypeErrors of the engine.
    if !realm.is_function(&target) || !array.is_object() {
        return call.forward(engines);
    }
    match list(realm, &array)? {
        List::Few(arguments) => realm.call(&target, &this, &arguments),
        List::Engines(array) => {
            realm.call(engines, &realm.undefined(), &[target.clone(), this.clone(), array])
        }
    }
}

/// `Reflect.construct(target, argumentsList, newTarget)`
fn reflect_construct(realm: &Realm, call: &Call<'_>, engines: &Value) -> Result<Value, Exception> {
    let (target, array) = (call.argument(0), call.argument(1));
    let new_target = if call.len() > 2 { call.argument(2) } else { call.argument(0) };
    // IsConstructor(target), which the engine checks only after it has read the list.
    if !realm.is_constructor(&target) {
        return Err(realm.type_error("the target is not a constructor"));
    }
    // IsConstructor(newTarget), and a list that is not an object: TypeErrors of the engine.
    if !realm.is_constructor(&new_target) || !array.is_object() {
        return call.forward(engines);
    }
    match list(realm, &array)? {
        List::Few(arguments) => realm.construct_as(&target, &new_target, &arguments),
        List::Engines(array) => {
            realm.call(engines, &realm.undefined(), &[target.clone(), array, new_target.clone()])
        }
    }
}

/// The arguments of a call.
enum List {
    Few(Vec<Value>),
    /// A real array: its length cannot be 2^32.
    Engines(Value),
}

/// CreateListFromArrayLike(obj)
fn list(realm: &Realm, array: &Value) -> Result<List, Exception> {
    // LengthOfArrayLike(obj)
    let length = realm.to_integer_or_infinity(&realm.get(array, "length")?)?.max(0.0);
    if length > MOST as f64 {
        let message = format!("too many arguments in function call (only {MOST} allowed)");
        return Err(realm.range_error(&message));
    }
    let length = length as usize;
    if length > FEW && array.is_array() {
        return Ok(List::Engines(array.clone()));
    }
    let elements = (0..length as u32).map(|index| realm.get(array, index)).collect::<Result<Vec<_>, _>>()?;
    if length > FEW { Ok(List::Engines(realm.array(&elements)?)) } else { Ok(List::Few(elements)) }
}
