//! The last notify of each condition variable and event: who, where, when, and how many waiters it found. While holders are recorded.
//!
//! A wait for a notify has no holder. What there is to know of one that does not end is the last notify: whether it came before the wait,
//! and found nobody.
//!
//! The table is in `notify_table.rs`.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::Thread;

use super::holders::{is_on, record_time, recorded_thread, time_of_record};
use super::notify_table::{Kept, NOTIFIES};
use super::origin::Caller;
use super::site::Site;
use super::tasks;
use crate::time::Instant;

/// How many notifies were displaced.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Whether there ever was a notify to forget.
static IS_USED: AtomicUsize = AtomicUsize::new(0);

/// For building locks: whether notifies are to be [noted](note_notify).
#[inline(always)]
pub fn notes_notifies() -> bool {
    is_on()
}

/// For building locks: the object with the word was notified, and so many waiters were woken.
#[cold]
pub fn note_notify(word: usize, woken: usize, caller: Caller) {
    IS_USED.store(1, Ordering::Relaxed);
    let task = tasks::kept_number(tasks::of_this_thread());
    let kept = Kept { word, at: record_time(), thread: recorded_thread(), task, site: caller.site(), woken };
    NOTIFIES.keep(&kept, &LOST);
}

/// For building locks: the object with the word goes.
#[inline(always)]
pub fn forget_notify(word: usize) {
    if IS_USED.load(Ordering::Relaxed) != 0 {
        forget(word);
    }
}

#[cold]
#[inline(never)]
fn forget(word: usize) {
    NOTIFIES.forget(word);
}

/// The last notify of a word.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NotifySeen {
    /// The address of the word.
    pub word: usize,
    /// The thread that notified, if that has not ended long ago.
    pub thread: Option<Thread>,
    /// The task that it polled, if tasks are asked for their numbers ([`identify`](super::identify)).
    pub task: Option<u64>,
    /// Where.
    pub site: &'static Site,
    /// When, to 10 ms.
    pub at: Instant,
    /// How many waiters it woke.
    pub woken: usize,
}

/// The last notify of each condition variable and event that was notified since holders are recorded, and how many of these were displaced
/// by those of others.
pub fn notifies() -> (Vec<NotifySeen>, u64) {
    let threads = crate::thread::numbered::numbered();
    let seen = NOTIFIES.latest().into_iter().filter_map(|kept| {
        Some(NotifySeen {
            word: kept.word,
            thread: threads.get(&kept.thread).map(|numbered| numbered.thread.clone()),
            task: kept.task.checked_sub(1),
            site: kept.site,
            at: time_of_record(kept.at)?,
            woken: kept.woken,
        })
    });
    (seen.collect(), LOST.load(Ordering::Relaxed))
}
