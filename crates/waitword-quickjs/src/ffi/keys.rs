//! Properties of objects, by keys that are looked up once.

use std::rc::Rc;

use rquickjs_sys as qjs;

use super::handles::{Exception, Realm, Value};
use super::property::{Attributes, Key};

/// The names of an object's own enumerable properties, Symbols left out, in the standard's order.
pub struct Keys<'a> {
    realm: &'a Realm,
    table: *mut qjs::JSPropertyEnum,
    len: u32,
}

impl Keys<'_> {
    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns whether the object has no such property.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns a number that identifies the name while a [`Key`] of it exists.
    ///
    /// # Panics
    /// If `at` is not below [`len`](Self::len).
    pub fn id(&self, at: usize) -> u32 {
        assert!(at < self.len(), "an object has {} keys, not {at}", self.len());
        // SAFETY: the engine gave a table of `len` entries, freed in `drop`.
        unsafe { (*self.table.add(at)).atom }
    }

    /// Returns the name as a [`Key`].
    ///
    /// # Panics
    /// If `at` is not below [`len`](Self::len).
    pub fn key(&self, at: usize) -> Key {
        // SAFETY: (4); a live atom of the table, of which we take a count.
        let atom = unsafe { qjs::JS_DupAtom(self.realm.raw(), self.id(at)) };
        Key { engine: Rc::clone(self.realm.engine()), atom }
    }

    /// Returns whether the names are exactly the indices from 0 to `count` - 1. Indices come first, so it is enough to compare the last
    /// one.
    pub fn are_indices(&self, count: u32) -> bool {
        if self.len != count || count == 0 {
            return self.len == count;
        }
        self.realm.atom((count - 1).into()).is_ok_and(|last| self.id(self.len() - 1) == last.atom)
    }
}

impl Drop for Keys<'_> {
    fn drop(&mut self) {
        // SAFETY: (4); the table that the engine gave us.
        unsafe { qjs::JS_FreePropertyEnum(self.realm.raw(), self.table, self.len) };
    }
}

/// The attributes of a property created by an assignment.
pub(super) const PLAIN: std::ffi::c_int = Attributes::ASSIGNED.flags();

impl Realm {
    /// Returns the names of an object's own enumerable properties, without Symbols.
    ///
    /// # Errors
    /// What a proxy throws; out of memory.
    pub fn own_keys(&self, object: &Value) -> Result<Keys<'_>, Exception> {
        self.check(object);
        let (mut table, mut len) = (std::ptr::null_mut(), 0);
        let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as std::ffi::c_int;
        // SAFETY: (3), (4), (5)
        let status =
            unsafe { qjs::JS_GetOwnPropertyNames(self.raw(), &mut table, &mut len, object.raw(), flags) };
        self.succeeded(status)?;
        Ok(Keys { realm: self, table, len })
    }

    /// Returns the names of an object's own enumerable properties as text, without Symbols, as `Object.keys` does.
    ///
    /// # Errors
    /// What a proxy throws; out of memory.
    pub fn keys(&self, object: &Value) -> Result<Vec<String>, Exception> {
        let keys = self.own_keys(object)?;
        (0..keys.len()).map(|at| self.to_string(&self.name_of(&keys.key(at))?)).collect()
    }

    /// Returns `object[key]`, if it is an own property.
    ///
    /// # Errors
    /// What a getter throws.
    pub fn get_own(&self, object: &Value, key: &Key) -> Result<Option<Value>, Exception> {
        self.check(object);
        self.check_key(key);
        // SAFETY: (5): a live key of this engine.
        unsafe { self.own_or_none(object, key.atom) }
    }

    /// Returns the own property at a position of `keys`, as [`get_own`](Self::get_own) does.
    ///
    /// # Errors
    /// What a getter throws.
    pub fn get_own_at(&self, object: &Value, keys: &Keys<'_>, at: usize) -> Result<Option<Value>, Exception> {
        self.check(object);
        assert!(Rc::ptr_eq(self.engine(), keys.realm.engine()), "the keys belong to another engine");
        // SAFETY: (5): live keys of this engine.
        unsafe { self.own_or_none(object, keys.id(at)) }
    }

    /// Returns an element of an array, if it is an own property, as [`get_own`](Self::get_own) does.
    ///
    /// # Errors
    /// What a getter throws.
    pub fn get_own_index(&self, object: &Value, index: u32) -> Result<Option<Value>, Exception> {
        self.get_own(object, &self.atom(index.into())?)
    }

    /// Atoms are numbers of one engine (5).
    fn check_key(&self, key: &Key) {
        assert!(Rc::ptr_eq(self.engine(), &key.engine), "the key belongs to another engine");
    }

    /// # Safety
    /// The caller keeps a count of the atom during the call.
    unsafe fn own_or_none(&self, object: &Value, atom: qjs::JSAtom) -> Result<Option<Value>, Exception> {
        // SAFETY: the caller keeps a count of the atom.
        match unsafe { self.own_property_of_atom(object, atom) }? {
            None => return Ok(None),
            Some(found) if !found.is_accessor => return Ok(Some(found.value)),
            Some(_) => {}
        }
        // SAFETY: (3), (4), (5)
        self.own(unsafe { qjs::JS_GetProperty(self.raw(), object.raw(), atom) }).map(Some)
    }

    /// Creates a key from a name.
    ///
    /// # Errors
    /// If the engine runs out of memory.
    pub fn key(&self, name: &Value) -> Result<Key, Exception> {
        self.atom(name.into())
    }

    /// Returns the name of a key as a string.
    ///
    /// # Errors
    /// If the engine runs out of memory.
    pub fn name_of(&self, key: &Key) -> Result<Value, Exception> {
        self.check_key(key);
        // SAFETY: (4), (5); the key is alive.
        self.own(unsafe { qjs::JS_AtomToString(self.raw(), key.atom) })
    }

    /// Adds a property to an object, as an assignment does, but without running setters of prototypes.
    ///
    /// # Errors
    /// If the engine runs out of memory.
    pub fn put(&self, object: &Value, key: &Key, value: Value) -> Result<(), Exception> {
        self.check(object);
        self.check(&value);
        self.check_key(key);
        // SAFETY: (3), (4), (5); the value's count moves to the engine.
        let status = unsafe {
            qjs::JS_DefinePropertyValue(self.raw(), object.raw(), key.atom, value.into_raw(), PLAIN)
        };
        self.succeeded(status).map(drop)
    }
}
