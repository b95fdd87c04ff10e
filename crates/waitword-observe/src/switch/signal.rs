//! Reports at a signal.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Mutex;
use std::thread;

use signal_hook::consts::FORBIDDEN;
use signal_hook::iterator::Signals;
use waitword_core::lock;

use crate::report::report;

/// Prints a report to the standard error at each `signal` (its number, such as `libc::SIGUSR1`), until the process ends.
///
/// The handler only wakes a thread, which makes the report. Signals that arrive meanwhile count as one. A second call for the same signal
/// does nothing. Other handlers that were installed through `signal-hook` still run; the signal's default action does not.
///
/// # Errors
/// If the signal cannot be handled (SIGKILL, SIGSTOP, SIGILL, SIGFPE, SIGSEGV), is not a signal, or the system cannot start the thread.
pub fn report_on_signal(signal: i32) -> io::Result<()> {
    static HANDLED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
    // signal-hook panics for numbers beyond its own limit.
    if FORBIDDEN.contains(&signal) || !(1..128).contains(&signal) {
        let text = format!("signal {signal} cannot be handled");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut handled = lock(&HANDLED);
    if handled.contains(&signal) {
        return Ok(());
    }
    let mut signals = Signals::new([signal])?;
    let print = move || {
        for _ in signals.forever() {
            // In one piece, so that other lines do not get in between; a missing standard error is ignored.
            let text = report().to_string();
            let _ = io::stderr().lock().write_all(text.as_bytes());
        }
    };
    thread::Builder::new().name("waitword-signal".into()).spawn(print)?;
    handled.insert(signal);
    Ok(())
}
