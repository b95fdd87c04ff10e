//! `waitword top`: the locks of another process, live.
//!
//! A thread fetches a report each second (`attach.rs`); this thread has the terminal. It draws (`view.rs`) what the state (`state.rs`) is
//! after each report and each key. The terminal is restored however this ends: by a key, a panic or a signal.

mod state;
mod view;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::backend::Backend;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use waitword_observe::Report;

use crate::args::Top;
use crate::attach::fetch;
use state::State;

/// A key is heard, and a report shown, after so long at most.
const MOMENT: Duration = Duration::from_millis(50);

/// What a shell shows for a program that SIGTERM ended.
const EXIT_TERMINATED: i32 = 143;

pub(crate) fn run(arguments: &Top) -> i32 {
    try_run(arguments).unwrap_or_else(|why| {
        // Without a standard error the exit code still says it.
        let _ = writeln!(io::stderr().lock(), "error: {why}");
        1
    })
}

/// The exit code.
///
/// # Errors
/// Why nothing can be shown, or no more, for the user.
fn try_run(arguments: &Top) -> Result<i32, String> {
    let socket = &arguments.socket;
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(format!("this is no terminal; use: waitword report {}", socket.display()));
    }
    let first = fetch(socket).map_err(|error| format!("no report from {}: {error}", socket.display()))?;
    let is_terminated = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&is_terminated))
        .map_err(|error| format!("SIGTERM cannot be handled: {error}"))?;
    let reports = reports(socket.clone(), arguments.every)
        .map_err(|error| format!("no thread to fetch reports: {error}"))?;
    // Restores the terminal at a panic, too.
    let mut terminal =
        ratatui::try_init().map_err(|error| format!("the terminal cannot be used: {error}"))?;
    let watched = watch(&mut terminal, State::new(first), &reports, &is_terminated);
    ratatui::restore();
    watched.map_err(|error| format!("the terminal is gone: {error}"))?;
    Ok(if is_terminated.load(Ordering::Relaxed) { EXIT_TERMINATED } else { 0 })
}

/// A report, or why there is none, each `period`.
fn reports(socket: PathBuf, period: Duration) -> io::Result<Receiver<Result<Report, String>>> {
    // One at a time: a report that nobody takes is not followed by others.
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

fn watch(
    terminal: &mut DefaultTerminal,
    mut state: State,
    reports: &Receiver<Result<Report, String>>,
    is_terminated: &AtomicBool,
) -> io::Result<()> {
    while !state.is_over && !is_terminated.load(Ordering::Relaxed) {
        if std::mem::take(&mut state.wants_redraw) {
            // Not `Terminal::clear`: that asks the terminal where the cursor is, and some do not answer.
            terminal.backend_mut().clear()?;
            terminal.swap_buffers();
        }
        terminal.draw(|frame| view::draw(frame, &mut state))?;
        // A change of the size is an event, too, after which all is drawn anew.
        if event::poll(MOMENT)? {
            match event::read()? {
                Event::Key(key) if key.kind == KeyEventKind::Press => state.press(key),
                _ => {}
            }
        }
        if let Ok(report) = reports.try_recv() {
            state.update(report);
        }
    }
    Ok(())
}
