//! A snapshot: all waiters of a table, copied out in short critical sections, between which waiters come and go.
//!
//! ```text
//!   snapshot                                    others
//!   ─────────────────────────────────────       ──────────────────────────────────
//!   lock; copy A, B; place = C; unlock
//!                                               lock; C leaves: place = D; unlock
//!   lock; copy D, E; ...
//! ```
//! Between two critical sections the place is a waiter that is still queued ([`Place`](super::shard::Place)): its removal moves the place
//! to the waiter behind it, which costs each removal a comparison. If its queue is gone, the copy continues with the bucket's next word in
//! the order of keys, so it need not remember which words it has copied. If all queues were moved to other buckets (`shard.rs`), the shard
//! is copied anew.
//!
//! Copying a shard at once would be simpler, but would hold its lock for 0.18 µs per waiter: for 18 ms with 100,000 waiters on one word,
//! instead of 12 µs.
//!
//! So a waiter that is queued on one word all the time is copied exactly once, and one that comes or goes at most once. One that is
//! requeued meanwhile may be copied twice or not at all.

use std::ptr::NonNull;
use std::thread::Thread;

use super::key::Key;
use super::node::{OVERDUE, SIGNALLED, SKIPPED, Tagged, Waiter, next, with};
use super::section::{Section, len};
use super::shard::{SNAPSHOTS, behind};
use super::table::Table;
use crate::observe::{Actor, Copied, Front, WaiterSeen, WaiterState, nanos_of, time_of};
use crate::park::known::with_known_threads;
use crate::sync::MODEL;
use crate::sync::by_address::ByAddress;
use crate::wake::Wake;

impl Table {
    /// Returns all waiters that are queued in this table, grouped by word, in the order of each queue.
    ///
    /// For each it tells where its wait began, which thread, task or agent it is, and whether it was signalled.
    ///
    /// A waiter that is queued during the whole call, and not requeued, is seen exactly once; with the feature `observe`, one that holds a
    /// lock when it enqueues is seen once it has released that (`observe::Origin::before_release`). Waiters are copied under the lock of
    /// their shard, at most 64 in one critical section of some microseconds, which allocates nothing and runs no foreign code. One snapshot
    /// runs at a time.
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
        let (mut all, mut threads) = (Vec::new(), with_known_threads(ByAddress::clone));
        // One snapshot at a time: a shard has one `Place`. A thread that forks waits for it.
        let one = SNAPSHOTS.lock();
        for shard in self.shards() {
            let (begin, mut copying) = (all.len(), Copying::begin());
            loop {
                all.reserve(STAY);
                match Section::begin(shard, Key::NONE).copy(&mut copying, |copied| all.push(copied)) {
                    Next::GoOn => {}
                    Next::Again => all.truncate(begin),
                    Next::End => break,
                }
            }
        }
        drop(one);
        // Read again: threads known before may have ended since, and those that began to wait since were not known.
        threads.merge(with_known_threads(ByAddress::clone));
        seen(all, &threads)
    }
}

impl Table {
    /// The front of the queue of the word at this address, if it has waiters. `who` is filled with the identities of its first waiters.
    pub(crate) fn front(&self, word: usize, who: &mut [usize]) -> Option<Front> {
        let key = self.key_of(word);
        if self.is_idle(key) { None } else { self.section(key).front(who) }
    }
}

/// For an observer: how many of these identities are those of threads. Looks each up under a lock that a thread takes at its first wait and
/// when it ends.
#[doc(hidden)]
pub fn count_threads(who: &[usize]) -> usize {
    with_known_threads(|known| who.iter().filter(|who| known.get(**who).is_some()).count())
}

/// Tells threads from tasks, and counts positions.
fn seen(copied: Vec<Copied>, threads: &ByAddress<Thread>) -> Vec<WaiterSeen> {
    let mut before = (0, 0);
    let seen = copied.into_iter().filter_map(|waiter| {
        let position = if before.0 == waiter.word { before.1 + 1 } else { 0 };
        before = (waiter.word, position);
        if waiter.releases {
            return None;
        }
        let thread = || threads.get(waiter.who).cloned().map(Actor::Thread);
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

/// How many waiters are copied in one critical section: some microseconds, if none of them is in a cache.
pub(crate) const STAY: usize = if MODEL { 1 } else { 64 };

/// How many buckets are visited in one critical section.
const BUCKETS: usize = 256;

/// The progress of the copy of a shard.
#[derive(Debug)]
pub(crate) struct Copying {
    bucket: usize,
    /// The key of the queue that is copied, or was copied last.
    key: Key,
    rehashes: u64,
}

impl Copying {
    pub(crate) fn begin() -> Self {
        Self { bucket: 0, key: Key::NONE, rehashes: 0 }
    }
}

/// What follows a critical section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Continue the copy.
    GoOn,
    /// Discard what was copied of this shard, and start it anew.
    Again,
    /// The next shard.
    End,
}

impl Section<'_> {
    /// One critical section: calls `copied` with up to [`STAY`] waiters. One snapshot at a time; `copied` must not allocate.
    pub(crate) fn copy(&mut self, copying: &mut Copying, mut copied: impl FnMut(Copied)) -> Next {
        self.with(|queues, _| {
            if (copying.bucket, copying.key) == (0, Key::NONE) {
                (queues.place.next, copying.rehashes) = (None, queues.place.rehashes);
            }
            if copying.rehashes != queues.place.rehashes {
                *copying = Copying::begin();
                return Next::Again;
            }
            let end = copying.bucket + BUCKETS;
            let mut left = STAY;
            while copying.bucket < queues.buckets.len().min(end) {
                let bucket = &queues.buckets[copying.bucket];
                // SAFETY: we hold the lock (I2), under which the place is kept in a queue of this bucket.
                unsafe {
                    if let Some(mut node) = queues.place.next.take() {
                        let Some(head) = bucket.find(copying.key) else { continue };
                        loop {
                            if left == 0 {
                                queues.place.next = Some(node);
                                return Next::GoOn;
                            }
                            copied(copy_of(node));
                            left -= 1;
                            match behind(head, node) {
                                Some(behind) => node = behind,
                                None => break,
                            }
                        }
                    }
                    match bucket.find_above(copying.key) {
                        Some((key, head)) => (copying.key, queues.place.next) = (key, Some(head)),
                        None => (copying.bucket, copying.key) = (copying.bucket + 1, Key::NONE),
                    }
                }
            }
            if copying.bucket < queues.buckets.len() { Next::GoOn } else { Next::End }
        })
    }
}

impl Section<'_> {
    /// The front of the queue, if there is one. `who` is filled with the identities of its first waiters.
    fn front(&mut self, who: &mut [usize]) -> Option<Front> {
        // SAFETY: we hold the lock to which the queue and its nodes belong (I2); they are alive (I1).
        self.with(|queues, key| unsafe {
            let head = queues.bucket(key).find(key)?;
            let (len, mut node) = (len(head), head);
            for who in who.iter_mut().take(len) {
                *who = with(node, |links| links.wake.identity());
                node = next(node);
            }
            let Copied { waits_for, site, ticket, .. } = copy_of(head);
            Some(Front { len, waits_for, site, since: nanos_of(ticket) })
        })
    }
}

/// # Safety
/// The node is queued under a lock that the caller holds (I2).
unsafe fn copy_of(node: NonNull<Waiter>) -> Copied {
    // SAFETY: alive (I1), and its links belong to the caller's lock (I2).
    unsafe {
        let state = match node.as_ref().state() {
            SIGNALLED => WaiterState::Signalled,
            OVERDUE => WaiterState::Overdue,
            SKIPPED => WaiterState::Skipped,
            _ => WaiterState::Queued,
        };
        let word = node.as_ref().key().address();
        with(node, |links| Copied {
            word,
            ticket: node.as_ref().ticket(),
            waits_for: node.as_ref().waits_for(),
            site: links.site.get(),
            is_timed: node.as_ref().is_timed(),
            who: links.wake.identity(),
            // `InboxWait::enqueue` alone gives a node such a wake, and a pointer to the whole of its `Tagged`, which lives as long (I1).
            token: matches!(links.wake, Wake::Agent(Some(_))).then(|| node.cast::<Tagged>().as_ref().token),
            state,
            was_seen_so: state != WaiterState::Queued && links.wake.mark_taken(),
            releases: node.as_ref().releases(),
        })
    }
}
