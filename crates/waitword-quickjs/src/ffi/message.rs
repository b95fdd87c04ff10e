//! Structured clone: a graph of JavaScript values as bytes and the blocks it shares, for another agent.

use std::collections::HashSet;

use rquickjs_sys as qjs;
use waitword_agents::SharedBlock;

use super::exception::Exception;
use super::realm::Realm;
use super::value::Value;

/// A copy of a graph of values that any agent of this process can read, as often as it likes.
///
/// SharedArrayBuffers in it are shared, not copied; the message keeps their blocks alive.
#[derive(Clone, Debug)]
pub struct Message {
    /// What the engine wrote. It contains addresses, so nobody else may write it, and it is never taken from outside.
    bytes: Box<[u8]>,
    blocks: Vec<SharedBlock>,
}

impl Message {
    /// The blocks that the message shares, in the order in which they were met.
    pub fn blocks(&self) -> &[SharedBlock] {
        &self.blocks
    }
}

const WRITE: u32 = qjs::JS_WRITE_OBJ_SAB | qjs::JS_WRITE_OBJ_REFERENCE;
const READ: u32 = qjs::JS_READ_OBJ_SAB | qjs::JS_READ_OBJ_REFERENCE;

impl Realm {
    /// Copies a value and all that it refers to. Runs no script. A typed array that tracks the length of its buffer has a fixed
    /// length in the copy.
    ///
    /// # Errors
    /// A TypeError for what cannot be copied (functions, accessor properties, arrays with holes, Maps, Sets, errors, ...),
    /// lack of memory.
    pub fn write_message(&self, value: &Value) -> Result<Message, Exception> {
        self.check(value);
        self.refuse_scripts_in(value)?;
        let mut len = 0;
        let mut shared = qjs::JSSABTab { tab: std::ptr::null_mut(), len: 0 };
        // SAFETY: (3), (4), (5), and (9): the writer runs no script.
        let bytes =
            unsafe { qjs::JS_WriteObject2(self.raw(), &mut len, value.raw(), WRITE as i32, &mut shared) };
        if bytes.is_null() {
            return Err(self.take_exception());
        }
        // SAFETY: `len` bytes, and `shared.len` data pointers. By (8) each pointer is that of a block, whose buffer object
        // `value` still holds, because no script has run since it was met (9).
        unsafe {
            let blocks =
                (0..shared.len as usize).map(|i| SharedBlock::clone_from_raw(*shared.tab.add(i))).collect();
            let copy = std::slice::from_raw_parts(bytes, len as usize).into();
            qjs::js_free(self.raw(), bytes.cast());
            qjs::js_free(self.raw(), shared.tab.cast());
            Ok(Message { bytes: copy, blocks })
        }
    }

    /// A new copy of what was written, made of this realm's objects.
    ///
    /// # Errors
    /// Lack of memory.
    pub fn read_message(&self, message: &Message) -> Result<Value, Exception> {
        let bytes = &message.bytes;
        // SAFETY: (4); the engine wrote these bytes, and the message holds a count of each block whose address is in
        // them, so the engine can take its own (8).
        let value = self
            .own(unsafe { qjs::JS_ReadObject(self.raw(), bytes.as_ptr(), bytes.len() as _, READ as i32) })?;
        if message.blocks.iter().any(SharedBlock::is_growable) {
            self.track_buffers_in(&value)?;
        }
        Ok(value)
    }

    /// Finds the growable buffers in a graph that the engine's reader has made, which tells nobody of them.
    fn track_buffers_in(&self, value: &Value) -> Result<(), Exception> {
        let mut seen = HashSet::new();
        let mut rest = vec![value.clone()];
        while let Some(value) = rest.pop() {
            if !value.is_object() || !seen.insert(value.address()) {
                continue;
            }
            if self.typed_array_kind(&value).is_some() {
                // None of those that were just read is out of bounds.
                rest.push(self.typed_array_view(&value)?.buffer.clone());
            } else if let Some(block) = self.shared_block(&value) {
                if block.is_growable() {
                    self.track(&value)?;
                }
            } else {
                // The reader makes nothing but data properties; those of arrays are among the keys.
                for key in self.keys(&value)? {
                    rest.extend(self.own_data(&value, &key)?.filter(Value::is_object));
                }
            }
        }
        Ok(())
    }

    /// Refuses a graph in which the engine's writer would meet a getter (9). It reads the elements of arrays as scripts do,
    /// and a getter could free the very object whose properties it is walking through.
    fn refuse_scripts_in(&self, value: &Value) -> Result<(), Exception> {
        let plain = self.class_of(&self.object()?);
        let mut seen = HashSet::new();
        let mut rest = vec![value.clone()];
        while let Some(value) = rest.pop() {
            if !value.is_object() || !seen.insert(value.address()) {
                continue;
            }
            if value.is_array() {
                let length = self.own_data(&value, "length")?.and_then(|length| length.as_number());
                for index in 0..length.unwrap_or(0.0) as u32 {
                    match self.own_data(&value, index)? {
                        Some(element) if element.is_object() => rest.push(element),
                        Some(_) => {}
                        None => {
                            return Err(self.type_error("an array with a hole or a getter cannot be copied"));
                        }
                    }
                }
            } else if self.class_of(&value) == plain {
                // The writer itself refuses accessor properties of such objects, and does not call them.
                for key in self.keys(&value)? {
                    rest.extend(self.own_data(&value, &key)?.filter(Value::is_object));
                }
            // SAFETY: looks at a live value.
            } else if unsafe { qjs::JS_IsMap(value.raw()) || qjs::JS_IsSet(value.raw()) } {
                // What is in them cannot be seen without running what scripts may have replaced.
                return Err(self.type_error("a Map or a Set cannot be copied: copy an array of its entries"));
            }
            // All others hold no objects but buffers, or are refused by the writer.
        }
        Ok(())
    }

    fn class_of(&self, value: &Value) -> qjs::JSClassID {
        // SAFETY: looks at a live value.
        unsafe { qjs::JS_GetClassID(value.raw()) }
    }
}
