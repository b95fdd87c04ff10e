//! Source text in memory, and a line of a file, for an error that refers to it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use waitword_agents::Charge;

/// Source text, charged to its agent while it is held.
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
    /// For text that is charged elsewhere.
    fn from(text: String) -> Self {
        Self { text, _charge: None }
    }
}

/// Removes the byte order mark that some editors add. In JSON and before `#!` it would be an error.
pub(crate) fn without_mark(mut text: String) -> String {
    const MARK: char = '\u{feff}';
    if text.starts_with(MARK) {
        // In place, because a copy would not be charged.
        text.drain(..MARK.len_utf8());
    }
    text
}

/// Returns a line of a file by its index from 0, without its end; `None` if it has [`LONGEST_LINE`] bytes or more. Only regular files are
/// read, because a script can write any name into a stack, even that of an endless device.
pub(crate) fn line(path: &Path, index: usize) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    let mut rest = BufReader::new(File::open(path).ok()?);
    for _ in 0..index {
        rest.skip_until(b'\n').ok()?;
    }
    let mut line = Vec::new();
    rest.take(LONGEST_LINE).read_until(b'\n', &mut line).ok()?;
    if line.is_empty() || line.len() as u64 == LONGEST_LINE {
        return None;
    }
    let line = without_mark(String::from_utf8(line).ok()?);
    Some(line.strip_suffix('\n').map_or(&*line, |line| line.strip_suffix('\r').unwrap_or(line)).to_owned())
}

/// The limit of bytes of a line that is shown with an error.
const LONGEST_LINE: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn lines_are_found_without_reading_what_is_behind_them() {
        let path = std::env::temp_dir().join(format!("waitword-lines-{}", std::process::id()));
        let long = "x".repeat(LONGEST_LINE as usize);
        fs::write(&path, format!("\u{feff}first\r\nsecond\n\n{long}\n{}", "last")).unwrap();
        let lines = [0, 1, 2, 3, 4, 5].map(|index| line(&path, index));
        fs::remove_file(&path).unwrap();
        let shown = lines.each_ref().map(Option::as_deref);
        assert_eq!(shown, [Some("first"), Some("second"), Some(""), None, Some("last"), None]);
        assert_eq!(line(Path::new("/dev/zero"), 0), None);
    }
}
