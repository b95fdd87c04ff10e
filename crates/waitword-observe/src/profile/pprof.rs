//! `profile.proto`, as in Go's mutex profile. The field numbers are those of the `Profile` message and of what it contains.

use std::collections::HashMap;
use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::json::count_nanos;
use crate::process::since_1970;

/// The waits for one lock from one site, as a profile has them.
pub(super) struct Sample {
    pub(super) place: String,
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) lock: String,
    pub(super) count: u64,
    pub(super) delay: Duration,
}

pub(super) fn encoded(samples: impl Iterator<Item = Sample>) -> Vec<u8> {
    let mut profile = Writer::default();
    // The string with the number 0 is empty by definition.
    profile.text("");
    let types = [("contentions", "count"), ("delay", "nanoseconds")];
    for (field, (kind, unit)) in [(1, types[0]), (1, types[1]), (11, types[0])] {
        let mut value_type = Message::default();
        value_type.number(1, profile.text(kind));
        value_type.number(2, profile.text(unit));
        profile.message.message(field, &value_type);
    }
    profile.message.number(12, 1);
    for Sample { place, file, line, lock, count, delay } in samples {
        // The innermost frame comes first.
        let stack = [profile.location(&place, &file, line), profile.location(&lock, "", 0)];
        let mut sample = Message::default();
        sample.numbers(1, &stack);
        sample.numbers(2, &[count, count_nanos(delay).min(i64::MAX as u64)]);
        profile.message.message(2, &sample);
    }
    profile.message.number(9, count_nanos(since_1970()));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(&profile.message.0).and_then(|()| encoder.finish());
    written.unwrap_or_else(|error| unreachable!("a Vec takes all: {error}"))
}

/// Writes each string and each location once, and numbers them.
#[derive(Default)]
struct Writer {
    message: Message,
    texts: HashMap<String, u64>,
    locations: HashMap<String, u64>,
}

impl Writer {
    fn text(&mut self, text: &str) -> u64 {
        if let Some(number) = self.texts.get(text) {
            return *number;
        }
        let number = self.texts.len() as u64;
        self.texts.insert(text.to_owned(), number);
        self.message.bytes(6, text.as_bytes());
        number
    }

    /// A function with one location in it, both with the same number.
    fn location(&mut self, name: &str, file: &str, line: u32) -> u64 {
        if let Some(number) = self.locations.get(name) {
            return *number;
        }
        let number = self.locations.len() as u64 + 1;
        self.locations.insert(name.to_owned(), number);
        let mut function = Message::default();
        function.number(1, number);
        function.number(2, self.text(name));
        function.number(3, self.text(name));
        function.number(4, self.text(file));
        self.message.message(5, &function);
        let mut within = Message::default();
        within.number(1, number);
        within.number(2, u64::from(line));
        let mut location = Message::default();
        location.number(1, number);
        location.message(4, &within);
        self.message.message(4, &location);
        number
    }
}

/// A protobuf message that is being written, with the three kinds of fields that a profile has. Written by hand, because that is less code
/// than the messages in derive macros would be, and no dependency.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// A field with a number: wire type 0. Zero is what a missing field means.
    fn number(&mut self, field: u32, number: u64) {
        if number != 0 {
            self.varint(u64::from(field) << 3);
            self.varint(number);
        }
    }

    /// A field with text or bytes: wire type 2.
    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A field with a message.
    fn message(&mut self, field: u32, message: &Self) {
        self.bytes(field, &message.0);
    }

    /// A field with repeated numbers, packed.
    fn numbers(&mut self, field: u32, numbers: &[u64]) {
        let mut packed = Self::default();
        numbers.iter().for_each(|number| packed.varint(*number));
        self.message(field, &packed);
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
