//! The accessors of DataViews on resized buffers.
//!
//! After all coercions, the standard throws a TypeError for a view that is out of the bounds of its buffer, and then a RangeError for an
//! index beyond the view's length. The engine checks in the opposite order, and with the old length of the view: for a view that tracks the
//! length of its buffer and has length 0 now, it throws a TypeError.
//!
//! If no buffer was resized, the engine is right, and is called directly.

use crate::buffer_slice::is_unusual_memory_made;
use crate::ffi::{Call, Exception, Realm, Value};

/// The accessors, by the name after `get` and `set`, with the size of the element in bytes.
const ELEMENTS: [(&str, f64); 11] = [
    ("Int8", 1.0),
    ("Uint8", 1.0),
    ("Int16", 2.0),
    ("Uint16", 2.0),
    ("Int32", 4.0),
    ("Uint32", 4.0),
    ("BigInt64", 8.0),
    ("BigUint64", 8.0),
    ("Float16", 2.0),
    ("Float32", 4.0),
    ("Float64", 8.0),
];

/// Adds the checks to a realm's accessors.
pub(crate) fn install(realm: &Realm) -> Result<(), Exception> {
    let prototype = realm.get(&realm.get(&realm.global(), "DataView")?, "prototype")?;
    let byte_length = realm.engines_getter(&prototype, "byteLength")?;
    let buffer = realm.engines_getter(&prototype, "buffer")?;
    for (element, size) in ELEMENTS {
        for verb in ["get", "set"] {
            let accessor = Accessor {
                byte_length: byte_length.clone(),
                buffer: buffer.clone(),
                is_big: element.starts_with("Big"),
                is_write: verb == "set",
                size,
            };
            realm.replace(&prototype, &format!("{verb}{element}"), move |realm, call, engines| {
                let is_usual = !is_unusual_memory_made() || !realm.is_data_view(&call.this());
                if is_usual { call.forward(engines) } else { accessor.call(realm, call, engines) }
            })?;
        }
    }
    Ok(())
}

/// The replacement of an accessor.
struct Accessor {
    /// The getters of `byteLength` and `buffer`.
    byte_length: Value,
    buffer: Value,
    /// Whether the elements are BigInts.
    is_big: bool,
    is_write: bool,
    size: f64,
}

impl Accessor {
    /// GetViewValue, or SetViewValue, of a DataView.
    fn call(&self, realm: &Realm, call: &Call<'_>, engines: &Value) -> Result<Value, Exception> {
        if self.is_write && realm.is_immutable_buffer(&call.forward(&self.buffer)?) {
            return call.forward(engines);
        }
        // ToIndex coerces the index, then ToNumber or ToBigInt the value.
        let index = realm.to_index(&call.argument(0))? as f64;
        let mut arguments = vec![realm.number(index)];
        if self.is_write {
            arguments.push(realm.to_element(&call.argument(1), self.is_big)?);
        }
        // The argument is converted to a Boolean later, which runs no script.
        let position = arguments.len();
        arguments.push(call.argument(position).clone());
        // IsViewOutOfBounds and GetViewByteLength: the getter throws the TypeError of the first, and returns the result of the second.
        let view_size = call.forward(&self.byte_length)?.as_number().unwrap_or(0.0);
        // An element that ends beyond the view: a RangeError.
        if index + self.size > view_size {
            return Err(
                realm.range_error(&format!("index {index} is out of range: the view has {view_size} bytes"))
            );
        }
        realm.call(engines, &call.this(), &arguments)
    }
}
