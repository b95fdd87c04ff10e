//! What natives are called with.

use waitword_quickjs::{Exception, Realm, Value};

use crate::channel::PortId;

/// The elements of a list.
pub(crate) fn elements(realm: &Realm, list: &Value) -> Result<Vec<Value>, Exception> {
    let length = realm.to_i32(&realm.get(list, "length")?)?.unsigned_abs();
    (0..length).map(|index| realm.get(list, index)).collect()
}

pub(crate) fn port_id(realm: &Realm, value: &Value) -> Result<PortId, Exception> {
    Ok(realm.to_i32(value)?.unsigned_abs())
}
