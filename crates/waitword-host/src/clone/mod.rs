//! Structured clone, as the web defines it: a graph of values becomes a [`Parcel`], which any agent makes a copy of.
//!
//! `writer/` walks the graph, depth first and in the order in which the standard has it, because getters see the order.
//! `reader/` builds it anew. Neither uses the thread's stack for depth. Both know the values that messages are mostly made
//! of; the rest (Maps, dates, errors, typed arrays, ...) the JavaScript half takes apart and puts together, `js/clone.js`.
//!
//! A message on the tape is one value. After its tag:
//! ```text
//!   value   one of the immediate ones, or:
//!   REF     number of an object; they are numbered in the order in which they are met
//!   OBJECT  (key value)* END
//!   ARRAY   length (key value)* END           holes, or other properties than elements
//!   LIST    length (value | HOLE)*            elements only
//!   MAP     count (key value)*                 SET the same; count is that of the values
//!   ROW     heads count kind value*            what else clone.js made of it: heads, what is put into it afterwards
//!   BUFFER, BLOCK, MOVED, PORT                 bytes; or a number in the parcel
//!   key     0 and a STRING the first time, then its number from 1; 0 and END instead of one that does not come
//! ```
//! Numbers are of 7 bits a byte, the lowest first.

mod reader;
mod writer;

use std::cell::Cell;

use waitword_agents::{Charge, SharedBlock};

use waitword_quickjs::{Exception, Realm, Value};

pub(crate) use reader::read;
pub(crate) use writer::write;

/// A graph of values on its way to an agent. It can be read as often as one likes, but for what was transferred.
#[derive(Default)]
pub(crate) struct Parcel {
    tape: Vec<u8>,
    /// The memory of its SharedArrayBuffers.
    blocks: Vec<SharedBlock>,
    /// The bytes of transferred ArrayBuffers, once they are [sealed](Parcel::seal) in.
    moved: Vec<Bytes>,
    /// Of each ArrayBuffer that is transferred, if it is in the graph: how long it has to be for the views on it.
    met: Vec<Option<usize>>,
    /// What it costs the agent that wrote it, until it is read or dropped.
    charge: Option<Charge>,
}

/// What an ArrayBuffer is made of.
#[derive(Default)]
struct Bytes {
    bytes: Vec<u8>,
    /// If it can be resized.
    max_len: Option<usize>,
}

/// What a parcel costs besides its bytes, and each of its ports.
const PARCEL_OVERHEAD: usize = 256;
const PORT_OVERHEAD: usize = 512;

/// The functions of `js/clone.js` that know about the rarer kinds of values, and what a script cannot replace of the rest.
pub(crate) struct Kit {
    /// `row(object, is_ordinary)`: `[kind, heads, ...values]`, or undefined for one that it does not know.
    row: Value,
    /// `revive(kind, ...heads)`: the object, without what is put into it afterwards.
    revive: Value,
    /// `fill(object, values)`
    fill: Value,
    /// `refuse(value, why)`: throws the DataCloneError.
    refuse: Value,
    /// `isUncloneable(object)`: whether the script has marked it so.
    is_uncloneable: Value,
    /// Whether any was marked: most agents are never asked.
    has_uncloneable: Cell<bool>,
    /// `noRoom()`: throws the one for a message that is too large.
    no_room: Value,
    /// `%Object.prototype%`
    object_prototype: Value,
    /// Constructors, and the functions that add to what they make.
    map: Value,
    map_set: Value,
    set: Value,
    set_add: Value,
    /// The getters of `ArrayBuffer.prototype`.
    is_resizable: Value,
    max_byte_length: Value,
}

impl Kit {
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
    fn refusal(&self, realm: &Realm, value: &Value, why: Option<&str>) -> Exception {
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

    fn max_len(&self, realm: &Realm, buffer: &Value) -> Result<Option<usize>, Exception> {
        if !realm.to_bool(&realm.call(&self.is_resizable, buffer, &[])?) {
            return Ok(None);
        }
        let max = realm.call(&self.max_byte_length, buffer, &[])?;
        Ok(max.as_number().map(|max| max as usize))
    }
}

impl Parcel {
    /// Moves the ArrayBuffers that are transferred into the parcel, and counts it on the agent's budget with so many ports.
    ///
    /// # Errors
    /// A DataCloneError when one cannot be moved any more, or there is no room. Nothing has been moved then.
    pub(crate) fn seal(
        &mut self,
        realm: &Realm,
        kit: &Kit,
        buffers: &[Value],
        ports: usize,
    ) -> Result<(), Exception> {
        let mut moved = Vec::with_capacity(buffers.len());
        for (at, buffer) in buffers.iter().enumerate() {
            if realm.is_immutable_buffer(buffer) {
                return Err(kit.refusal(realm, buffer, Some("is immutable and cannot be transferred")));
            }
            let max_len = kit.max_len(realm, buffer)?;
            let length = realm.buffer_byte_length(buffer);
            let length = length.map_err(|_| kit.refusal(realm, buffer, Some("is already detached")))?;
            let length = match self.met[at] {
                Some(viewed) if length < viewed => {
                    return Err(kit.refusal(realm, buffer, Some("has shrunk under a view that was cloned")));
                }
                Some(_) => length,
                // What the message does not name is detached all the same, but nobody will see its bytes.
                None => 0,
            };
            if !self.charge_for(length) {
                return Err(kit.no_room(realm));
            }
            let mut bytes = Vec::new();
            realm.copy_array_buffer(buffer, length, &mut bytes)?;
            moved.push(Bytes { bytes, max_len });
        }
        if !self.charge_for(ports * PORT_OVERHEAD) {
            return Err(kit.no_room(realm));
        }
        for buffer in buffers {
            realm.detach_array_buffer(buffer)?;
        }
        self.moved = moved;
        Ok(())
    }

    /// A copy of one in which nothing moves, which costs as much again. `None` when the budget does not have that.
    pub(crate) fn another(&self) -> Option<Self> {
        let charge = match &self.charge {
            Some(charge) => Some(charge.again()?),
            None => None,
        };
        let (tape, blocks) = (self.tape.clone(), self.blocks.clone());
        Some(Self { tape, blocks, charge, ..Self::default() })
    }

    /// Gives back what it cost.
    pub(crate) fn release(&mut self) {
        self.charge = None;
    }

    /// Whether the budget of the agent that wrote this has so many bytes more.
    fn charge_for(&mut self, bytes: usize) -> bool {
        self.charge.as_mut().is_none_or(|charge| charge.grow(bytes))
    }
}

/// Tags of values on the tape.
mod tag {
    pub(crate) const UNDEFINED: u8 = 0;
    pub(crate) const NULL: u8 = 1;
    pub(crate) const FALSE: u8 = 2;
    pub(crate) const TRUE: u8 = 3;
    /// 4 bytes
    pub(crate) const INT: u8 = 4;
    /// 8 bytes
    pub(crate) const NUMBER: u8 = 5;
    /// length, bytes
    pub(crate) const STRING: u8 = 6;
    /// as a STRING, in decimal
    pub(crate) const BIGINT: u8 = 7;
    pub(crate) const REF: u8 = 8;
    pub(crate) const OBJECT: u8 = 9;
    pub(crate) const ARRAY: u8 = 10;
    pub(crate) const LIST: u8 = 11;
    pub(crate) const HOLE: u8 = 12;
    pub(crate) const ROW: u8 = 13;
    pub(crate) const MAP: u8 = 19;
    pub(crate) const SET: u8 = 20;
    /// maximum + 1, or 0; length, bytes
    pub(crate) const BUFFER: u8 = 14;
    pub(crate) const BLOCK: u8 = 15;
    pub(crate) const MOVED: u8 = 16;
    pub(crate) const PORT: u8 = 17;
    /// Where the string of a new key could be: there are no more keys.
    pub(crate) const END: u8 = 18;
}
