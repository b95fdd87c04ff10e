//! How each kind of value is written.

use waitword_agents::SharedBlock;

use waitword_quickjs::{Exception, Keys, Value};

use super::{Open, Writer};
use crate::clone::serialized::tag;

impl Writer<'_> {
    pub(crate) fn ordinary(&mut self, object: &Value) -> Result<(), Exception> {
        let keys = self.realm.own_keys(object)?;
        self.byte(tag::OBJECT);
        self.open.push(Open::Properties { object: object.clone(), keys, at: 0 });
        Ok(())
    }

    pub(crate) fn array(&mut self, array: &Value) -> Result<(), Exception> {
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

    pub(crate) fn row(&mut self, object: &Value, row: Value) -> Result<(), Exception> {
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

    /// The last two parts are the offset and the length, which is a number of elements, and undefined if it follows the buffer.
    fn view_end(&self, view: &Value, row: &Value, length: u32) -> Result<usize, Exception> {
        let realm = self.realm;
        let part = |at: u32| Ok(realm.get(row, at)?.as_number().map_or(0, |number| number as usize));
        let (offset, count) = (part(length - 2)?, part(length - 1)?);
        let is_typed = count > 0 && realm.typed_array_kind(view).is_some();
        Ok(offset + if is_typed { realm.typed_array_view(view)?.byte_length } else { count })
    }

    /// A view has to lie in the copy of its buffer as well: the buffer may have grown since its bytes were copied, and may
    /// shrink before they are moved.
    pub(crate) fn view_on(&mut self, buffer: &Value, end: usize) -> Result<(), Exception> {
        let address = buffer.address().addr();
        if let Some(&(tag::MOVED, at)) = self.moving.get(&address) {
            self.serialized.met[at] = self.serialized.met[at].max(Some(end));
        } else if self.copied.get(&address).is_some_and(|&copied| copied < end) {
            return Err(self.functions.refusal(buffer, Some("has grown since it was cloned")));
        }
        Ok(())
    }

    pub(crate) fn buffer(&mut self, buffer: &Value) -> Result<(), Exception> {
        let realm = self.realm;
        let max_len = self.functions.max_len(buffer)?;
        self.byte(tag::BUFFER);
        self.number(max_len.map_or(0, |max_len| max_len + 1));
        // What is detached has no bytes.
        let length = realm
            .buffer_byte_length(buffer)
            .map_err(|_| self.functions.refusal(buffer, Some("is detached and could not be cloned")))?;
        if max_len.is_some() {
            self.copied.insert(buffer.address().addr(), length);
        }
        // Before the bytes are looked at: a refusal runs what scripts have made of `Error.prepareStackTrace`.
        self.room(length)?;
        self.number(length);
        realm.copy_array_buffer(buffer, length, &mut self.serialized.tape)
    }

    pub(crate) fn block(&mut self, buffer: &Value, block: SharedBlock) {
        self.byte(tag::BLOCK);
        self.number(self.serialized.blocks.len());
        // A block is at least one byte, a buffer may have none.
        let length = self.realm.buffer_byte_length(buffer).unwrap_or(0);
        self.byte(u8::from(length > 0 || block.is_growable()));
        self.serialized.blocks.push(block);
    }

    /// A key of which more follows, by number if it was written before.
    pub(crate) fn key(&mut self, keys: &Keys<'_>, at: usize) -> Result<(), Exception> {
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

    pub(crate) fn js_number(&mut self, number: f64) {
        let int = number as i32;
        if f64::from(int).to_bits() == number.to_bits() {
            self.byte(tag::INT);
            self.serialized.tape.extend(int.to_le_bytes());
        } else {
            self.byte(tag::NUMBER);
            self.serialized.tape.extend(number.to_le_bytes());
        }
    }
}
