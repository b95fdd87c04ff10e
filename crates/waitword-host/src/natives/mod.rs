//! The functions that the JavaScript half of the host calls: `host.native` in the files under `js/`. `table.rs` names them.

mod agent;
mod arguments;
mod broadcast;
mod files;
mod locks;
mod messages;
mod table;
mod urls;
mod workers;

pub(crate) use table::object;
