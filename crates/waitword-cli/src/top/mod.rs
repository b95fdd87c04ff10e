//! `waitword top`: the locks of another process, live.
//!
//! A thread fetches a report each second (`attach.rs`); this thread has the terminal. It draws (`view.rs`) what the state (`state.rs`) is
//! after each report and each key. The terminal is restored however this ends: by a key, a panic or a signal.

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
    watch(first, arguments)
}

/// Where there are no Unix sockets there is no first report.
#[cfg(not(unix))]
fn watch(_: waitword_observe::Report, arguments: &Top) -> Result<i32, String> {
    Err(format!("no report each {:?}", arguments.every))
}
