//! What a program finds SIGINT to do when it starts. It would inherit that from the test, which inherits it in turn: a shell
//! starts background jobs with SIGINT ignored, and so do `nohup` and some runners of tests.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

#[derive(Clone, Copy)]
pub(crate) enum Sigint {
    /// The system's default.
    Ends,
    IsIgnored,
}

/// Has `command` start its program with this.
pub(crate) fn with_sigint(command: &mut Command, sigint: Sigint) -> &mut Command {
    let disposition = match sigint {
        Sigint::Ends => libc::SIG_DFL,
        Sigint::IsIgnored => libc::SIG_IGN,
    };
    let set = move || {
        // SAFETY: neither disposition is a function, and `signal` is async-signal-safe.
        if unsafe { libc::signal(libc::SIGINT, disposition) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    };
    // SAFETY: between fork and exec, `set` does nothing that is not async-signal-safe: it takes no lock and allocates nothing.
    unsafe { command.pre_exec(set) }
}
