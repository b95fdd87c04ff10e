//! `profile.proto`, as Go's mutex profile has it. The field numbers are those of the `Profile` message and what it contains.

use std::collections::HashMap;
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::protobuf::Message;
use super::waits::{Waits, file, label, place};
use crate::model::{LockName, Site};

pub(super) fn encoded<'a>(rows: impl Iterator<Item = (&'a LockName, Option<&'a Site>, Waits)>) -> Vec<u8> {
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
    for (lock, site, waits) in rows {
        let file = &file(site);
        let line = site.map_or(0, |site| u64::from(site.line));
        // The innermost frame comes first.
        let stack = [profile.location(&place(site), file, line), profile.location(&label(lock), "", 0)];
        let delay = u64::try_from(waits.delay.as_nanos()).unwrap_or(u64::MAX);
        let mut sample = Message::default();
        sample.numbers(1, &stack);
        sample.numbers(2, &[waits.count, delay.min(i64::MAX as u64)]);
        profile.message.message(2, &sample);
    }
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    profile.message.number(9, u64::try_from(since_1970.as_nanos()).unwrap_or(0));
    compressed(&profile.finish())
}

/// Strings and locations have numbers, and are written once.
#[derive(Default)]
struct Writer {
    message: Message,
    texts: Vec<String>,
    text_numbers: HashMap<String, u64>,
    locations: HashMap<String, u64>,
}

impl Writer {
    fn text(&mut self, text: &str) -> u64 {
        if let Some(number) = self.text_numbers.get(text) {
            return *number;
        }
        let number = self.texts.len() as u64;
        self.texts.push(text.to_owned());
        self.text_numbers.insert(text.to_owned(), number);
        number
    }

    /// A function with one location in it, both with the same number.
    fn location(&mut self, name: &str, file: &str, line: u64) -> u64 {
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
        within.number(2, line);
        let mut location = Message::default();
        location.number(1, number);
        location.message(4, &within);
        self.message.message(4, &location);
        number
    }

    fn finish(mut self) -> Vec<u8> {
        for text in &self.texts {
            self.message.bytes(6, text.as_bytes());
        }
        self.message.into_bytes()
    }
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_else(|error| unreachable!("a Vec takes all: {error}"))
}
