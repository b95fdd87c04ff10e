//! Holders: who holds each lock, since when, and taken where; by a switch at run time.
//!
//! A lock's word has no room for its holder. So while the switch is on, each acquisition writes a record (`record.rs`): one of its thread's own
//! (`own.rs`), which snapshots find in a list of all (`records.rs`). The release erases it. The core tells of both (`observer/hooks.rs`). The events of a trace
//! are here, too (`rings.rs`).
//!
//! # The switch
//! An acquisition asks the switch (`observer/switch.rs`). A guard keeps the place of its record, and the release erases that; where a guard has no
//! room, the release asks whether there may be records, and looks for its own. So what was recorded is erased by its own release, also if the
//! switch was turned meanwhile, and nobody else ever erases a record (but the drop of a lock, whose guards were leaked):
//!
//! ```text
//!   switch          off     on                off                     on
//!   a lock          taken ──────── released   taken ───────────────── released
//!   its record      none                      none: "holder unknown"
//!   another         free    taken ──────────────── released           free
//!   its record              made              stays  erased
//! ```
//! Releases look for records until the table is empty after the switch was turned off; then they stop.
//!
//! An acquisition may ask the switch, sleep for long, and make its record when the switch has been off and on. It holds the lock
//! all that time, so the record is true; but it may come when releases look for records no more, and stay. So a record has the number of
//! the switch's turn, and one of an earlier turn is not shown.
//!
//! # Since when
//! A record has no clock: a thread stores the time every 10 ms into the switch, and an acquisition copies it.

mod holders;
pub(crate) mod own;
#[allow(clippy::module_inception)]
#[allow(unsafe_code)]
pub(crate) mod record;
pub(crate) mod recorder;
#[allow(unsafe_code)]
mod records;
mod release;
mod ring;
pub(crate) mod rings;
pub(crate) mod sent;
pub(crate) mod threads;

pub(crate) use holders::held_by;
pub use holders::{HolderSeen, Holders, holders};
pub(crate) use recorder::{number as thread_number, record_time, site_of, this_thread, time_of_record};
pub(crate) use release::release_under_way;
pub use release::{Release, note_release};
pub(crate) use threads::thread_of;
