//! The switch in the environment.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::files::{are_one, write_profile, write_trace};
use super::on::{check_lock_order, enable};
use super::spec::{Spec, UNDERSTOOD};
use super::watch;
use crate::blame::set_slow_threshold;

const VARIABLE: &str = "WAITWORD_OBSERVE";

/// Observes this process as the environment variable `WAITWORD_OBSERVE` says. One line at the start of `main`; a program in production
/// needs no other build.
///
/// | value | |
/// |---|---|
/// | unset, empty, `0` | nothing: no thread, no clock |
/// | `1` | [`enable`]; a thread takes a snapshot once per second and prints faults to the standard error, each once, and once each cycle that is none and has lasted for 10 s; on Unix the signal SIGUSR1 prints a report there |
/// | `order` | as `1`, and the order of locks is checked ([`check_lock_order`]): for tests, it is slow |
/// | `serve=PATH` | [`enable`]; on Unix, a socket at PATH that gives a report to each connection ([`serve`](crate::serve)): `waitword report PATH` |
/// | `profile=FILE` | [`enable`]; the [profile](crate::profile()) of who made others wait, written again every 2 s and at the end: for `go tool pprof`, or folded stacks if the name ends in `.folded` |
/// | `trace=FILE` | [`enable`]; the youngest events of each thread, every acquisition among them, written again every 2 s and at the end, in Chrome's trace format, or as a picture if the name ends in `.svg` |
/// | `slow=500ms` | with `1`: what is printed as slow, 1 s without it |
/// | `1,serve=PATH` | both; so with the others |
///
/// Any other value prints one line that says what is understood, and observes nothing. What fails (a socket that cannot be bound)
/// prints one line, and the rest is observed. The second call and all after it do nothing.
///
/// The end at which files are written once more is that of `main` and of `process::exit` (on Windows that of `main` alone), which wait for it, for
/// 10 s at most. A process that is aborted or ended by a signal leaves the files as they were, up to 2 s old.
///
/// ```
/// // The first statement of `main`.
/// waitword_observe::init();
/// ```
pub fn init() {
    static FIRST: Once = Once::new();
    FIRST.call_once(|| {
        let Some(value) = std::env::var_os(VARIABLE) else { return };
        match Spec::parse(&value) {
            Ok(None) => {}
            Ok(Some(spec)) => start(&spec),
            Err(part) => say(format_args!("{VARIABLE} is not understood at {part}: {UNDERSTOOD}")),
        }
    });
}

/// A hold that made another wait for so long is printed.
const SLOW: Duration = Duration::from_secs(1);

fn start(spec: &Spec) {
    enable();
    if spec.order {
        check_lock_order();
    }
    let both = spec.profile.as_deref().zip(spec.trace.as_deref());
    let is_one = both.is_some_and(|(profile, trace)| are_one(profile, trace));
    if let Some((path, _)) = both.filter(|_| is_one) {
        let path = path.display();
        say(format_args!("no profile and no trace: {path} cannot be both, give each a file of its own"));
    }
    if let Some(path) = spec.profile.as_ref().filter(|_| !is_one)
        && let Err(error) = write_profile(path.clone())
    {
        say(format_args!("no profile at {}: {error}", path.display()));
    }
    if let Some(path) = spec.trace.as_ref().filter(|_| !is_one)
        && let Err(error) = write_trace(path.clone())
    {
        say(format_args!("no trace at {}: {error}", path.display()));
    }
    if spec.watch {
        set_slow_threshold(spec.slow.unwrap_or(SLOW));
        watch::PRINTS_SLOW.store(true, Ordering::Relaxed);
        if let Err(error) = watch::start(watch::print) {
            say(format_args!("no thread to find faults: {error}"));
        }
        #[cfg(unix)]
        if let Err(error) = super::report_on_signal(signal_hook::consts::SIGUSR1) {
            say(format_args!("no report on SIGUSR1: {error}"));
        }
    }
    #[cfg(unix)]
    if let Some(path) = &spec.serve {
        match super::serve(path) {
            Ok(server) => server.forever(),
            Err(error) => say(format_args!("no reports at {}: {error}", path.display())),
        }
    }
}

fn say(text: impl Display) {
    // Without a standard error there is nobody to say it to.
    let _ = writeln!(io::stderr().lock(), "waitword: {text}");
}
