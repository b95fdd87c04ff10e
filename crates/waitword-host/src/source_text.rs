//! Source text in memory.

use waitword_agents::Charge;

/// Source text, and what it costs its agent while it is held.
pub(crate) struct SourceText {
    pub(crate) text: String,
    _charge: Option<Charge>,
}

impl SourceText {
    /// The text of a file.
    pub(crate) fn new(text: String, charge: Option<Charge>) -> Self {
        Self { text: without_mark(text), _charge: charge }
    }
}

impl From<String> for SourceText {
    /// Of text that somebody else pays for.
    fn from(text: String) -> Self {
        Self { text, _charge: None }
    }
}

/// The text without the byte order mark that some editors put in front: in JSON and before `#!` it would be an error.
pub(crate) fn without_mark(mut text: String) -> String {
    const MARK: char = '\u{feff}';
    if text.starts_with(MARK) {
        // In place: a copy would not be paid for.
        text.drain(..MARK.len_utf8());
    }
    text
}
