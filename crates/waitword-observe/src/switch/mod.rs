//! Observation on and off: by the environment (here), by hand (`on.rs`); reports through a socket (`serve.rs`) and at a
//! signal (`signal.rs`).

#[allow(unsafe_code)]
mod exit;
mod files;
mod on;
#[cfg(all(unix, feature = "json"))]
mod serve;
#[cfg(unix)]
mod signal;
mod watch;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use crate::blame::set_slow_threshold;
use files::{are_one, write_profile, write_trace};
pub use on::{abort_on_deadlock, check_lock_order, disable, enable, identify, on_deadlock};
#[cfg(all(unix, feature = "json"))]
pub use serve::{Server, serve};
#[cfg(unix)]
pub use signal::report_on_signal;
use watch::say;

const VARIABLE: &str = "WAITWORD_OBSERVE";

/// Starts observation as the environment variable `WAITWORD_OBSERVE` says. Call it at the start of `main`: a program in production then
/// needs no other build.
///
/// | value | |
/// |---|---|
/// | unset, empty, `0` | nothing: no thread, no clock |
/// | `1` | [`enable`], and a thread that takes a snapshot once per second. It prints each fault once to the standard error. A cycle that is no fault, and a holder that waits for a notify, are printed once when they have lasted for 10 s. On Unix, the signal SIGUSR1 prints a report |
/// | `order` | as `1`, and the order of locks is checked ([`check_lock_order`]): for tests, because it is slow |
/// | `serve=PATH` | [`enable`], and on Unix a socket at PATH that serves a report to each connection ([`serve`](crate::serve)): `waitword report PATH` |
/// | `profile=FILE` | [`enable`], and the [profile](crate::profile()) of who made others wait is written every 2 s and at the end: for `go tool pprof`, or as folded stacks if the name ends in `.folded` |
/// | `trace=FILE` | [`enable`], and the youngest events of each thread, with every acquisition, are written every 2 s and at the end: in Chrome's trace format, or as a picture if the name ends in `.svg` |
/// | `slow=500ms` | as `1`, and a hold that made another wait for 500 ms is printed as slow (without it, for 1 s) |
/// | `1,serve=PATH` | both; other values combine likewise |
///
/// An invalid value prints one line with the valid ones, and nothing is observed. If a part fails (a socket cannot be bound), one line is
/// printed, and the rest is observed. Without the feature `json`, `serve=` and a `trace=` whose FILE does not end in `.svg` fail in this way;
/// the printed line says what to do.
///
/// Only the first call has an effect. Later calls cost one load, so a library that does not control `main` may call it before each acquisition.
///
/// Files are written at the end when `main` returns and at `process::exit` (on Windows only when `main` returns). The process waits for that,
/// for 10 s at most. A process that is aborted or ended by a signal leaves the files as they were, up to 2 s old.
///
/// ```
/// // The first statement of `main`.
/// waitword_observe::init();
/// ```
#[inline]
pub fn init() {
    static FIRST: Once = Once::new();
    FIRST.call_once(start_as_asked);
}

fn start_as_asked() {
    let Some(value) = std::env::var_os(VARIABLE) else { return };
    match Spec::parse(&value) {
        Ok(None) => {}
        Ok(Some(spec)) => start(&spec),
        Err(part) => {
            say(format_args!("invalid value {part} in {VARIABLE}, nothing is observed: use {VALID}"))
        }
    }
}

/// The default threshold: a hold that made another wait for this long is printed.
const SLOW: Duration = Duration::from_secs(1);

fn start(spec: &Spec) {
    enable();
    if spec.order {
        check_lock_order();
    }
    match (&spec.profile, &spec.trace) {
        (Some(profile), Some(trace)) if are_one(profile, trace) => {
            let path = profile.display();
            say(format_args!(
                "no profile and no trace: both are to be written to {path}, give each a file of its own"
            ));
        }
        (profile, trace) => {
            at("profile", profile, write_profile);
            at("trace", trace, write_trace);
        }
    }
    if spec.watch {
        set_slow_threshold(spec.slow.unwrap_or(SLOW));
        if let Err(error) = watch::start(|asked| (asked.prints, asked.prints_slow) = (true, true)) {
            say(format_args!("cannot start the thread that finds faults: {error}"));
        }
        #[cfg(unix)]
        if let Err(error) = report_on_signal(signal_hook::consts::SIGUSR1) {
            say(format_args!("no report on SIGUSR1: {error}"));
        }
    }
    #[cfg(all(unix, feature = "json"))]
    at("reports", &spec.serve, |path| serve(path).map(Server::forever));
    #[cfg(not(feature = "json"))]
    at("reports", &spec.serve, |_| Err(crate::json::not_built_in()));
}

/// Calls `work` with the path, if there is one; prints what fails.
fn at(what: &str, path: &Option<PathBuf>, work: impl FnOnce(PathBuf) -> io::Result<()>) {
    if let Some(path) = path
        && let Err(error) = work(path.clone())
    {
        say(format_args!("no {what} at {}: {}", path.display(), reason(path, &error)));
    }
}

/// Why there is nothing at the path, and what to do.
fn reason(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        // Windows denies the access to one.
        _ if path.is_dir() => "this is a directory: name a file in it".to_owned(),
        io::ErrorKind::NotFound => "no such directory: check the path".to_owned(),
        _ => error.to_string(),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Spec {
    /// Look for faults, and print a report at a signal.
    watch: bool,
    order: bool,
    serve: Option<PathBuf>,
    profile: Option<PathBuf>,
    trace: Option<PathBuf>,
    slow: Option<Duration>,
}

/// The valid values, for the line that reports an invalid one.
#[cfg(unix)]
const VALID: &str = "1, order, serve=PATH, profile=FILE, trace=FILE and slow=500ms, separated by commas; unset, empty or 0 is off";
#[cfg(not(unix))]
const VALID: &str = "1, order, profile=FILE, trace=FILE and slow=500ms, separated by commas; unset, empty or 0 is off (serve=PATH needs Unix)";

impl Spec {
    /// `None`: off. For a wrong value, the part that is wrong.
    fn parse(value: &OsStr) -> Result<Option<Self>, String> {
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
                    spec.watch = true;
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn words_add_up_and_what_is_not_understood_is_named() {
        let is = |set: fn(&mut Spec)| {
            let mut spec = Spec::default();
            set(&mut spec);
            Ok(Some(spec))
        };
        let slow = |millis| {
            let slow = Some(Duration::from_millis(millis));
            Ok(Some(Spec { watch: true, slow, ..Spec::default() }))
        };
        let wrong = |part: &str| Err(format!("{part:?}"));
        for (text, parsed) in [
            ("", Ok(None)),
            ("0", Ok(None)),
            ("1", is(|spec| spec.watch = true)),
            ("order", is(|spec| (spec.watch, spec.order) = (true, true))),
            ("order,1", is(|spec| (spec.watch, spec.order) = (true, true))),
            ("serve=/run/a=b.sock", is(|spec| spec.serve = Some("/run/a=b.sock".into()))),
            ("serve=x,1", is(|spec| (spec.watch, spec.serve) = (true, Some("x".into())))),
            ("profile=a.pb.gz", is(|spec| spec.profile = Some("a.pb.gz".into()))),
            ("trace=b.json", is(|spec| spec.trace = Some("b.json".into()))),
            ("slow=20ms", slow(20)),
            ("slow=1.5s", slow(1_500)),
            ("slow=3", slow(3_000)),
            ("slow=0", wrong("slow=0")),
            ("slow=soon", wrong("slow=soon")),
            ("yes", wrong("yes")),
            ("1,traces=x", wrong("traces=x")),
            ("trace=", wrong("trace=")),
            ("serve=", wrong("serve=")),
            ("1,", wrong("")),
            ("serve=a,serve=b", wrong("serve=b")),
        ] {
            assert_eq!(Spec::parse(OsStr::new(text)), parsed, "{text}");
        }
        assert!(Spec::parse(OsStr::from_bytes(b"serve=\xff")).is_err());
    }
}
