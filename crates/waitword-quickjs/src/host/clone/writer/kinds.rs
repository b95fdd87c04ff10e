//! How each kind of value is written.

use waitword_agents::SharedBlock;

use crate::ffi::{Exception, Keys, Value};

use super::{Open, Writer};
use crate::host::clone::tag;

impl Writer<'_> {
    pub(super) fn ordinary(&mut self, object: &Value) -> Result<(), Exception> {
        let keys = self.realm.own_keys(object)?;
        self.byte(tag::OBJECT);
        self.open.push(Open::Properties { object: object.clone(), keys, at: 0 });
        Ok(())
    }

    pub(super) fn array(&mut self, array: &Value) -> Result<(), Exception> {
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

    pub(super) fn row(&mut self, row: Value) -> Result<(), Exception> {
        let realm = self.realm;
        let length = realm.array_length(&row)?;
        let kind = realm.get(&row, 0)?;
        let tag = realm.with_text(&kind, |kind| {
            Ok(match kind {
                b"map" => tag::MAP,
                b"set" => tag::SET,
                _ => tag::ROW,
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
        self.open.push(Open::Row { row, at: 2, length });
        Ok(())
    }

    pub(super) fn buffer(&mut self, buffer: &Value) -> Result<(), Exception> {
        let realm = self.realm;
        let max_len = self.kit.max_len(realm, buffer)?;
        self.byte(tag::BUFFER);
        self.number(max_len.map_or(0, |max_len| max_len + 1));
        let written = realm.with_bytes(buffer, |bytes| self.bytes(bytes));
        match written {
            // What is detached has no bytes.
            Err(_) if realm.with_bytes(buffer, |_| Ok(())).is_err() => {
                Err(self.kit.refusal(realm, buffer, Some("is detached and could not be cloned")))
            }
            written => written,
        }
    }

    pub(super) fn block(&mut self, buffer: &Value, block: SharedBlock) {
        self.byte(tag::BLOCK);
        self.number(self.parcel.blocks.len());
        // A block is at least one byte, a buffer may have none.
        let length = self.realm.engine_byte_length(buffer).unwrap_or(0);
        self.byte(u8::from(length > 0 || block.is_growable()));
        self.parcel.blocks.push(block);
    }

    /// A key of which more follows, by number if it was written before.
    pub(super) fn key(&mut self, keys: &Keys<'_>, at: usize) -> Result<(), Exception> {
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

    pub(super) fn js_number(&mut self, number: f64) {
        let int = number as i32;
        if f64::from(int).to_bits() == number.to_bits() {
            self.byte(tag::INT);
            self.parcel.tape.extend(int.to_le_bytes());
        } else {
            self.byte(tag::NUMBER);
            self.parcel.tape.extend(number.to_le_bytes());
        }
    }
}
