//! StructuredDeserialize: a copy of what is on a tape.

use crate::ffi::{Exception, Key, Realm, Value};
use crate::shared_array_buffer;

use super::{Kit, Parcel, tag};

/// The value in a parcel, made of new objects. `ports`: those that came with it, in their order.
///
/// # Errors
/// Lack of memory.
pub(in super::super) fn read(
    realm: &Realm,
    kit: &Kit,
    parcel: &mut Parcel,
    ports: &[Value],
) -> Result<Value, Exception> {
    let mut reader = Reader {
        realm,
        kit,
        rest: &parcel.tape,
        blocks: &parcel.blocks,
        moved: &mut parcel.moved,
        ports,
        objects: Vec::new(),
        keys: Vec::new(),
        open: Vec::new(),
    };
    loop {
        if let Some(value) = reader.step()? {
            match reader.open.last_mut() {
                None => return Ok(value),
                Some(open) => open.accept(realm, &reader.keys, value)?,
            }
        }
    }
}

struct Reader<'a> {
    realm: &'a Realm,
    kit: &'a Kit,
    rest: &'a [u8],
    blocks: &'a [waitword_agents::SharedBlock],
    moved: &'a mut Vec<super::Bytes>,
    ports: &'a [Value],
    /// By their numbers. `undefined` where one is not made yet: nothing refers to it then.
    objects: Vec<Value>,
    keys: Vec<Key>,
    /// The objects that are being read, outermost first.
    open: Vec<Open>,
}

/// An object of which a part is still to come.
enum Open {
    /// The number of the key whose value comes next.
    Properties {
        object: Value,
        key: usize,
    },
    Elements {
        array: Value,
        at: u32,
        length: u32,
    },
    /// Of a Map `key` is the one whose value comes next; of a Set there is none.
    Members {
        object: Value,
        add: Value,
        is_map: bool,
        key: Option<Value>,
        left: usize,
    },
    Row {
        number: usize,
        kind: Value,
        shell: Option<Value>,
        heads: usize,
        left: usize,
        values: Vec<Value>,
    },
}

impl Open {
    /// Takes in the next part.
    fn accept(&mut self, realm: &Realm, keys: &[Key], value: Value) -> Result<(), Exception> {
        match self {
            Self::Properties { object, key } => realm.put(object, &keys[*key], value),
            Self::Elements { array, at, .. } => {
                *at += 1;
                realm.put_index(array, *at - 1, value)
            }
            Self::Members { object, add, is_map, key, left } => {
                *left -= 1;
                match key.take() {
                    Some(key) => realm.call(add, object, &[key, value]).map(drop),
                    None if *is_map => {
                        *key = Some(value);
                        Ok(())
                    }
                    None => realm.call(add, object, &[value]).map(drop),
                }
            }
            Self::Row { left, values, .. } => {
                *left -= 1;
                values.push(value);
                Ok(())
            }
        }
    }
}

impl Reader<'_> {
    /// Reads a value, or begins or ends one that has parts; the value that is complete now.
    fn step(&mut self) -> Result<Option<Value>, Exception> {
        match self.open.last() {
            Some(Open::Properties { .. }) => {
                let key = match self.number() {
                    0 => match self.byte() {
                        tag::END => return Ok(self.close()),
                        _ => self.new_key()?,
                    },
                    number => number - 1,
                };
                if let Some(Open::Properties { key: next, .. }) = self.open.last_mut() {
                    *next = key;
                }
            }
            Some(Open::Elements { at, length, .. }) => {
                let (mut now, length) = (*at, *length);
                while now < length && self.rest.first() == Some(&tag::HOLE) {
                    self.byte();
                    now += 1;
                }
                if let Some(Open::Elements { array, at, .. }) = self.open.last_mut() {
                    if now > *at && now == length {
                        self.realm.set_array_length(array, length)?;
                    }
                    *at = now;
                }
                if now == length {
                    return Ok(self.close());
                }
            }
            Some(Open::Members { left: 0, .. }) => return Ok(self.close()),
            Some(Open::Members { .. }) => {}
            Some(Open::Row { shell, heads, left, values, .. }) => {
                if shell.is_none() && values.len() == *heads {
                    self.revive()?;
                    return Ok(None);
                }
                if *left == 0 {
                    return self.fill().map(Some);
                }
            }
            None => {}
        }
        self.value()
    }

    fn value(&mut self) -> Result<Option<Value>, Exception> {
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
                let (is_map, left, kit) = (tag == tag::MAP, self.number(), self.kit);
                let (constructor, add) =
                    if is_map { (&kit.map, &kit.map_set) } else { (&kit.set, &kit.set_add) };
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
                    0 => realm.shared_array_buffer_of(block, 0)?,
                    _ => shared_array_buffer::make(realm, block)?,
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

    fn close(&mut self) -> Option<Value> {
        self.open.pop().and_then(|open| match open {
            Open::Properties { object, .. } => Some(object),
            Open::Elements { array, .. } => Some(array),
            Open::Members { object, .. } => Some(object),
            Open::Row { shell, .. } => shell,
        })
    }

    /// The heads of a row are there: makes the object, so that what is put into it can refer to it.
    fn revive(&mut self) -> Result<(), Exception> {
        let Some(Open::Row { number, kind, shell, values, .. }) = self.open.last_mut() else { return Ok(()) };
        let arguments: Vec<Value> = std::iter::once(kind.clone()).chain(values.drain(..)).collect();
        let object = self.realm.call(&self.kit.revive, &self.realm.undefined(), &arguments)?;
        self.objects[*number] = object.clone();
        *shell = Some(object);
        Ok(())
    }

    /// All of a row is there.
    fn fill(&mut self) -> Result<Value, Exception> {
        let realm = self.realm;
        let Some(Open::Row { shell: Some(object), values, .. }) = self.open.pop() else {
            unreachable!("a row is revived before it is filled")
        };
        if !values.is_empty() {
            let contents = realm.array(&values)?;
            realm.call(&self.kit.fill, &realm.undefined(), &[object.clone(), contents])?;
        }
        Ok(object)
    }

    fn buffer(&self, bytes: &[u8], max_len: Option<usize>) -> Result<Value, Exception> {
        let realm = self.realm;
        let Some(max_len) = max_len else { return realm.array_buffer(bytes) };
        let arguments =
            [realm.string("resizable")?, realm.number(bytes.len() as f64), realm.number(max_len as f64)];
        let buffer = realm.call(&self.kit.revive, &realm.undefined(), &arguments)?;
        realm.with_bytes(&buffer, |into| {
            into.copy_from_slice(bytes);
            Ok(())
        })?;
        Ok(buffer)
    }

    fn bigint(&mut self) -> Result<Value, Exception> {
        let realm = self.realm;
        let arguments = [realm.string("bigint")?, self.text()?];
        realm.call(&self.kit.revive, &realm.undefined(), &arguments)
    }

    fn new_key(&mut self) -> Result<usize, Exception> {
        let name = self.text()?;
        self.keys.push(self.realm.key(&name)?);
        Ok(self.keys.len() - 1)
    }

    fn text(&mut self) -> Result<Value, Exception> {
        let length = self.number();
        let bytes = self.take(length);
        self.realm.string_of(bytes)
    }

    fn number(&mut self) -> usize {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return number;
            }
        }
    }

    fn byte(&mut self) -> u8 {
        self.take(1)[0]
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N));
        array
    }
}

impl<'a> Reader<'a> {
    /// The next bytes of the tape. It ends where its value does, so there are so many.
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }
}
