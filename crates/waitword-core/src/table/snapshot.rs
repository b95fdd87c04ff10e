//! A snapshot: all waiters of a table, copied out.

use std::collections::BTreeMap;
use std::thread::Thread;

use super::shards::SNAPSHOTS;
use super::{Location, Table, address};
use crate::observe::{Actor, CONTENDED, Copied, Front, WaiterSeen, asks, contended, time_of};
use crate::shard::copy::{Copying, Next, STAY};
use crate::thread::with_known_threads;

impl Table {
    /// All waiters that are queued in this table: where each wait began, whose it is, and whether it was signalled. They are grouped by
    /// word, in the order of each queue.
    ///
    /// A waiter that is queued during the whole call, and not requeued, is seen exactly once; with the feature `observe`, one that holds a
    /// lock when it enqueues is seen once it has released that (`observe::Origin::before_release`). Waiters are copied under the lock of
    /// their shard, at most 64 in one critical section of some microseconds, which allocates nothing and runs no foreign code. Snapshots
    /// take turns.
    ///
    /// # Panics
    /// If there is no memory for the result, as any `Vec`.
    ///
    /// ```
    /// use std::sync::atomic::AtomicU32;
    /// use waitword_core::{Table, wait_async};
    ///
    /// let (table, word) = (Table::new(), AtomicU32::new(0));
    /// let mut waiting = std::pin::pin!(wait_async(table.at(&word), 0));
    /// # let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    /// # use std::future::Future;
    /// assert!(waiting.as_mut().poll(&mut cx).is_pending());
    ///
    /// let seen = table.snapshot();
    /// assert_eq!(seen[0].word, std::ptr::from_ref(&word).addr());
    /// println!("a waiter from {}", seen[0].site.unwrap());
    /// ```
    pub fn snapshot(&self) -> Vec<WaiterSeen> {
        let (mut all, mut threads) = (Vec::new(), with_known_threads(BTreeMap::clone));
        // One snapshot at a time: a shard has one `Place`. A thread that forks waits for it.
        let one = SNAPSHOTS.lock();
        for shard in self.shards.iter() {
            let (begin, mut copying) = (all.len(), Copying::default());
            loop {
                all.reserve(STAY);
                match shard.lock().copy(&mut copying, |copied| all.push(copied)) {
                    Next::GoOn => {}
                    Next::Again => all.truncate(begin),
                    Next::End => break,
                }
            }
        }
        drop(one);
        // Read again: threads known before may have ended since, and those that began to wait since were not known.
        threads.extend(with_known_threads(BTreeMap::clone));
        seen(all, &threads)
    }
}

/// For building locks: tells the observer that a lock was released for which others wait on `at`. Its holders are recorded under the
/// address `held`.
///
/// Call it after the release and before the signal. While no observer asks for this, it costs a load.
#[inline]
pub fn charge_release<L: Location>(at: L, held: usize) {
    if asks(CONTENDED) {
        let (table, word) = (at.table(), address(&at));
        contended(word, held, &|who| table.front(word, who));
    }
}

impl Table {
    /// The front of the queue of the word at this address, if it has waiters. `who` is filled with the identities of its first waiters.
    fn front(&self, word: usize, who: &mut [usize]) -> Option<Front> {
        let key = self.key_of(word);
        if self.shard(key).is_idle(key.hash) { None } else { self.lock(key).front(key, who) }
    }
}

/// For an observer: how many of these identities are those of threads. Looks each up under a lock that a thread takes at its first wait and
/// when it ends.
#[doc(hidden)]
pub fn count_threads(who: &[usize]) -> usize {
    with_known_threads(|known| who.iter().filter(|who| known.contains_key(who)).count())
}

/// Tells threads from tasks, and counts positions.
fn seen(copied: Vec<Copied>, threads: &BTreeMap<usize, Thread>) -> Vec<WaiterSeen> {
    let mut before = (0, 0);
    let seen = copied.into_iter().filter_map(|waiter| {
        let position = if before.0 == waiter.word { before.1 + 1 } else { 0 };
        before = (waiter.word, position);
        if waiter.releases {
            return None;
        }
        let thread = || threads.get(&waiter.who).cloned().map(Actor::Thread);
        let actor = match waiter.token {
            Some(_) => Actor::Agent(waiter.who),
            None => thread().unwrap_or(Actor::Task(waiter.who)),
        };
        Some(WaiterSeen {
            word: waiter.word,
            position,
            waits_for: waiter.waits_for,
            site: waiter.site,
            since: time_of(waiter.ticket),
            timed: waiter.token.is_none().then_some(waiter.is_timed),
            actor,
            token: waiter.token,
            state: waiter.state,
            was_seen_so: waiter.was_seen_so,
        })
    });
    seen.collect()
}
