//! The value of `WAITWORD_OBSERVE`.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

/// What the value asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spec {
    /// Look for faults, and print a report at a signal.
    pub(super) watch: bool,
    /// Check the order of locks.
    pub(super) order: bool,
    /// The path of a socket that gives reports.
    pub(super) serve: Option<PathBuf>,
    /// The file of a profile.
    pub(super) profile: Option<PathBuf>,
    /// The file of a trace.
    pub(super) trace: Option<PathBuf>,
    /// What is a slow hold.
    pub(super) slow: Option<Duration>,
}

/// What is understood, for the one line that a wrong value gets.
#[cfg(unix)]
pub(super) const UNDERSTOOD: &str = "1, order, serve=PATH, profile=FILE, trace=FILE and slow=500ms, with commas between them; unset, empty or 0 is off";
#[cfg(not(unix))]
pub(super) const UNDERSTOOD: &str = "1, order, profile=FILE, trace=FILE and slow=500ms, with commas between them; unset, empty or 0 is off (serve=PATH needs Unix)";

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
                None if word == "order" => (spec.watch, spec.order) = (true, true),
                Some(("serve", path)) if cfg!(unix) && !path.is_empty() && spec.serve.is_none() => {
                    spec.serve = Some(path.into());
                }
                Some(("profile", path)) if !path.is_empty() && spec.profile.is_none() => {
                    spec.profile = Some(path.into());
                }
                Some(("trace", path)) if !path.is_empty() && spec.trace.is_none() => {
                    spec.trace = Some(path.into());
                }
                Some(("slow", text)) if spec.slow.is_none() => {
                    spec.slow = Some(time(text).ok_or_else(|| format!("{word:?}"))?);
                }
                _ => return Err(format!("{word:?}")),
            }
        }
        Ok(Some(spec))
    }
}

/// `500ms`, `2s`, or a number of seconds.
fn time(text: &str) -> Option<Duration> {
    let (digits, unit) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1e-3),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let seconds = digits.parse::<f64>().ok()? * unit;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero())
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
        let spec = |watch, serve: Option<&str>| {
            Ok(Some(Spec { watch, serve: serve.map(PathBuf::from), ..Spec::default() }))
        };
        assert_eq!(parse("1"), spec(true, None));
        assert_eq!(parse("serve=/run/a=b.sock"), spec(false, Some("/run/a=b.sock")));
        assert_eq!(parse("serve=x,1"), spec(true, Some("x")));
        let order = Spec { watch: true, order: true, ..Spec::default() };
        assert_eq!([parse("order"), parse("order,1")], [Ok(Some(order.clone())), Ok(Some(order))]);
        let files = Spec {
            profile: Some("a.pb.gz".into()),
            trace: Some("b.json".into()),
            slow: Some(Duration::from_millis(1_500)),
            ..Spec::default()
        };
        assert_eq!(parse("profile=a.pb.gz,trace=b.json,slow=1.5s"), Ok(Some(files)));
        assert_eq!(
            ["20ms", "3", "0", "x"].map(time),
            [Some(Duration::from_millis(20)), Some(Duration::from_secs(3)), None, None]
        );
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_understood_is_named() {
        use std::os::unix::ffi::OsStrExt;
        for (value, part) in [
            ("yes", "yes"),
            ("1,traces=x", "traces=x"),
            ("trace=", "trace="),
            ("slow=soon", "slow=soon"),
            ("serve=", "serve="),
            ("1,", ""),
            ("serve=a,serve=b", "serve=b"),
        ] {
            assert_eq!(parse(value), Err(format!("{part:?}")));
        }
        assert!(Spec::parse(OsStr::from_bytes(b"serve=\xff")).is_err());
    }
}
