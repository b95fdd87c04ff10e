//! The URL of a file: `import.meta.url`, `pathToFileURL`.

use url::Url;

/// Of an absolute path, as Node has it: what the parser would take for something else than a part of the path is escaped first, and so
/// is what RFC 1738 calls unsafe.
pub(crate) fn of(path: &str) -> String {
    let mut text = String::from("file://");
    for each in path.chars() {
        match each {
            '%' | '\\' | '\n' | '\r' | '\t' | '?' | '#' | '[' | ']' | '^' | '|' | '~' => {
                text.push_str(&format!("%{:02X}", u32::from(each)))
            }
            _ => text.push(each),
        }
    }
    // It has a scheme and a path, so there is no error.
    Url::parse(&text).map_or(text, String::from)
}
