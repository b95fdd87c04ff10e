//! The value of `WAITWORD_OBSERVE`.

use std::ffi::OsStr;
use std::path::PathBuf;

/// What the value asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spec {
    /// Look for faults, and print a report at a signal.
    pub(super) watch: bool,
    /// The path of a socket that gives reports.
    pub(super) serve: Option<PathBuf>,
}

/// What is understood, for the one line that a wrong value gets.
#[cfg(unix)]
pub(super) const UNDERSTOOD: &str =
    "1, serve=PATH, or both with a comma between them; unset, empty or 0 is off";
#[cfg(not(unix))]
pub(super) const UNDERSTOOD: &str = "1; unset, empty or 0 is off (serve=PATH needs Unix)";

impl Spec {
    /// `None` is off. Of a wrong value the part that is wrong.
    pub(super) fn parse(value: &OsStr) -> Result<Option<Self>, String> {
        let Some(text) = value.to_str() else { return Err(format!("{value:?}")) };
        if matches!(text, "" | "0") {
            return Ok(None);
        }
        let mut spec = Self::default();
        for word in text.split(',') {
            match word.split_once('=') {
                None if word == "1" => spec.watch = true,
                Some(("serve", path)) if cfg!(unix) && !path.is_empty() && spec.serve.is_none() => {
                    spec.serve = Some(path.into());
                }
                _ => return Err(format!("{word:?}")),
            }
        }
        Ok(Some(spec))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Option<Spec>, String> {
        Spec::parse(OsStr::new(text))
    }

    #[test]
    fn off_is_off() {
        assert_eq!([parse(""), parse("0")], [Ok(None), Ok(None)]);
    }

    #[cfg(unix)]
    #[test]
    fn words_add_up() {
        let spec = |watch, serve: Option<&str>| Ok(Some(Spec { watch, serve: serve.map(PathBuf::from) }));
        assert_eq!(parse("1"), spec(true, None));
        assert_eq!(parse("serve=/run/a=b.sock"), spec(false, Some("/run/a=b.sock")));
        assert_eq!(parse("serve=x,1"), spec(true, Some("x")));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_understood_is_named() {
        use std::os::unix::ffi::OsStrExt;
        for (value, part) in [
            ("yes", "yes"),
            ("1,trace=x", "trace=x"),
            ("serve=", "serve="),
            ("1,", ""),
            ("serve=a,serve=b", "serve=b"),
        ] {
            assert_eq!(parse(value), Err(format!("{part:?}")));
        }
        assert!(Spec::parse(OsStr::from_bytes(b"serve=\xff")).is_err());
    }
}
