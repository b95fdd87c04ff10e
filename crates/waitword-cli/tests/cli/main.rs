//! The command line as its users meet it: what a table of scripts (`tests/scripts`) cannot say, because it needs signals, pipes, sockets,
//! the memory of the process or another command than `run`.

mod ends;
mod limits;
mod observe;
mod pages;
mod program;
mod sources;
mod test262;
mod threads;
