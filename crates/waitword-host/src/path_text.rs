//! Paths as scripts see them: as text from which the path can be recovered even if it is not UTF-8.
//!
//! A byte that is not UTF-8 becomes `U+FFFD` and two digits: the folder `caf\xe9` is `caf�e9`. A path that contains such text and exists is
//! taken literally.

pub(crate) use imp::{path_of, text_of};

#[cfg(unix)]
mod imp {
    use std::borrow::Cow;
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::Path;

    const MARK: &[u8] = "\u{FFFD}".as_bytes();

    /// The text of a path.
    pub(crate) fn text_of(path: &Path) -> String {
        let mut text = String::new();
        for chunk in path.as_os_str().as_bytes().utf8_chunks() {
            text += chunk.valid();
            chunk.invalid().iter().for_each(|byte| text += &format!("\u{FFFD}{byte:02x}"));
        }
        text
    }

    /// The path of a text that [`text_of`] made, or one to which something was joined.
    pub(crate) fn path_of(text: &Path) -> Cow<'_, Path> {
        let path = OsString::from_vec(unmarked(text.as_os_str().as_bytes()));
        match path == text.as_os_str() || text.exists() {
            true => text.into(),
            false => Cow::Owned(path.into()),
        }
    }

    fn unmarked(mut text: &[u8]) -> Vec<u8> {
        let mut path = Vec::with_capacity(text.len());
        while let Some((first, rest)) = text.split_first() {
            let digits = text.strip_prefix(MARK).and_then(|rest| rest.split_at_checked(2));
            let byte = digits.and_then(|(digits, rest)| {
                Some((u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?, rest))
            });
            let (byte, rest) = byte.unwrap_or((*first, rest));
            path.push(byte);
            text = rest;
        }
        path
    }

    #[test]
    fn a_path_is_had_again_from_its_text() {
        for path in
            [&b"/tmp/a.js"[..], b"/caf\xe9/m\xff\xfe.js", b"\xe9", b"\xf0\x9f/\xef\xbf\xbd/\xef\xbf\xbdzz"]
        {
            assert_eq!(unmarked(text_of(Path::new(std::ffi::OsStr::from_bytes(path))).as_bytes()), path);
        }
    }
}

#[cfg(not(unix))]
mod imp {
    use std::borrow::Cow;
    use std::path::Path;

    pub(crate) fn text_of(path: &Path) -> String {
        path.to_string_lossy().into_owned()
    }

    pub(crate) fn path_of(text: &Path) -> Cow<'_, Path> {
        text.into()
    }
}
