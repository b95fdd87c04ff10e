//! What the JavaScript half knows about the rarer kinds of values.

use std::cell::Cell;

use waitword_quickjs::{Exception, Realm, Value};

/// The functions of `js/core/clone.js` that know about the rarer kinds of values, and what a script cannot replace of the rest.
pub(crate) struct CloneFunctions {
    /// `row(object, is_ordinary)`: `[kind, heads, ...values]`, or undefined for one that it does not know.
    pub(super) row: Value,
    /// `revive(kind, ...heads)`: the object, without what is put into it afterwards.
    pub(super) revive: Value,
    /// `fill(object, values)`
    pub(super) fill: Value,
    /// `refuse(value, why)`: throws the DataCloneError.
    pub(super) refuse: Value,
    /// `isUncloneable(object)`: whether the script has marked it so.
    pub(super) is_uncloneable: Value,
    /// Whether any was marked: most agents are never asked.
    pub(super) has_uncloneable: Cell<bool>,
    /// `noRoom()`: throws the one for a message that is too large.
    pub(super) no_room: Value,
    /// `%Object.prototype%`
    pub(super) object_prototype: Value,
    /// Constructors, and the functions that add to what they make.
    pub(super) map: Value,
    pub(super) map_set: Value,
    pub(super) set: Value,
    pub(super) set_add: Value,
    /// The getters of `ArrayBuffer.prototype`.
    pub(super) is_resizable: Value,
    pub(super) max_byte_length: Value,
}

impl CloneFunctions {
    /// # Errors
    /// When `functions` lacks one.
    pub(crate) fn new(realm: &Realm, functions: &Value) -> Result<Self, Exception> {
        let get = |name: &str| realm.get(functions, name);
        Ok(Self {
            row: get("row")?,
            revive: get("revive")?,
            fill: get("fill")?,
            refuse: get("refuse")?,
            is_uncloneable: get("isUncloneable")?,
            has_uncloneable: Cell::new(false),
            no_room: get("noRoom")?,
            object_prototype: get("objectPrototype")?,
            map: get("Map")?,
            map_set: get("mapSet")?,
            set: get("Set")?,
            set_add: get("setAdd")?,
            is_resizable: get("isResizable")?,
            max_byte_length: get("maxByteLength")?,
        })
    }

    pub(crate) fn expect_uncloneable(&self) {
        self.has_uncloneable.set(true);
    }

    /// The DataCloneError for a value.
    pub(super) fn refusal(&self, realm: &Realm, value: &Value, why: Option<&str>) -> Exception {
        let refuse = || {
            let why = why.map_or_else(|| Ok(realm.undefined()), |why| realm.string(why))?;
            realm.call(&self.refuse, &realm.undefined(), &[value.clone(), why])
        };
        match refuse() {
            Err(thrown) => thrown,
            Ok(_) => realm.error("this value could not be cloned"),
        }
    }

    /// The DataCloneError for a message for which there is no room.
    pub(crate) fn no_room(&self, realm: &Realm) -> Exception {
        let thrown = realm.call(&self.no_room, &realm.undefined(), &[]);
        thrown.err().unwrap_or_else(|| realm.error("out of memory"))
    }

    pub(super) fn max_len(&self, realm: &Realm, buffer: &Value) -> Result<Option<usize>, Exception> {
        if !realm.to_bool(&realm.call(&self.is_resizable, buffer, &[])?) {
            return Ok(None);
        }
        let max = realm.call(&self.max_byte_length, buffer, &[])?;
        Ok(max.as_number().map(|max| max as usize))
    }
}
