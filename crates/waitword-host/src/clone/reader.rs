//! StructuredDeserialize: builds a copy from a tape. First the traversal of the tape, then the creation of each kind of value, then its bytes.

use waitword_quickjs::{Exception, Key, Realm, Value};

use super::functions::CloneFunctions;
use super::serialized::{Bytes, SerializedMessage, tag};

/// Builds the value of a serialized message from new objects. `ports`: those that came with it, in their order.
///
/// # Errors
/// If the engine runs out of memory.
pub(crate) fn read(
    functions: &CloneFunctions,
    serialized: &mut SerializedMessage,
    ports: &[Value],
) -> Result<Value, Exception> {
    let realm = &functions.realm;
    let mut reader = Reader {
        realm,
        functions,
        rest: &serialized.tape,
        blocks: &serialized.blocks,
        moved: &mut serialized.moved,
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
    functions: &'a CloneFunctions,
    rest: &'a [u8],
    blocks: &'a [waitword_agents::SharedBlock],
    moved: &'a mut Vec<Bytes>,
    ports: &'a [Value],
    /// The objects by their numbers. `undefined` for one that is not created yet, to which nothing refers yet.
    objects: Vec<Value>,
    keys: Vec<Key>,
    /// The objects that are being read, outermost first.
    open: Vec<Open>,
}

/// An object whose parts are not complete.
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
    /// Adds the next part.
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
    /// Reads a value, or begins or ends one that has parts. Returns the value that is complete now.
    fn step(&mut self) -> Result<Option<Value>, Exception> {
        let Some(mut open) = self.open.pop() else { return self.value() };
        match &mut open {
            Open::Properties { object, key } => {
                *key = match self.number() {
                    0 => match self.byte() {
                        tag::END => return Ok(Some(object.clone())),
                        _ => self.new_key()?,
                    },
                    number => number - 1,
                };
            }
            Open::Elements { array, at, length } => {
                let before = *at;
                while at < length && self.rest.first() == Some(&tag::HOLE) {
                    self.byte();
                    *at += 1;
                }
                if at == length {
                    if before < *at {
                        self.realm.set_array_length(array, *length)?;
                    }
                    return Ok(Some(array.clone()));
                }
            }
            Open::Members { object, left: 0, .. } => return Ok(Some(object.clone())),
            // The heads are complete: creates the object, so that what is put into it can refer to it.
            Open::Row { number, kind, shell: shell @ None, heads, values, .. } if values.len() == *heads => {
                let arguments: Vec<Value> = std::iter::once(kind.clone()).chain(values.drain(..)).collect();
                let object = self.functions.call(&self.functions.revive, &arguments)?;
                self.objects[*number] = object.clone();
                *shell = Some(object);
                self.open.push(open);
                return Ok(None);
            }
            Open::Row { shell: Some(object), left: 0, values, .. } => {
                if !values.is_empty() {
                    let contents = self.realm.array(values)?;
                    self.functions.call(&self.functions.fill, &[object.clone(), contents])?;
                }
                return Ok(Some(object.clone()));
            }
            Open::Members { .. } | Open::Row { .. } => {}
        }
        self.open.push(open);
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
    /// The next bytes of the tape, which contains a complete value, so they exist.
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }
}
