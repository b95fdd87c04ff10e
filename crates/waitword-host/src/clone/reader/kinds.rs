//! How each kind of value is made.

use crate::clone::serialized::tag;
use waitword_quickjs::{Exception, Value};

use super::{Open, Reader};

impl Reader<'_> {
    pub(crate) fn value(&mut self) -> Result<Option<Value>, Exception> {
        let realm = self.realm;
        let value = match self.byte() {
            tag::UNDEFINED => realm.undefined(),
            tag::NULL => realm.null(),
            tag::FALSE => realm.bool(false),
            tag::TRUE => realm.bool(true),
            tag::INT => realm.number(i32::from_le_bytes(self.array())),
            tag::NUMBER => realm.number(f64::from_le_bytes(self.array())),
            tag::STRING => self.text()?,
            tag::BIGINT => self.bigint()?,
            tag::REF => {
                let number = self.number();
                self.objects[number].clone()
            }
            tag::OBJECT => {
                let object = realm.object()?;
                return Ok(self.begin(object.clone(), Open::Properties { object, key: 0 }));
            }
            tag::ARRAY => {
                let (object, length) = (realm.array(&[])?, self.number());
                realm.set_array_length(&object, length as u32)?;
                return Ok(self.begin(object.clone(), Open::Properties { object, key: 0 }));
            }
            tag::LIST => {
                let (array, length) = (realm.array(&[])?, self.number() as u32);
                return Ok(self.begin(array.clone(), Open::Elements { array, at: 0, length }));
            }
            tag @ (tag::MAP | tag::SET) => {
                let (is_map, left, functions) = (tag == tag::MAP, self.number(), self.functions);
                let (constructor, add) = if is_map {
                    (&functions.map, &functions.map_set)
                } else {
                    (&functions.set, &functions.set_add)
                };
                let object = realm.construct(constructor, &[])?;
                let members =
                    Open::Members { object: object.clone(), add: add.clone(), is_map, key: None, left };
                return Ok(self.begin(object, members));
            }
            tag::ROW => {
                let (heads, left) = (self.number(), self.number());
                let (kind, number) = (self.text()?, self.objects.len());
                let row = Open::Row { number, kind, shell: None, heads, left, values: Vec::new() };
                return Ok(self.begin(realm.undefined(), row));
            }
            tag::BUFFER => {
                let max_len = self.number().checked_sub(1);
                let length = self.number();
                let bytes = self.take(length);
                let buffer = self.buffer(bytes, max_len)?;
                self.keep(buffer)
            }
            tag::MOVED => {
                let number = self.number();
                let bytes = std::mem::take(&mut self.moved[number]);
                let buffer = self.buffer(&bytes.bytes, bytes.max_len)?;
                self.keep(buffer)
            }
            tag::BLOCK => {
                let number = self.number();
                let block = &self.blocks[number];
                let buffer = match self.byte() {
                    0 => realm.empty_shared_array_buffer(block)?,
                    _ => realm.shared_array_buffer(block)?,
                };
                self.keep(buffer)
            }
            tag::PORT => {
                let number = self.number();
                self.keep(self.ports[number].clone())
            }
            other => unreachable!("a writer of ours wrote a {other} where a value has to be"),
        };
        Ok(Some(value))
    }

    fn begin(&mut self, object: Value, open: Open) -> Option<Value> {
        self.objects.push(object);
        self.open.push(open);
        None
    }

    fn keep(&mut self, object: Value) -> Value {
        self.objects.push(object.clone());
        object
    }

    fn buffer(&self, bytes: &[u8], max_len: Option<usize>) -> Result<Value, Exception> {
        let realm = self.realm;
        let Some(max_len) = max_len else { return realm.array_buffer(bytes) };
        let arguments =
            [realm.string("resizable")?, realm.number(bytes.len() as f64), realm.number(max_len as f64)];
        let buffer = self.functions.call(&self.functions.revive, &arguments)?;
        realm.fill_array_buffer(&buffer, bytes)?;
        Ok(buffer)
    }

    fn bigint(&mut self) -> Result<Value, Exception> {
        let arguments = [self.realm.string("bigint")?, self.text()?];
        self.functions.call(&self.functions.revive, &arguments)
    }

    pub(crate) fn new_key(&mut self) -> Result<usize, Exception> {
        let name = self.text()?;
        self.keys.push(self.realm.key(&name)?);
        Ok(self.keys.len() - 1)
    }

    fn text(&mut self) -> Result<Value, Exception> {
        let length = self.number();
        let bytes = self.take(length);
        self.realm.string_of(bytes)
    }
}
