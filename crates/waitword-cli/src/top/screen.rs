//! The terminal: reports and keys are the input, lines the output.

use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use termion::cursor::{Goto, HideCursor};
use termion::event::Key;
use termion::input::TermRead;
use termion::raw::IntoRawMode;
use termion::screen::IntoAlternateScreen;
use waitword_observe::Report;

use super::state::State;
use super::view;
use crate::args::Top;
use crate::attach::fetch;

/// The longest time until a key is handled or a report is shown.
const MOMENT: Duration = Duration::from_millis(50);

/// The exit code that a shell shows for a program ended by SIGTERM.
const EXIT_TERMINATED: i32 = 143;

/// Shows reports until a key or a signal ends this. Returns the exit code.
///
/// # Errors
/// A message for the user: no more can be shown.
pub(super) fn watch(first: Report, arguments: &Top) -> Result<i32, String> {
    let is_terminated = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&is_terminated))
        .map_err(|error| format!("cannot handle SIGTERM: {error}"))?;
    let reports = reports(arguments.socket.clone(), arguments.every)
        .map_err(|error| format!("cannot start a thread that fetches reports: {error}"))?;
    // The message of a panic is kept, because it would be lost with the alternate screen.
    static LAST_WORDS: OnceLock<String> = OnceLock::new();
    panic::set_hook(Box::new(|panic| drop(LAST_WORDS.set(panic.to_string()))));
    let (sender, keys) = mpsc::channel();
    let listens = move || io::stdin().keys().map(|key| sender.send(key)).all(|sent| sent.is_ok());
    thread::Builder::new()
        .name("waitword-keys".into())
        .spawn(listens)
        .map_err(|error| format!("cannot start a thread that reads keys: {error}"))?;
    let shown = || show(State::new(first), &reports, &keys, &is_terminated);
    match panic::catch_unwind(AssertUnwindSafe(shown)) {
        Ok(shown) => shown.map_err(|error| format!("cannot write to the terminal: {error}"))?,
        Err(_) => return Err(LAST_WORDS.get().cloned().unwrap_or_default()),
    }
    Ok(if is_terminated.load(Ordering::Relaxed) { EXIT_TERMINATED } else { 0 })
}

/// Fetches a report, or the reason why there is none, each `period`.
fn reports(socket: PathBuf, period: Duration) -> io::Result<Receiver<Result<Report, String>>> {
    // A rendezvous channel: no further report is fetched until this one is taken.
    let (sender, receiver) = mpsc::sync_channel(0);
    let fetches = move || {
        loop {
            thread::sleep(period);
            if sender.send(fetch(&socket)).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("waitword-fetch".into()).spawn(fetches)?;
    Ok(receiver)
}

/// Owns the terminal until this returns.
fn show(
    mut state: State,
    reports: &Receiver<Result<Report, String>>,
    keys: &Receiver<io::Result<Key>>,
    is_terminated: &AtomicBool,
) -> io::Result<()> {
    let mut screen = HideCursor::from(io::stdout().into_raw_mode()?.into_alternate_screen()?);
    let mut shown = (Default::default(), Vec::new());
    while !state.is_over && !is_terminated.load(Ordering::Relaxed) {
        let size = termion::terminal_size()?;
        if std::mem::take(&mut state.wants_redraw) || size != shown.0 {
            write!(screen, "{}", termion::clear::All)?;
            shown.1.clear();
        }
        let lines = view::draw(&mut state, size);
        for (row, line) in (1..).zip(&lines) {
            // An unchanged line is not written again.
            if shown.1.get(usize::from(row) - 1) != Some(line) {
                write!(screen, "{}{line}", Goto(1, row))?;
            }
        }
        screen.flush()?;
        shown = (size, lines);
        match keys.recv_timeout(MOMENT) {
            Ok(key) => state.press(key?),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        if let Ok(report) = reports.try_recv() {
            state.update(report);
        }
    }
    Ok(())
}
