//! Structured clone: a graph of JavaScript values as bytes and the blocks it shares, for another agent.

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
    /// Copies a value and all that it refers to.
    ///
    /// # Errors
    /// A TypeError for what cannot be copied (functions, accessor properties, errors, ...), what a getter throws, lack of
    /// memory.
    pub fn write_message(&self, value: &Value) -> Result<Message, Exception> {
        self.check(value);
        self.engine().graveyard.while_open(|| {
            let mut len = 0;
            let mut shared = qjs::JSSABTab { tab: std::ptr::null_mut(), len: 0 };
            // SAFETY: (3), (4), (5)
            let bytes =
                unsafe { qjs::JS_WriteObject2(self.raw(), &mut len, value.raw(), WRITE as i32, &mut shared) };
            if bytes.is_null() {
                return Err(self.take_exception());
            }
            // SAFETY: `len` bytes, and `shared.len` data pointers. By (8) each pointer is that of a block, and the open
            // graveyard kept the block from being freed since it was met.
            unsafe {
                let blocks = (0..shared.len as usize)
                    .map(|i| SharedBlock::clone_from_raw(*shared.tab.add(i)))
                    .collect();
                let copy = std::slice::from_raw_parts(bytes, len as usize).into();
                qjs::js_free(self.raw(), bytes.cast());
                qjs::js_free(self.raw(), shared.tab.cast());
                Ok(Message { bytes: copy, blocks })
            }
        })
    }

    /// A new copy of what was written, made of this realm's objects.
    ///
    /// # Errors
    /// Lack of memory.
    pub fn read_message(&self, message: &Message) -> Result<Value, Exception> {
        let bytes = &message.bytes;
        // SAFETY: (4); the engine wrote these bytes, and the message holds a count of each block whose address is in
        // them, so the engine can take its own (8).
        self.own(unsafe { qjs::JS_ReadObject(self.raw(), bytes.as_ptr(), bytes.len() as _, READ as i32) })
    }
}
