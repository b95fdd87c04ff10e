//! `waitword top`: the locks of another process, live.
//!
//! A thread fetches a report each second (`attach.rs`). The main thread owns the terminal (`screen.rs`): after each report and each key it
//! updates the state (`state.rs`) and draws it (`view.rs`). The terminal is restored when this ends by a key, a panic or a signal.

#[cfg(unix)]
mod screen;
#[cfg(unix)]
mod state;
#[cfg(unix)]
mod view;

use std::io::{self, IsTerminal, Write};

use crate::args::Top;
use crate::attach::fetch;
#[cfg(unix)]
use screen::watch;

pub(crate) fn run(arguments: &Top) -> i32 {
    try_run(arguments).unwrap_or_else(|why| {
        // Ignored: without standard error, the exit code still reports the failure.
        let _ = writeln!(io::stderr().lock(), "error: {why}");
        1
    })
}

/// Returns the exit code.
///
/// # Errors
/// A message for the user: nothing can be shown, or no more.
fn try_run(arguments: &Top) -> Result<i32, String> {
    let socket = &arguments.socket;
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(format!("the output is not a terminal: use waitword report {}", socket.display()));
    }
    let first = fetch(socket).map_err(|error| format!("no report from {}: {error}", socket.display()))?;
    watch(first, arguments)
}

/// Never called: without Unix sockets there is no first report.
#[cfg(not(unix))]
fn watch(_: waitword_observe::Report, arguments: &Top) -> Result<i32, String> {
    Err(format!("no report each {:?}", arguments.every))
}
