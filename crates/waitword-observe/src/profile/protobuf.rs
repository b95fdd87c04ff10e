//! Writing protobuf: the three kinds of fields that a profile has.
//!
//! By hand, because it is less than the messages in derive macros would be, and no dependency.

/// A message that is being written.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// Of a number: wire type 0. Zero is what a missing field means.
    pub(super) fn number(&mut self, field: u32, number: u64) {
        if number != 0 {
            self.varint(u64::from(field) << 3);
            self.varint(number);
        }
    }

    /// Of text or of bytes: wire type 2.
    pub(super) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Of a message within this one.
    pub(super) fn message(&mut self, field: u32, message: &Self) {
        self.bytes(field, &message.0);
    }

    /// Of repeated numbers, packed.
    pub(super) fn numbers(&mut self, field: u32, numbers: &[u64]) {
        let mut packed = Self::default();
        numbers.iter().for_each(|number| packed.varint(*number));
        self.message(field, &packed);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Seven bits to the byte, the lowest first.
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}
