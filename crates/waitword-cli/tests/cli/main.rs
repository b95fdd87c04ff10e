//! The command line as its users meet it: the real binary, on real files.

mod blobs;
mod clones;
mod depth;
mod ends;
mod errors;
mod growth;
mod hostile;
mod limits;
mod memory;
mod messages;
mod named_locks;
mod natives;
mod observe;
mod offered;
mod ports;
mod program;
mod scripts;
#[cfg(unix)]
mod sigint;
mod sources;
mod test262;
mod threads;
mod waits;
mod web;
mod whole;
mod workers;
