//! A message outside of every engine.

use waitword_agents::{Charge, SharedBlock};
use waitword_quickjs::{Exception, Value};

use super::functions::CloneFunctions;

/// A serialized graph of values. It can be read repeatedly, except for what was transferred.
#[derive(Default)]
pub(crate) struct SerializedMessage {
    pub(super) tape: Vec<u8>,
    /// The memory of its SharedArrayBuffers.
    pub(super) blocks: Vec<SharedBlock>,
    /// The bytes of transferred ArrayBuffers, after [`seal`](SerializedMessage::seal).
    pub(super) moved: Vec<Bytes>,
    /// For each transferred ArrayBuffer that is in the graph, the length that the views on it require.
    pub(super) met: Vec<Option<usize>>,
    /// The charge to the agent that wrote it, until it is read or dropped.
    pub(super) charge: Option<Charge>,
}

/// The contents of an ArrayBuffer.
#[derive(Default)]
pub(super) struct Bytes {
    pub(super) bytes: Vec<u8>,
    /// If it can be resized.
    pub(super) max_len: Option<usize>,
}

/// The cost in bytes of a serialized message besides its contents, and of each of its ports.
pub(super) const MESSAGE_OVERHEAD: usize = 256;
const PORT_OVERHEAD: usize = 512;

impl SerializedMessage {
    /// Moves the transferred ArrayBuffers into the serialized message, and charges it, with this number of ports, to the agent's budget.
    ///
    /// # Errors
    /// A DataCloneError if one cannot be moved any more, or there is not enough memory. Nothing was moved then.
    pub(crate) fn seal(
        &mut self,
        functions: &CloneFunctions,
        buffers: &[Value],
        ports: usize,
    ) -> Result<(), Exception> {
        let realm = &functions.realm;
        let mut moved = Vec::with_capacity(buffers.len());
        for (at, buffer) in buffers.iter().enumerate() {
            let refused = |why| functions.refusal(buffer, Some(why));
            if realm.is_immutable_buffer(buffer) {
                return Err(refused("is immutable and cannot be transferred"));
            }
            let max_len = functions.max_len(buffer)?;
            let length = realm.buffer_byte_length(buffer).map_err(|_| refused("is already detached"))?;
            let length = match self.met[at] {
                Some(viewed) if length < viewed => {
                    return Err(refused("has shrunk under a view that was cloned"));
                }
                Some(_) => length,
                // A buffer that is not in the message is detached, too, but its bytes are not needed.
                None => 0,
            };
            if !self.charge_for(length) {
                return Err(functions.no_room());
            }
            let mut bytes = Vec::new();
            realm.copy_array_buffer(buffer, length, &mut bytes)?;
            moved.push(Bytes { bytes, max_len });
        }
        if !self.charge_for(ports * PORT_OVERHEAD) {
            return Err(functions.no_room());
        }
        for buffer in buffers {
            realm.detach_array_buffer(buffer)?;
        }
        self.moved = moved;
        Ok(())
    }

    /// Copies a message without transferred buffers, and charges the same again. Returns `None` if the budget has too little left.
    pub(crate) fn another(&self) -> Option<Self> {
        let charge = match &self.charge {
            Some(charge) => Some(charge.again()?),
            None => None,
        };
        let (tape, blocks) = (self.tape.clone(), self.blocks.clone());
        Some(Self { tape, blocks, charge, ..Self::default() })
    }

    /// Refunds its charge.
    pub(crate) fn release(&mut self) {
        self.charge = None;
    }

    /// Charges more bytes to the agent that wrote this. Returns whether its budget has them.
    pub(super) fn charge_for(&mut self, bytes: usize) -> bool {
        self.charge.as_mut().is_none_or(|charge| charge.grow(bytes))
    }
}

/// Tags of values on the tape.
pub(super) mod tag {
    pub(crate) const UNDEFINED: u8 = 0;
    pub(crate) const NULL: u8 = 1;
    pub(crate) const FALSE: u8 = 2;
    pub(crate) const TRUE: u8 = 3;
    /// 4 bytes
    pub(crate) const INT: u8 = 4;
    /// 8 bytes
    pub(crate) const NUMBER: u8 = 5;
    /// length, bytes
    pub(crate) const STRING: u8 = 6;
    /// as a STRING, in decimal
    pub(crate) const BIGINT: u8 = 7;
    pub(crate) const REF: u8 = 8;
    pub(crate) const OBJECT: u8 = 9;
    pub(crate) const ARRAY: u8 = 10;
    pub(crate) const LIST: u8 = 11;
    pub(crate) const HOLE: u8 = 12;
    pub(crate) const ROW: u8 = 13;
    pub(crate) const MAP: u8 = 19;
    pub(crate) const SET: u8 = 20;
    /// maximum + 1, or 0; length, bytes
    pub(crate) const BUFFER: u8 = 14;
    pub(crate) const BLOCK: u8 = 15;
    pub(crate) const MOVED: u8 = 16;
    pub(crate) const PORT: u8 = 17;
    /// In the position of a new key's string: there are no more keys.
    pub(crate) const END: u8 = 18;
}
