//! Holders: who holds each lock, since when, and where it was acquired; by a switch at run time.
//!
//! A lock's word has no bits for its holder. So while the switch is on, each acquisition writes a record (`record.rs`) on a shelf of
//! its thread, where snapshots find it (`table.rs`). The release erases the record. The core calls a hook for both (`observer/hooks.rs`). The
//! events of a trace are kept here, too (`rings.rs`).
//!
//! # The switch
//! An acquisition checks the switch (`observer/mod.rs`). A guard keeps a pointer to its record, and the release erases that record. If a
//! guard has no field for the pointer, the release checks whether there may be records, and searches for its own. So a record is erased only
//! by the release of its own hold, even if the switch was turned meanwhile, or by the drop of a lock whose guards were leaked:
//!
//! ```text
//!   switch          off     on                off                     on
//!   a lock          taken ──────── released   taken ───────────────── released
//!   its record      none                      none: "holder unknown"
//!   another         free    taken ──────────────── released           free
//!   its record              made              stays  erased
//! ```
//! After the switch was turned off, releases search for records until the table is empty.
//!
//! An acquisition may check the switch, sleep for long, and write its record after the switch has been off and on again. Its thread holds the
//! lock all that time, so the record is true. But if the record is written when releases no longer search for records, nothing erases it. So
//! a record has the number of the switch's turn, and records of earlier turns are not shown.
//!
//! # Since when
//! Records do not read the clock: a thread stores the time every 10 ms into the switch, and an acquisition copies it.
//!
//! # Guards that are sent
//! A guard is `Send`: one thread may acquire a lock, and another release it. The record of such a hold names a thread that may wait for
//! this very lock without a deadlock. Sending a guard is invisible, but its upgrade, downgrade or release on another thread shows that it was
//! sent. The same line of a program will probably send its guards again, so further holds that are acquired there are reported as "acquired
//! by", and make no certain deadlock. A release reads the record only if that is needed anyway: while holders are charged, or a trace is
//! recorded.

#[allow(clippy::module_inception)]
#[allow(unsafe_code)]
pub(crate) mod record;
pub(crate) mod recorder;
pub(crate) mod rings;
pub(crate) mod table;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use waitword::HeldBy;
use waitword::observe::holders::Hold;
use waitword::observe::lock_of;
use waitword_core::observe::{Site, WaitsFor};
use waitword_core::time::{Duration, Instant};

use crate::model::{Access, held_as, sort};
use crate::site_ptr::AtomicSite;
use record::Record;
pub(crate) use record::{Entry, Task};
pub(crate) use recorder::{
    Numbered, number as thread_number, numbered, record_time, release_under_way, this_thread, time,
    time_of_record,
};
pub use recorder::{Release, note_release};
use recorder::{UNRECORDED, is_of_this_turn, recorded, switch, tick};
use table::UNKNOWN;

/// When the switch was turned on, and all recorded holds, each with its number; `None` if the switch is off. If two calls return the same
/// number, the hold lasted from the one to the other, in the same mode.
///
/// A hold that lasts during the whole call is returned exactly once. Takes no lock of a queue, and delays no other thread.
pub(crate) fn holds() -> Option<(Instant, Vec<(u64, Entry)>)> {
    let began = {
        let switch = switch();
        if !switch.is_on {
            return None;
        }
        tick(switch.turns);
        switch.began?
    };
    let mut entries: Vec<_> = table::all().filter(|(_, entry)| is_of_this_turn(entry.at)).collect();
    forget_stale(&mut entries);
    let numbered = |(record, entry): (&Record, Entry)| (record.number(&entry), entry);
    Some((began, entries.into_iter().map(numbered).collect()))
}

/// How many acquisitions were not recorded since the switch was turned on, because no record was free.
pub(crate) fn unrecorded() -> u64 {
    if switch().is_on { UNRECORDED.load(Ordering::Relaxed) } else { 0 }
}

/// Removes stale records. A mutex has one holder: that of the youngest record. An older record is of a guard that was leaked, of a lock that
/// was never dropped and at whose address there is another lock by now; or its hold has ended meanwhile. Of records of the same 10 ms it is
/// not known which is younger.
///
/// Neither a script that unlocks an `AsyncLock` nor the end of the lock's memory erases a record. A lock of another kind may be at its
/// address by now. That lock's record is not older, because the acquisition of an `AsyncLock` erases the records that it finds.
fn forget_stale(entries: &mut Vec<(&Record, Entry)>) {
    let mut youngest = BTreeMap::new();
    for (_, entry) in entries.iter().filter(|(_, entry)| entry.hold != Hold::AsyncLock) {
        let youngest = youngest.entry(entry.word).or_insert(0);
        *youngest = entry.at.max(*youngest);
    }
    entries.retain(|(record, entry)| {
        let youngest = youngest.get(&entry.word);
        let is_stale = youngest.is_some_and(|youngest| match entry.hold {
            Hold::Mutex => entry.at < *youngest,
            Hold::AsyncLock => entry.at <= *youngest,
            _ => false,
        });
        if is_stale {
            record.set_stale(entry);
        }
        !is_stale
    });
}

/// Whether the guard may be with another thread or task than acquired it. An `AsyncLock` has no guard: any thread may unlock it.
pub(crate) fn is_sent(entry: &Entry) -> bool {
    entry.is_elsewhere || entry.hold == Hold::AsyncLock || is_line_known(entry.site)
}

/// The holder of the lock with this word, for an acquirer whose wait has timed out.
///
/// The holder may release the lock right after the look-up. If it has done so between the timeout and the look-up, there is no record, or
/// that of the next holder. So the result was true at some moment near the end of the wait.
pub(crate) fn held_by(word: usize, waits_for: WaitsFor) -> HeldBy {
    let mut others = 0;
    let mut oldest: Option<Entry> = None;
    for entry in recorded(word).filter(|entry| is_in_the_way(entry.hold, waits_for)) {
        others += usize::from(oldest.is_some());
        if oldest.is_none_or(|oldest| entry.at < oldest.at) {
            oldest = Some(entry);
        }
    }
    let Some(entry) = oldest else { return HeldBy::NONE };
    let held = time(entry.at).map_or(Duration::ZERO, |since| Instant::now().saturating_duration_since(since));
    let thread = u32::try_from(entry.thread).unwrap_or(UNKNOWN as u32);
    let held_by = HeldBy::new(thread, entry.site, held).beside(others).sent(is_sent(&entry));
    match entry.task {
        Some(task) => held_by.by_task(task.number.checked_sub(1), task.identity),
        None => held_by,
    }
}

/// Where a holder that excludes such a waiter on the word acquired the lock, if that is recorded.
pub(crate) fn site_of(word: usize, waits_for: WaitsFor) -> Option<&'static Site> {
    let in_the_way = |entry: &Entry| is_in_the_way(entry.hold, waits_for);
    recorded(lock_of(word, waits_for)).find(in_the_way).map(|entry| entry.site)
}

/// Whether a hold in this mode excludes this waiter. A hold of another kind of lock excludes none: that lock was in this memory before.
fn is_in_the_way(hold: Hold, waits_for: WaitsFor) -> bool {
    let ((held, mode), (kind, wants)) = (held_as(hold), sort(waits_for));
    held == kind && (mode == Access::Permits || mode.excludes(wants))
}

/// The lines whose guards were seen to be sent to other threads. Further lines are not learned.
static SENT: [AtomicSite; 64] = [const { AtomicSite::none() }; 64];

/// A guard that was acquired at `site` was released, or changed, by another thread.
#[cold]
pub(crate) fn learn_sent(site: &'static Site) {
    // One line may have several addresses.
    let _ = SENT.iter().any(|sent| sent.claim(site) == site);
}

/// Whether guards that are acquired at `site` are sent.
fn is_line_known(site: &Site) -> bool {
    SENT.iter().map_while(AtomicSite::load).any(|sent| sent == site)
}
