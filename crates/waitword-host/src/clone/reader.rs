//! StructuredDeserialize: a copy of what is on a tape. Here is the way along the tape; how each kind of value is made, in `reader/kinds.rs`.

use waitword_quickjs::{Exception, Key, Realm, Value};

use super::functions::CloneFunctions;
use super::serialized::{Bytes, SerializedMessage, tag};

mod kinds;

/// The value in a serialized message, made of new objects. `ports`: those that came with it, in their order.
///
/// # Errors
/// Lack of memory.
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

pub(super) struct Reader<'a> {
    pub(super) realm: &'a Realm,
    pub(super) functions: &'a CloneFunctions,
    pub(super) rest: &'a [u8],
    pub(super) blocks: &'a [waitword_agents::SharedBlock],
    pub(super) moved: &'a mut Vec<Bytes>,
    pub(super) ports: &'a [Value],
    /// By their numbers. `undefined` where one is not made yet: nothing refers to it then.
    pub(super) objects: Vec<Value>,
    pub(super) keys: Vec<Key>,
    /// The objects that are being read, outermost first.
    pub(super) open: Vec<Open>,
}

/// An object of which a part is still to come.
pub(super) enum Open {
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
    pub(super) fn accept(&mut self, realm: &Realm, keys: &[Key], value: Value) -> Result<(), Exception> {
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
    pub(super) fn step(&mut self) -> Result<Option<Value>, Exception> {
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
            // The heads are there: makes the object, so that what is put into it can refer to it.
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

    pub(super) fn number(&mut self) -> usize {
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

    pub(super) fn byte(&mut self) -> u8 {
        self.take(1)[0]
    }

    pub(super) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N));
        array
    }
}

impl<'a> Reader<'a> {
    /// The next bytes of the tape. It ends where its value does, so there are so many.
    pub(super) fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }
}
