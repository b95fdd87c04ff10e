//! Blocks, typed arrays with a look at their buffers, and the functions of SharedArrayBuffer.

use super::super::program::{Buffer, Memory};
use super::{Abrupt, Argument, Arguments, Completion, Model, Shape, Target, View};

/// An ArrayBuffer or SharedArrayBuffer.
pub(super) struct Block {
    pub(super) bytes: Vec<u8>,
    /// \[\[ArrayBufferMaxByteLength]]
    max: Option<usize>,
    pub(super) is_shared: bool,
    pub(super) is_immutable: bool,
    pub(super) is_detached: bool,
}

impl Block {
    pub(super) fn new(buffer: &Buffer) -> Self {
        let max = match buffer.memory {
            Memory::Resizable { max } | Memory::Growable { max } => Some(max),
            Memory::Fixed | Memory::Immutable | Memory::Shared => None,
        };
        Self {
            bytes: vec![0; buffer.len],
            max,
            is_shared: buffer.memory.is_shared(),
            is_immutable: buffer.memory == Memory::Immutable,
            is_detached: false,
        }
    }
}

/// The longest buffer that the engine makes.
const LENGTH_LIMIT: u64 = i32::MAX as u64;

impl Model<'_> {
    /// A buffer as the agent sees it.
    pub(super) fn block(&mut self, agent: usize, buffer: usize) -> &mut Block {
        let own = &mut self.agents[agent].buffers[buffer];
        own.as_mut().or(self.shared[buffer].as_mut()).expect("a buffer is the agent's or shared")
    }

    /// TypedArrayLength by the buffer of now; `None` if IsTypedArrayOutOfBounds.
    pub(super) fn length_of(&mut self, agent: usize, view: View) -> Option<usize> {
        let block = self.block(agent, view.buffer);
        let (len, size) = (block.bytes.len(), view.element.size());
        let end = view.length.map_or(view.offset, |length| view.offset + length * size);
        let is_out_of_bounds = block.is_detached || view.offset > len || end > len;
        (!is_out_of_bounds).then(|| view.length.unwrap_or((len - view.offset) / size))
    }

    /// `ArrayBuffer.prototype.transfer()`, of which only the detaching is seen
    pub(super) fn detach(&mut self, agent: usize, buffer: usize) -> Completion<String> {
        let block = self.block(agent, buffer);
        if block.is_shared || block.is_immutable || block.is_detached {
            return Err(Abrupt::TypeError);
        }
        block.is_detached = true;
        block.bytes.clear();
        Ok("undefined".to_owned())
    }

    /// `ArrayBuffer.prototype.resize(len)`
    pub(super) fn resize(&mut self, agent: usize, buffer: usize, len: usize) -> Completion<String> {
        let block = self.block(agent, buffer);
        let max = block.max.filter(|_| !block.is_shared && !block.is_detached).ok_or(Abrupt::TypeError)?;
        if len > max {
            return Err(Abrupt::RangeError);
        }
        block.bytes.resize(len, 0);
        Ok("undefined".to_owned())
    }

    /// `SharedArrayBuffer.prototype.grow(newLength)`
    pub(super) fn grow(&mut self, arguments: &Arguments<'_>) -> Completion<String> {
        let buffer = self.shared_buffer(arguments)?;
        let max = self.block(arguments.agent, buffer).max.ok_or(Abrupt::TypeError)?;
        let len = self.to_index(arguments, 0)?;
        let block = self.block(arguments.agent, buffer);
        if len > max as u64 || len < block.bytes.len() as u64 {
            return Err(Abrupt::RangeError);
        }
        block.bytes.resize(len as usize, 0);
        Ok("undefined".to_owned())
    }

    /// `SharedArrayBuffer.prototype.slice(start, end)`
    pub(super) fn slice(&mut self, arguments: &Arguments<'_>) -> Completion<String> {
        let buffer = self.shared_buffer(arguments)?;
        let len = self.block(arguments.agent, buffer).bytes.len() as f64;
        let clamp =
            |relative: f64| if relative < 0.0 { (len + relative).max(0.0) } else { relative.min(len) };
        let first = clamp(self.to_integer_or_infinity(arguments, 0)?);
        let last = if Self::is_given(arguments, 1) {
            clamp(self.to_integer_or_infinity(arguments, 1)?)
        } else {
            len
        };
        let bytes = &self.block(arguments.agent, buffer).bytes[first as usize..last.max(first) as usize];
        // SpeciesConstructor: whatever realm the function is of, the buffer is of the first.
        Ok(memory_text(0, bytes, None))
    }

    /// `get SharedArrayBuffer.prototype.byteLength`
    pub(super) fn byte_length(&mut self, arguments: &Arguments<'_>) -> Completion<String> {
        let buffer = self.shared_buffer(arguments)?;
        Ok(self.block(arguments.agent, buffer).bytes.len().to_string())
    }

    /// `new SharedArrayBuffer(length, options)`
    pub(super) fn construct(&mut self, realm: usize, arguments: &Arguments<'_>) -> Completion<String> {
        let len = self.to_index(arguments, 0)?;
        let max = self.max_byte_length_option(arguments)?;
        if max.is_some_and(|max| len > max) || max.unwrap_or(len) > LENGTH_LIMIT {
            return Err(Abrupt::RangeError);
        }
        Ok(memory_text(realm, &vec![0; len as usize], max))
    }

    /// GetArrayBufferMaxByteLengthOption(options)
    fn max_byte_length_option(&mut self, arguments: &Arguments<'_>) -> Completion<Option<u64>> {
        let (agent, number) = (arguments.agent, arguments.numbers.get(1).copied().unwrap_or(0));
        match arguments.values.get(1) {
            Some(Argument::Options(max)) => {
                self.note(agent, &format!("m{number}"));
                let numbers = [self.number(agent, max)];
                let max = Arguments { values: std::slice::from_ref(max), numbers: &numbers, ..*arguments };
                if Self::is_given(&max, 0) { self.to_index(&max, 0).map(Some) } else { Ok(None) }
            }
            Some(Argument::Object(object)) if object.shape == Shape::Proxy => {
                self.note(agent, &format!("maxByteLength{number}"));
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// RequireInternalSlot and IsSharedArrayBuffer.
    fn shared_buffer(&mut self, arguments: &Arguments<'_>) -> Completion<usize> {
        match arguments.target {
            Target::Buffer(buffer) if self.block(arguments.agent, buffer).is_shared => Ok(buffer),
            _ => Err(Abrupt::TypeError),
        }
    }
}

/// A new buffer of a realm, as `world.js` writes it.
fn memory_text(realm: usize, bytes: &[u8], max: Option<u64>) -> String {
    let (len, is_growable) = (bytes.len() as u64, max.is_some());
    let bytes: String = bytes.iter().map(|byte| format!("{byte},")).collect();
    format!("memory@{realm}:{len}/{}/{is_growable}:{bytes}", max.unwrap_or(len))
}
