//! Observation on and off: by hand, by the environment, by a signal, through a socket.

mod deadlock;
#[allow(unsafe_code)]
mod exit;
mod files;
mod init;
mod on;
#[cfg(unix)]
mod request;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod signal;
mod spec;
mod watch;

pub use deadlock::{abort_on_deadlock, on_deadlock};
pub use init::init;
pub use on::{check_lock_order, disable, enable, identify};
#[cfg(unix)]
pub use serve::{Server, serve};
#[cfg(unix)]
pub use signal::report_on_signal;
