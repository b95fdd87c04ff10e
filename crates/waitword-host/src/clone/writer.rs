//! StructuredSerializeInternal: writes a graph of values to a tape. First the traversal of the graph, then the encoding of each kind of value,
//! then its bytes.

use std::collections::HashMap;

use waitword_agents::SharedBlock;
use waitword_quickjs::{Exception, Key, Keys, Realm, Value};

use super::functions::CloneFunctions;
use super::serialized::{MESSAGE_OVERHEAD, SerializedMessage, tag};

/// Writes a value. Transferred ArrayBuffers and ports are only referred to; they move in [`seal`](SerializedMessage::seal). Runs getters of
/// scripts.
///
/// # Errors
/// A DataCloneError if a value cannot be cloned, and what a getter throws.
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

struct Writer<'a> {
    realm: &'a Realm,
    functions: &'a CloneFunctions,
    serialized: SerializedMessage,
    /// The bytes of the tape that are charged.
    charged: usize,
    /// The transferred objects by address: the tag and the index.
    moving: HashMap<usize, (u8, usize)>,
    /// All visited objects. They are kept, because a getter could drop one, and another could be created at its address.
    objects: Vec<Value>,
    /// Their numbers, by address.
    seen: HashMap<usize, usize>,
    /// The copied bytes of each resizable ArrayBuffer, by address.
    copied: HashMap<usize, usize>,
    /// The numbers of the written keys, by id, and the keys themselves.
    keys: HashMap<u32, usize>,
    kept: Vec<Key>,
    /// The objects that are being written, outermost first.
    open: Vec<Open<'a>>,
}

/// An object whose parts are not all written.
enum Open<'a> {
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
    /// For a view, also the end of the view in its buffer, in bytes.
    Row {
        row: Value,
        view_end: Option<usize>,
        at: u32,
        length: u32,
    },
}

impl<'a> Writer<'a> {
    /// Writes parts of an object until one is an object itself, which is written next.
    fn go_on(&mut self, mut open: Open<'a>) -> Result<(), Exception> {
        let depth = self.open.len();
        while let Some(part) = self.next_part(&mut open)? {
            if self.opens(&part)? {
                self.open.insert(depth, open);
                break;
            }
        }
        Ok(())
    }

    /// The next part of an object, whose key is written already; `None` if the object is complete.
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

    /// Writes a value. Returns whether it is an object with parts, which have to be written next.
    fn opens(&mut self, value: &Value) -> Result<bool, Exception> {
        let depth = self.open.len();
        self.value(value)?;
        Ok(self.open.len() > depth)
    }

    fn value(&mut self, value: &Value) -> Result<(), Exception> {
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

    fn object(&mut self, object: &Value) -> Result<(), Exception> {
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
        // IsArrayBufferViewOutOfBounds, also if the buffer is detached.
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

    fn ordinary(&mut self, object: &Value) -> Result<(), Exception> {
        let keys = self.realm.own_keys(object)?;
        self.byte(tag::OBJECT);
        self.open.push(Open::Properties { object: object.clone(), keys, at: 0 });
        Ok(())
    }

    fn array(&mut self, array: &Value) -> Result<(), Exception> {
        let keys = self.realm.own_keys(array)?;
        let length = self.realm.array_length(array)?;
        let is_list = keys.are_indices(length);
        self.byte(if is_list { tag::LIST } else { tag::ARRAY });
        self.number(length as usize);
        self.open.push(match is_list {
            true => Open::Elements { array: array.clone(), at: 0, length },
            false => Open::Properties { object: array.clone(), keys, at: 0 },
        });
        Ok(())
    }

    fn row(&mut self, object: &Value, row: Value) -> Result<(), Exception> {
        let realm = self.realm;
        let length = realm.array_length(&row)?;
        let kind = realm.get(&row, 0)?;
        let (tag, is_view) = realm.with_text(&kind, |kind| {
            Ok(match kind {
                b"map" => (tag::MAP, false),
                b"set" => (tag::SET, false),
                _ => (tag::ROW, matches!(kind, b"typed" | b"view")),
            })
        })?;
        self.byte(tag);
        if tag == tag::ROW {
            self.number(realm.to_i32(&realm.get(&row, 1)?)?.unsigned_abs() as usize);
        }
        self.number(length.saturating_sub(2) as usize);
        if tag == tag::ROW {
            self.text(&kind)?;
        }
        let view_end = if is_view { Some(self.view_end(object, &row, length)?) } else { None };
        self.open.push(Open::Row { row, view_end, at: 2, length });
        Ok(())
    }

    /// The last two parts are the offset and the length. The length is a number of elements, or undefined if the view tracks the buffer's
    /// length.
    fn view_end(&self, view: &Value, row: &Value, length: u32) -> Result<usize, Exception> {
        let realm = self.realm;
        let part = |at: u32| Ok(realm.get(row, at)?.as_number().map_or(0, |number| number as usize));
        let (offset, count) = (part(length - 2)?, part(length - 1)?);
        let is_typed = count > 0 && realm.typed_array_kind(view).is_some();
        Ok(offset + if is_typed { realm.typed_array_view(view)?.byte_length } else { count })
    }

    /// Checks that a view is within the copy of its buffer, too. The buffer may have grown since its bytes were copied, and may shrink before
    /// they are moved.
    fn view_on(&mut self, buffer: &Value, end: usize) -> Result<(), Exception> {
        let address = buffer.address().addr();
        if let Some(&(tag::MOVED, at)) = self.moving.get(&address) {
            self.serialized.met[at] = self.serialized.met[at].max(Some(end));
        } else if self.copied.get(&address).is_some_and(|&copied| copied < end) {
            return Err(self.functions.refusal(buffer, Some("has grown since it was cloned")));
        }
        Ok(())
    }

    fn buffer(&mut self, buffer: &Value) -> Result<(), Exception> {
        let realm = self.realm;
        let max_len = self.functions.max_len(buffer)?;
        self.byte(tag::BUFFER);
        self.number(max_len.map_or(0, |max_len| max_len + 1));
        // A detached buffer has no bytes.
        let length = realm
            .buffer_byte_length(buffer)
            .map_err(|_| self.functions.refusal(buffer, Some("is detached and could not be cloned")))?;
        if max_len.is_some() {
            self.copied.insert(buffer.address().addr(), length);
        }
        // Before the bytes are read, because a refusal may run a script's `Error.prepareStackTrace`.
        self.room(length)?;
        self.number(length);
        realm.copy_array_buffer(buffer, length, &mut self.serialized.tape)
    }

    fn block(&mut self, buffer: &Value, block: SharedBlock) {
        self.byte(tag::BLOCK);
        self.number(self.serialized.blocks.len());
        // A block is at least one byte, a buffer may have none.
        let length = self.realm.buffer_byte_length(buffer).unwrap_or(0);
        self.byte(u8::from(length > 0 || block.is_growable()));
        self.serialized.blocks.push(block);
    }

    /// Writes a key whose value follows, by its number if it was written before.
    fn key(&mut self, keys: &Keys<'_>, at: usize) -> Result<(), Exception> {
        self.room(16)?;
        if let Some(number) = self.keys.get(&keys.id(at)).copied() {
            self.number(number);
            return Ok(());
        }
        let key = keys.key(at);
        self.number(0);
        self.byte(tag::STRING);
        self.text(&self.realm.name_of(&key)?)?;
        self.kept.push(key);
        self.keys.insert(keys.id(at), self.kept.len());
        Ok(())
    }

    fn js_number(&mut self, number: f64) {
        let int = number as i32;
        if f64::from(int).to_bits() == number.to_bits() {
            self.byte(tag::INT);
            self.serialized.tape.extend(int.to_le_bytes());
        } else {
            self.byte(tag::NUMBER);
            self.serialized.tape.extend(number.to_le_bytes());
        }
    }

    fn refusal(&self, value: &Value) -> Exception {
        self.functions.refusal(value, None)
    }

    fn text(&mut self, string: &Value) -> Result<(), Exception> {
        let realm = self.realm;
        realm.with_text(string, |text| self.bytes(text))
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Exception> {
        self.room(bytes.len())?;
        self.number(bytes.len());
        self.serialized.tape.extend_from_slice(bytes);
        Ok(())
    }

    fn number(&mut self, mut number: usize) {
        while number > 0x7f {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    fn byte(&mut self, byte: u8) {
        self.serialized.tape.push(byte);
    }

    /// Charges for more bytes, and for those of a tag and a number.
    fn room(&mut self, bytes: usize) -> Result<(), Exception> {
        let needed = self.serialized.tape.len() + bytes + 16;
        if needed <= self.charged || self.serialized.charge.is_none() {
            return Ok(());
        }
        // In strides, so that small values are not charged one by one.
        let stride = (needed - self.charged).max(self.charged / 8);
        if !self.serialized.charge_for(stride) {
            return Err(self.functions.no_room());
        }
        self.charged += stride;
        Ok(())
    }
}
