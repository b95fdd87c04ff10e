//! The functions of the JavaScript half for the less common kinds of values.

use std::cell::Cell;

use waitword_quickjs::{Exception, Realm, Value};

macro_rules! functions {
    ($($(#[$doc:meta])* $field:ident: $name:literal,)*) => {
        /// The functions of `js/core/clone.js` for the less common kinds of values, and built-ins from before any script ran.
        pub(crate) struct CloneFunctions {
            /// The realm of the agent, in which copies are created.
            pub(super) realm: Realm,
            $($(#[$doc])* pub(super) $field: Value,)*
            /// Whether any object was marked as uncloneable, which few agents do.
            pub(crate) has_uncloneable: Cell<bool>,
        }

        impl CloneFunctions {
            /// # Errors
            /// If `functions` lacks one.
            pub(crate) fn new(realm: &Realm, functions: &Value) -> Result<Self, Exception> {
                let has_uncloneable = Cell::new(false);
                let realm = realm.clone();
                Ok(Self { $($field: realm.get(functions, $name)?,)* has_uncloneable, realm })
            }
        }
    };
}

functions! {
    /// `row(object, is_ordinary)`: returns `[kind, heads, ...values]`, or undefined for other objects.
    row: "row",
    /// `revive(kind, ...heads)`: creates the object, without the values that are put into it afterwards.
    revive: "revive",
    /// `fill(object, values)`
    fill: "fill",
    /// `refuse(value, why)`: throws the DataCloneError.
    refuse: "refuse",
    /// `noRoom()`: throws the one for a message that is too large.
    no_room: "noRoom",
    /// `isUncloneable(object)`: whether the script has marked it.
    is_uncloneable: "isUncloneable",
    /// `%Object.prototype%`
    object_prototype: "objectPrototype",
    /// Constructors, and the functions that add to their objects.
    map: "Map",
    map_set: "mapSet",
    set: "Set",
    set_add: "setAdd",
    /// The getters of `ArrayBuffer.prototype`.
    is_resizable: "isResizable",
    max_byte_length: "maxByteLength",
}

impl CloneFunctions {
    /// Calls one of them.
    pub(super) fn call(&self, function: &Value, arguments: &[Value]) -> Result<Value, Exception> {
        self.realm.call(function, &self.realm.undefined(), arguments)
    }

    /// The DataCloneError for a value.
    pub(super) fn refusal(&self, value: &Value, why: Option<&str>) -> Exception {
        let refuse = || {
            let why = why.map_or_else(|| Ok(self.realm.undefined()), |why| self.realm.string(why))?;
            self.call(&self.refuse, &[value.clone(), why])
        };
        refuse().err().unwrap_or_else(|| self.realm.error("this value could not be cloned"))
    }

    /// The DataCloneError for a message that exceeds the memory limit.
    pub(crate) fn no_room(&self) -> Exception {
        let thrown = self.call(&self.no_room, &[]);
        thrown.err().unwrap_or_else(|| self.realm.error("out of memory"))
    }

    pub(super) fn max_len(&self, buffer: &Value) -> Result<Option<usize>, Exception> {
        let realm = &self.realm;
        if !realm.to_bool(&realm.call(&self.is_resizable, buffer, &[])?) {
            return Ok(None);
        }
        let max = realm.call(&self.max_byte_length, buffer, &[])?;
        Ok(max.as_number().map(|max| max as usize))
    }
}
