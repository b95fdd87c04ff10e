//! Holders: who holds each lock, since when, and where it was acquired; by a switch at run time.
//!
//! A lock's word has no room for its holder. So while the switch is on, each acquisition writes a record (`record.rs`): one of its thread's
//! own (`own.rs`), which snapshots find in a list of all (`records.rs`). The release erases it. The core tells of both
//! (`observer/hooks.rs`). The events of a trace are kept here, too (`rings.rs`).
//!
//! # The switch
//! An acquisition checks the switch (`observer/mod.rs`). A guard keeps the address of its record, and the release erases that record; if a
//! guard has no room for it, the release checks whether there may be records, and searches for its own. So a record is erased by the
//! release of its own hold, also if the switch was turned meanwhile, and by nobody else (except the drop of a lock whose guards were
//! leaked):
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
//! An acquisition may check the switch, sleep for long, and make its record after the switch has been off and on again. It holds the lock
//! all that time, so the record is true; but it may come when releases no longer search for records, and stay. So a record has the number
//! of the switch's turn, and a record of an earlier turn is not shown.
//!
//! # Since when
//! Records do not read the clock: a thread stores the time every 10 ms into the switch, and an acquisition copies it.
//!
//! # Guards that are sent
//! A guard is `Send`: one thread may acquire a lock, and another release it. The record of such a hold names a thread that may wait for
//! this very lock without a deadlock. Sending a guard is not seen; but its upgrade, downgrade or release shows that it was sent. A line of
//! a program does with its guards what it did before, so holds that were acquired there are reported as "acquired by", and make no certain
//! deadlock. A release checks the record only if there is another reason to: while holders are charged, or a trace is written.

pub(crate) mod own;
#[allow(clippy::module_inception)]
#[allow(unsafe_code)]
pub(crate) mod record;
pub(crate) mod recorder;
#[allow(unsafe_code)]
mod records;
mod ring;
pub(crate) mod rings;

use std::collections::BTreeMap;
use std::thread;

use waitword::HeldBy;
use waitword::observe::holders::Hold;
use waitword::observe::lock_of;
use waitword_core::observe::{Actor, Site, WaitsFor};
use waitword_core::time::{Duration, Instant};

use crate::model::{Access, held_as, sort};
use crate::site_ptr::AtomicSite;
use crate::sync::atomic::Ordering;
use crate::tasks::{kept_number, task_number};
use record::{ALONE, ELSEWHERE, Entry, FORGOTTEN, Record, TASK};
pub use recorder::{Release, note_release};
use recorder::{TABLE, TURN_SHIFT, UNKNOWN, UNRECORDED, recorded, switch, tick, time};
pub(crate) use recorder::{
    number as thread_number, numbered, record_time, release_under_way, this_thread, time_of_record,
};

/// A holder, as a snapshot saw it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HolderSeen {
    /// Identifies the hold in its present mode: if two snapshots show the same number, it lasted all the time between, and in the same
    /// mode.
    pub number: u64,
    /// The address of the word.
    pub word: usize,
    /// How it is held.
    pub hold: Hold,
    /// How many permits of a semaphore; 1 of another lock.
    pub permits: usize,
    /// Where it was acquired.
    pub site: &'static Site,
    /// When it was acquired, to 10 ms.
    pub since: Instant,
    /// What acquired it. `None`: an unknown thread.
    pub actor: Option<Actor>,
    /// The thread on which it was acquired: that of `actor`, or the one that polled the task.
    pub on: Option<thread::Thread>,
    /// Whether no thread but `on` can poll the task: it is on a runtime with one thread. Known for tokio, with the feature `tokio`.
    pub is_polled_only_there: bool,
    /// Whether the guard may be with another than the one that acquired it.
    pub may_be_elsewhere: bool,
    /// When the thread that acquired it ended, if it has. `None` for a task.
    pub ended: Option<Instant>,
    /// Whether nothing will release it: forgotten permits, a leaked guard.
    pub is_forgotten: bool,
}

/// The holders, and how complete they are.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Holders {
    /// The holders that are recorded.
    pub seen: Vec<HolderSeen>,
    /// How many acquisitions were not recorded since the switch was turned on, because there was no room.
    pub unrecorded: u64,
    /// When the switch was turned on.
    pub began: Instant,
}

/// All holders that are recorded; `None` if the switch is off (`start_holders`).
///
/// A hold that lasts during the whole call is seen exactly once. Takes no lock of a queue, and delays nobody.
pub fn holders() -> Option<Holders> {
    let began = {
        let switch = switch();
        if !switch.is_on {
            return None;
        }
        tick(switch.turns);
        switch.began?
    };
    let turn = record_time() >> TURN_SHIFT;
    let mut entries: Vec<_> =
        TABLE.all_numbered().filter(|(_, entry, _)| entry.what >> TURN_SHIFT == turn).collect();
    forget_stale(&mut entries);
    let seen = entries.iter().filter_map(|(_, entry, number)| seen(entry, *number)).collect();
    Some(Holders { seen, unrecorded: UNRECORDED.load(Ordering::Relaxed), began })
}

/// A mutex has one holder: that of the youngest record. An older record is of a leaked guard of a lock that was never dropped, and that
/// another lock has replaced; or its hold has ended meanwhile. Among records of the same 10 ms it is not known which is younger.
///
/// A script that unlocks an `AsyncLock` erases no record, and the end of the lock's memory erases none. A lock of another kind may be at
/// its address by now. That lock's record is not older, for the acquisition of an `AsyncLock` erases what it finds.
fn forget_stale(entries: &mut Vec<(&Record, Entry, u64)>) {
    let mut youngest = BTreeMap::new();
    for (_, entry, _) in entries.iter().filter(|(_, entry, _)| !entry.is_held(Hold::AsyncLock)) {
        let youngest = youngest.entry(entry.word).or_insert(0);
        *youngest = entry.time().max(*youngest);
    }
    entries.retain(|(record, entry, _)| {
        let youngest = youngest.get(&entry.word);
        let is_stale = youngest.is_some_and(|youngest| match entry.hold() {
            Some(Hold::Mutex) => entry.time() < *youngest,
            Some(Hold::AsyncLock) => entry.time() <= *youngest,
            _ => false,
        });
        if is_stale {
            record.set_stale(entry);
        }
        !is_stale
    });
}

/// Whether the guard may be with another than the one that acquired it. An `AsyncLock` has no guard: any thread may unlock it.
fn is_sent(entry: &Entry) -> bool {
    entry.what & ELSEWHERE != 0 || entry.is_held(Hold::AsyncLock) || is_line_known(entry.site)
}

impl Entry {
    /// The actor of a hold of a task.
    fn task_actor(&self) -> Actor {
        self.number.checked_sub(1).map_or(Actor::Task(self.task), Actor::Identified)
    }

    /// Whether another task has the waker by now, as far as tasks have numbers.
    fn is_of_ended_task(&self) -> bool {
        self.number != 0 && task_number(self.task).is_some_and(|now| kept_number(Some(now)) != self.number)
    }
}

fn seen(entry: &Entry, number: u64) -> Option<HolderSeen> {
    let numbered = numbered(entry.thread);
    let is_task = entry.what & TASK != 0;
    let is_unknown = match is_task {
        false => numbered.is_none(),
        true => entry.is_of_ended_task(),
    };
    let ended = numbered.as_ref().and_then(|numbered| numbered.ended).filter(|_| !is_task);
    let on = numbered.map(|numbered| numbered.thread);
    let hold = entry.hold()?;
    Some(HolderSeen {
        number,
        word: entry.word,
        hold,
        permits: if hold == Hold::Permits { entry.permits } else { 1 },
        site: entry.site,
        since: time(entry.what)?,
        actor: if is_task { Some(entry.task_actor()) } else { on.clone().map(Actor::Thread) },
        on,
        is_polled_only_there: entry.what & ALONE != 0,
        may_be_elsewhere: is_unknown || is_sent(entry),
        ended,
        is_forgotten: entry.what & FORGOTTEN != 0,
    })
}

/// Who holds what an acquirer of the lock with the word, whose time is up, has waited for.
///
/// The holder may release the lock right after the look-up, or may have done so between the timeout and the look-up: then there is no
/// record, or that of the next holder. So the result was true at some moment near the end of the wait.
pub(crate) fn held_by(word: usize, waits_for: WaitsFor) -> HeldBy {
    let mut others = 0;
    let mut oldest: Option<Entry> = None;
    let in_the_way = |entry: &Entry| entry.hold().is_some_and(|hold| is_in_the_way(hold, waits_for));
    for entry in recorded(word).filter(in_the_way) {
        others += usize::from(oldest.is_some());
        if oldest.is_none_or(|oldest| entry.what < oldest.what) {
            oldest = Some(entry);
        }
    }
    let Some(entry) = oldest else { return HeldBy::NONE };
    let held =
        time(entry.what).map_or(Duration::ZERO, |since| Instant::now().saturating_duration_since(since));
    let thread = u32::try_from(entry.thread).unwrap_or(UNKNOWN as u32);
    let held_by = HeldBy::new(thread, entry.site, held).beside(others).sent(is_sent(&entry));
    match entry.what & TASK != 0 {
        true => held_by.by_task(entry.number.checked_sub(1), entry.task),
        false => held_by,
    }
}

/// Where a holder that keeps out such a waiter on the word acquired the lock, if that is recorded.
pub(crate) fn site_of(word: usize, waits_for: WaitsFor) -> Option<&'static Site> {
    let in_the_way = |entry: &Entry| entry.hold().is_some_and(|hold| is_in_the_way(hold, waits_for));
    recorded(lock_of(word, waits_for)).find(in_the_way).map(|entry| entry.site)
}

/// Whether a lock that is held in this mode is not available to this waiter. A hold of another kind of lock excludes nothing: that lock was
/// in this memory before.
fn is_in_the_way(hold: Hold, waits_for: WaitsFor) -> bool {
    let ((held, mode), (kind, wants)) = (held_as(hold), sort(waits_for));
    held == kind && (mode == Access::Permits || mode.excludes(wants))
}

/// The lines whose guards are sent to other threads, as far as that was seen. No more lines than these are learned.
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
