//! The properties of objects by keys that are looked up once.

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
    /// How many names there are.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether the object has no such property.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A number that stands for the name while somebody holds the [`Key`] of it.
    ///
    /// # Panics
    /// If `at` is not below [`len`](Self::len).
    pub fn id(&self, at: usize) -> u32 {
        assert!(at < self.len(), "an object has {} keys, not {at}", self.len());
        // SAFETY: the engine gave a table of `len` entries, freed in `drop`.
        unsafe { (*self.table.add(at)).atom }
    }

    /// The name by itself.
    ///
    /// # Panics
    /// If `at` is not below [`len`](Self::len).
    pub fn key(&self, at: usize) -> Key {
        // SAFETY: (4); a live atom of the table, of which we take a count.
        let atom = unsafe { qjs::JS_DupAtom(self.realm.raw(), self.id(at)) };
        Key { engine: Rc::clone(self.realm.engine()), atom }
    }

    /// Whether these are the indices from 0 to the last of so many elements, and nothing else. Indices come first, so it is
    /// enough to compare the last one.
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

/// What an assignment gives a new property.
pub(super) const PLAIN: std::ffi::c_int = Attributes::ASSIGNED.flags();

impl Realm {
    /// An object's own enumerable properties, Symbols left out.
    ///
    /// # Errors
    /// What a proxy throws; lack of memory.
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

    /// The names of the object's own enumerable properties, Symbols left out, as `Object.keys` lists them.
    ///
    /// # Errors
    /// What a proxy throws; lack of memory.
    pub fn keys(&self, object: &Value) -> Result<Vec<String>, Exception> {
        let keys = self.own_keys(object)?;
        (0..keys.len()).map(|at| self.to_string(&self.name_of(&keys.key(at))?)).collect()
    }

    /// `object[key]`, if it is an own property.
    ///
    /// # Errors
    /// What a getter throws.
    pub fn get_own(&self, object: &Value, key: &Key) -> Result<Option<Value>, Exception> {
        self.check(object);
        self.check_key(key);
        // SAFETY: (5): a live key of this engine.
        unsafe { self.own_or_none(object, key.atom) }
    }

    /// As [`get_own`](Self::get_own), for one of an object's keys.
    ///
    /// # Errors
    /// What a getter throws.
    pub fn get_own_at(&self, object: &Value, keys: &Keys<'_>, at: usize) -> Result<Option<Value>, Exception> {
        self.check(object);
        assert!(Rc::ptr_eq(self.engine(), keys.realm.engine()), "the keys belong to another engine");
        // SAFETY: (5): live keys of this engine.
        unsafe { self.own_or_none(object, keys.id(at)) }
    }

    /// As [`get_own`](Self::get_own), for an element of an array.
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
    /// Somebody holds a count of the atom.
    unsafe fn own_or_none(&self, object: &Value, atom: qjs::JSAtom) -> Result<Option<Value>, Exception> {
        // SAFETY: the caller holds a count of the atom.
        match unsafe { self.own_property_of_atom(object, atom) }? {
            None => return Ok(None),
            Some(found) if !found.is_accessor => return Ok(Some(found.value)),
            Some(_) => {}
        }
        // SAFETY: (3), (4), (5)
        self.own(unsafe { qjs::JS_GetProperty(self.raw(), object.raw(), atom) }).map(Some)
    }

    /// Makes a key of a name.
    ///
    /// # Errors
    /// Lack of memory.
    pub fn key(&self, name: &Value) -> Result<Key, Exception> {
        self.atom(name.into())
    }

    /// The name as a string.
    ///
    /// # Errors
    /// Lack of memory.
    pub fn name_of(&self, key: &Key) -> Result<Value, Exception> {
        self.check_key(key);
        // SAFETY: (4), (5); the key is alive.
        self.own(unsafe { qjs::JS_AtomToString(self.raw(), key.atom) })
    }

    /// Gives an object a new property, as an assignment would, but runs no setter of a prototype.
    ///
    /// # Errors
    /// Lack of memory.
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
