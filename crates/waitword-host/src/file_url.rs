//! The URL of a file (`import.meta.url`, `pathToFileURL`), and the file of a URL (`import`).

use std::path::PathBuf;

use url::Url;

/// The URL of an absolute path of this system.
pub(crate) fn of(path: &str) -> String {
    if cfg!(windows) { of_windows(path) } else { of_posix(path) }
}

/// Resolves a specifier in a file with this URL.
pub(crate) fn join(base: &str, specifier: &str) -> Option<Url> {
    Url::parse(base).and_then(|base| base.join(specifier)).ok()
}

/// The part of a URL after its path: `?query#fragment`. An empty query or fragment is left out, as in Node.
pub(crate) fn suffix(url: &Url) -> String {
    let parts = [("?", url.query()), ("#", url.fragment())];
    parts
        .iter()
        .filter_map(|(mark, part)| Some(format!("{mark}{}", part.filter(|part| !part.is_empty())?)))
        .collect()
}

/// Splits a specifier, as it is written, into the path and the `?query#fragment`.
pub(crate) fn split(specifier: &str) -> (&str, &str) {
    specifier.split_at(specifier.find(['?', '#']).unwrap_or(specifier.len()))
}

/// The path of a `file:` URL.
pub(crate) fn path(url: &str) -> Option<PathBuf> {
    Url::parse(url).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()
}

/// As in Node: characters that the parser would not take as part of the path are escaped first, and so are those that RFC 1738 calls
/// unsafe.
pub(crate) fn of_posix(path: &str) -> String {
    parsed("file://", path.chars())
}

/// The same for `C:\folder\file`, `\\server\share\file`, and both after `\\?\`, which only makes Windows take the rest literally.
pub(crate) fn of_windows(path: &str) -> String {
    let slashes = path.chars().map(|each| if each == '\\' { '/' } else { each }).collect::<String>();
    let (start, rest) = match slashes.strip_prefix("//?/") {
        Some(verbatim) => match verbatim.strip_prefix("UNC/") {
            Some(share) => ("file://", share),
            None => ("file:///", verbatim),
        },
        None => match slashes.strip_prefix("//") {
            Some(share) => ("file://", share),
            None => ("file:///", slashes.trim_start_matches('/')),
        },
    };
    parsed(start, rest.chars())
}

fn parsed(start: &str, path: impl Iterator<Item = char>) -> String {
    let mut text = String::from(start);
    for each in path {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_and_fragment_of_no_characters_are_none() {
        let of = |specifier| suffix(&join("file:///folder/file.mjs?of#importer", specifier).unwrap());
        let all = ["./a", "./a?", "./a#", "./a?#", "./a?1", "./a#1", "./a?1#2", "./a%3F1", "./a?#2"].map(of);
        assert_eq!(all, ["", "", "", "", "?1", "#1", "?1#2", "", "#2"]);
        assert_eq!(["./a?b#c", "./a#c?b", "./a"].map(split), [("./a", "?b#c"), ("./a", "#c?b"), ("./a", "")]);
    }

    #[test]
    fn a_posix_path_keeps_its_backslashes() {
        assert_eq!(of_posix("/a b/c\\d?#%.js"), "file:///a%20b/c%5Cd%3F%23%25.js");
    }

    #[test]
    fn a_windows_path_has_a_drive_or_a_server() {
        assert_eq!(of_windows(r"C:\a b\c#d~1.js"), "file:///C:/a%20b/c%23d%7E1.js");
        assert_eq!(of_windows(r"\\server\share\a.js"), "file://server/share/a.js");
        assert_eq!(of_windows(r"\\?\C:\a.js"), "file:///C:/a.js");
        assert_eq!(of_windows(r"\\?\UNC\server\share\a.js"), "file://server/share/a.js");
    }
}
