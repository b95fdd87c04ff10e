//! The last notify of each condition variable and event: who, where, when, and how many waiters it woke. Recorded while holders are.
//!
//! A wait for a notify has no holder. If a wait does not end, the last notify shows whether the notify came before the wait and found no
//! waiter.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::Thread;

use waitword_core::observe::Site;
use waitword_core::time::Instant;

use crate::by_word::ByWord;
use crate::record::{record_time, this_thread, time_of_record};
use crate::tasks;

/// The last notify of a word.
#[derive(Clone, Debug)]
pub struct NotifySeen {
    /// The thread that notified, if it was not ending.
    pub thread: Option<Thread>,
    /// The task that it polled, if tasks are numbered ([`identify`](crate::identify)).
    pub task: Option<u64>,
    /// Where it was called.
    pub site: &'static Site,
    /// When, in the time of the records of holders.
    at: u64,
    /// How many waiters it woke.
    pub woken: usize,
}

/// The last notifies of up to 1,024 objects.
pub(crate) static NOTIFIES: ByWord<NotifySeen, 64> = ByWord::new();

/// How many notifies were displaced.
pub(crate) static LOST: AtomicU64 = AtomicU64::new(0);

/// The object with the word was notified at this site, which woke `woken` waiters.
pub(crate) fn note(word: usize, woken: usize, site: &'static Site) {
    let (thread, task) = (this_thread(), tasks::of_this_thread());
    let seen = NotifySeen { thread, task, site, at: record_time(), woken };
    if NOTIFIES.put(word, seen, |seen| seen.at).is_some_and(|(of, _)| of != word) {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// The last notify of the object with this word since holders are recorded, and its time.
pub fn last_notify(word: usize) -> Option<(NotifySeen, Instant)> {
    let seen = NOTIFIES.get(word)?;
    let at = time_of_record(seen.at)?;
    Some((seen, at))
}
