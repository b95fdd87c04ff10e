//! StructuredSerializeInternal: a graph of values to a tape. Here is the way through the graph; how each kind of value is written,
//! in `writer/kinds.rs`.

use std::collections::HashMap;

use waitword_quickjs::{Exception, Key, Keys, Realm, Value};

use super::functions::CloneFunctions;
use super::serialized::{MESSAGE_OVERHEAD, SerializedMessage, tag};

mod kinds;

/// Writes a value. The ArrayBuffers and the ports that are transferred are named in it, and move when it is
/// [sealed](SerializedMessage::seal). Runs getters of scripts.
///
/// # Errors
/// A DataCloneError for what cannot be cloned, and what a getter throws.
pub(crate) fn write(
    functions: &CloneFunctions,
    value: &Value,
    buffers: &[Value],
    ports: &[Value],
) -> Result<SerializedMessage, Exception> {
    let realm = &functions.realm;
    let charge = match realm.memory_budget().map(|budget| budget.charge(MESSAGE_OVERHEAD)) {
        Some(None) => return Err(functions.no_room()),
        charge => charge.flatten(),
    };
    let moving = |tag| move |(at, each): (usize, &Value)| (each.address().addr(), (tag, at));
    let buffers_moving = buffers.iter().enumerate().map(moving(tag::MOVED));
    let mut writer = Writer {
        realm,
        functions,
        serialized: SerializedMessage {
            met: vec![None; buffers.len()],
            charge,
            ..SerializedMessage::default()
        },
        charged: 0,
        moving: buffers_moving.chain(ports.iter().enumerate().map(moving(tag::PORT))).collect(),
        objects: Vec::new(),
        seen: HashMap::new(),
        copied: HashMap::new(),
        keys: HashMap::new(),
        kept: Vec::new(),
        open: Vec::new(),
    };
    writer.value(value)?;
    while let Some(open) = writer.open.pop() {
        writer.go_on(open)?;
    }
    Ok(writer.serialized)
}

pub(super) struct Writer<'a> {
    pub(super) realm: &'a Realm,
    pub(super) functions: &'a CloneFunctions,
    pub(super) serialized: SerializedMessage,
    /// How many bytes of the tape are paid for.
    pub(super) charged: usize,
    /// What is transferred, by address: as what, and which.
    pub(super) moving: HashMap<usize, (u8, usize)>,
    /// All objects that were met. They are kept, for a getter could drop one, and another be made at its address.
    pub(super) objects: Vec<Value>,
    /// Their numbers, by address.
    pub(super) seen: HashMap<usize, usize>,
    /// How many bytes of a resizable ArrayBuffer were copied, by address.
    pub(super) copied: HashMap<usize, usize>,
    /// The numbers of the keys that were written, by id, and the keys themselves.
    pub(super) keys: HashMap<u32, usize>,
    pub(super) kept: Vec<Key>,
    /// The objects that are being written, outermost first.
    pub(super) open: Vec<Open<'a>>,
}

/// An object of which a part is still to be written.
pub(super) enum Open<'a> {
    Properties {
        object: Value,
        keys: Keys<'a>,
        at: usize,
    },
    Elements {
        array: Value,
        at: u32,
        length: u32,
    },
    /// Of a view also the byte of its buffer that it ends at.
    Row {
        row: Value,
        view_end: Option<usize>,
        at: u32,
        length: u32,
    },
}

impl<'a> Writer<'a> {
    /// Writes parts of an object until one is an object itself, which comes first then.
    pub(super) fn go_on(&mut self, mut open: Open<'a>) -> Result<(), Exception> {
        let depth = self.open.len();
        while let Some(part) = self.next_part(&mut open)? {
            if self.opens(&part)? {
                self.open.insert(depth, open);
                break;
            }
        }
        Ok(())
    }

    /// The next part of an object, whose key is written already; `None` when it is complete.
    fn next_part(&mut self, open: &mut Open<'a>) -> Result<Option<Value>, Exception> {
        let realm = self.realm;
        match open {
            Open::Properties { object, keys, at } => {
                while *at < keys.len() {
                    let value = realm.get_own_at(object, keys, *at)?;
                    *at += 1;
                    if value.is_some() {
                        self.key(keys, *at - 1)?;
                        return Ok(value);
                    }
                }
                self.number(0);
                self.byte(tag::END);
            }
            Open::Elements { array, at, length } => {
                while *at < *length {
                    let value = realm.get_own_index(array, *at)?;
                    *at += 1;
                    if value.is_some() {
                        return Ok(value);
                    }
                    self.byte(tag::HOLE);
                }
            }
            Open::Row { row, view_end, at, length } if *at < *length => {
                let value = realm.get(row, *at)?;
                *at += 1;
                if let Some(end) = *view_end {
                    self.view_on(&value, end)?;
                }
                return Ok(Some(value));
            }
            Open::Row { .. } => {}
        }
        Ok(None)
    }

    /// Writes a value; whether it is an object with parts that have to come next.
    pub(super) fn opens(&mut self, value: &Value) -> Result<bool, Exception> {
        let depth = self.open.len();
        self.value(value)?;
        Ok(self.open.len() > depth)
    }

    pub(super) fn value(&mut self, value: &Value) -> Result<(), Exception> {
        self.room(16)?;
        if value.is_object() {
            return self.object(value);
        }
        if value.is_undefined() {
            self.byte(tag::UNDEFINED);
        } else if value.is_null() {
            self.byte(tag::NULL);
        } else if let Some(value) = value.as_bool() {
            self.byte(if value { tag::TRUE } else { tag::FALSE });
        } else if let Some(number) = value.as_number() {
            self.js_number(number);
        } else if value.is_string() {
            self.byte(tag::STRING);
            self.text(value)?;
        } else if value.is_bigint() {
            self.byte(tag::BIGINT);
            self.text(value)?;
        } else {
            return Err(self.refusal(value));
        }
        Ok(())
    }

    pub(super) fn object(&mut self, object: &Value) -> Result<(), Exception> {
        let realm = self.realm;
        let address = object.address().addr();
        if let Some(number) = self.seen.get(&address).copied() {
            self.byte(tag::REF);
            self.number(number);
            return Ok(());
        }
        if realm.is_proxy(object) || realm.is_function(object) {
            return Err(self.refusal(object));
        }
        self.seen.insert(address, self.objects.len());
        self.objects.push(object.clone());
        if let Some((tag, at)) = self.moving.get(&address).copied() {
            if tag == tag::MOVED {
                self.serialized.met[at].get_or_insert(0);
            }
            self.byte(tag);
            self.number(at);
            return Ok(());
        }
        if self.functions.has_uncloneable.get() {
            let asked = self.functions.call(&self.functions.is_uncloneable, std::slice::from_ref(object))?;
            if realm.to_bool(&asked) {
                return Err(self.refusal(object));
            }
        }
        if object.is_array() {
            return self.array(object);
        }
        if realm.is_ordinary(object) {
            let proto = realm.prototype(object)?;
            if proto.is_null() || proto.is_same_object(&self.functions.object_prototype) {
                return self.ordinary(object);
            }
        } else if realm.is_array_buffer(object) {
            return self.buffer(object);
        } else if let Some(block) = realm.shared_block(object) {
            self.block(object, block);
            return Ok(());
        }
        // IsArrayBufferViewOutOfBounds, also of one whose buffer is detached.
        if realm.typed_array_kind(object).is_some() && realm.typed_array_view(object).is_err() {
            return Err(self.functions.refusal(object, Some("is out of the bounds of its buffer")));
        }
        let is_ordinary = realm.is_ordinary(object);
        let row = self.functions.call(&self.functions.row, &[object.clone(), realm.bool(is_ordinary)])?;
        if row.is_object() {
            self.row(object, row)
        } else if is_ordinary {
            self.ordinary(object)
        } else {
            Err(self.refusal(object))
        }
    }

    pub(super) fn refusal(&self, value: &Value) -> Exception {
        self.functions.refusal(value, None)
    }

    pub(super) fn text(&mut self, string: &Value) -> Result<(), Exception> {
        let realm = self.realm;
        realm.with_text(string, |text| self.bytes(text))
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Exception> {
        self.room(bytes.len())?;
        self.number(bytes.len());
        self.serialized.tape.extend_from_slice(bytes);
        Ok(())
    }

    pub(super) fn number(&mut self, mut number: usize) {
        while number > 0x7f {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.serialized.tape.push(byte);
    }

    /// Pays for so many more bytes, and for the few of a tag and a number.
    pub(super) fn room(&mut self, bytes: usize) -> Result<(), Exception> {
        let needed = self.serialized.tape.len() + bytes + 16;
        if needed <= self.charged || self.serialized.charge.is_none() {
            return Ok(());
        }
        // In strides, so that small values do not count one by one.
        let stride = (needed - self.charged).max(self.charged / 8);
        if !self.serialized.charge_for(stride) {
            return Err(self.functions.no_room());
        }
        self.charged += stride;
        Ok(())
    }
}
