//! The functions that the JavaScript half of the host calls: `host.native` in the files under `js/`. `table.rs` names them.

mod agent;
mod arguments;
mod blobs;
mod broadcast;
mod files;
mod messages;
mod table;
mod threads;
mod urls;
mod workers;

pub(crate) use table::object;
