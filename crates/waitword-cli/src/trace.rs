//! `waitword trace`: the timeline of another process, through its socket.

use std::io::Write as _;

use crate::args::Trace;
use crate::attach::{fetched, refusal};

pub(crate) fn run(arguments: &Trace) -> i32 {
    let (line, failed) = match written(arguments) {
        Ok(line) => (line, 0),
        Err(error) => (format!("error: no trace from {}: {error}", arguments.socket.display()), 1),
    };
    let _ = writeln!(std::io::stderr().lock(), "{line}");
    failed
}

fn written(arguments: &Trace) -> Result<String, String> {
    let Trace { socket, seconds, all, output } = arguments;
    let request = format!("trace {}{}\n", seconds.as_secs_f64(), if *all { " all" } else { "" });
    let json = fetched(socket, &request, *seconds)?;
    if let Some(answer) = refusal(&json) {
        return Err(answer);
    }
    let trace = waitword_observe::Trace::from_json(&json)
        .map_err(|_| "another program than waitword's answers there, or another version".to_owned())?;
    let is_svg = output.extension().is_some_and(|extension| extension == "svg");
    let text = if is_svg { trace.to_svg() } else { trace.to_chrome_json() };
    std::fs::write(output, text)
        .map_err(|error| format!("{} cannot be written: {error}", output.display()))?;
    let dropped = match trace.dropped {
        0 => String::new(),
        dropped => format!(" ({dropped} older events were overwritten)"),
    };
    Ok(format!("{}: {} events{dropped}", output.display(), trace.events.len()))
}
