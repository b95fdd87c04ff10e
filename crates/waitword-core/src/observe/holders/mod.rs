//! Holders: who holds each lock, since when, and taken where; by a switch at run time.
//!
//! A lock's word has no room for its holder. So while the switch is on, each acquisition writes a record (`record.rs`): one of its thread's own
//! (`own.rs`), which snapshots find in a list of all (`records.rs`). The release erases it. Without the feature `observe` all of this is empty.
//!
//! # The switch
//! An acquisition asks the switch of `start_holders`. A guard keeps the place of its record, and the release erases that; where a guard has no
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
//! A record has no clock: a thread of this module stores the time every 10 ms into the switch, and an acquisition copies it.
//!
//! # What else is asked
//! Charges, traces and listeners want more than a record. An acquisition learns that from the sign of the time, and a release from a flag of
//! its record (`recorder.rs`, `ask_anew`), so neither looks at another place to find that nothing is asked.

mod held_by;
mod hold;
mod kept;
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
mod on;
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
mod own;
#[cfg(feature = "observe")]
#[allow(unsafe_code)]
mod record;
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
mod recorder;
#[cfg(feature = "observe")]
#[allow(unsafe_code)]
mod records;
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
mod seen;
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
mod sent;
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
mod switch;

pub use held_by::{HeldBy, held_by};
pub use hold::Hold;
pub use kept::{HoldId, Recorded};
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
pub use on::{
    Now, acquired, acquired_by_task, acquired_now, acquired_permits, as_recorded, changed, dropped,
    forgotten, may_be_elsewhere, merged, not_kept, permits_added, recorded, recording, released,
    released_quickly, released_slowly, split, was_made_to_be_sent,
};
#[cfg(all(feature = "observe", any(waitword_loom, waitword_shuttle)))]
#[doc(hidden)]
pub use record::{Entry, Record};
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
pub(crate) use recorder::{ask_anew, is_on, record_time, recorded_thread, site_of, time_of_record};
#[cfg(all(feature = "observe", any(waitword_loom, waitword_shuttle)))]
#[doc(hidden)]
pub use records::{Block, Records};
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
pub use seen::{HolderSeen, Holders, holders};
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
pub use switch::{start_holders, stop_holders};

#[cfg(not(all(feature = "observe", not(any(waitword_loom, waitword_shuttle)))))]
mod off;
#[cfg(not(all(feature = "observe", not(any(waitword_loom, waitword_shuttle)))))]
pub use off::{
    Now, acquired, acquired_by_task, acquired_now, acquired_permits, as_recorded, changed, dropped,
    forgotten, may_be_elsewhere, merged, not_kept, permits_added, recorded, recording, released,
    released_quickly, released_slowly, split, was_made_to_be_sent,
};
