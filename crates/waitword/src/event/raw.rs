//! The state word of the event: a stored wakeup, whether waiters may be queued, and the number of the round.
//!
//! |              | nothing (0)            | `STORED` (1)            | `WAITERS` (2)                                  |
//! |--------------|------------------------|-------------------------|------------------------------------------------|
//! | meaning      | no waiter is queued    | no waiter is queued     | a waiter may be queued; nothing is stored      |
//! | a waiter     | → `WAITERS`; enqueues  | → nothing; goes on      | enqueues                                       |
//! | `notify_one` | → `STORED`             | stays                   | wakes the head; without one, → `STORED`        |
//! | `notify_last`| → `STORED`             | stays                   | wakes the tail; without one, → `STORED`        |
//! | `notify_all` | a new round            | stays; a new round      | → nothing; a new round; wakes all              |
//!
//! The bits above count the rounds. A waiter remembers the round in which it was made and goes on in a later one. So
//! `notify_all` counts it before it is queued.
//!
//! # Why the changes under `WAITERS` are one step with the notify
//! ```text
//!   A (queued)          notify_one                       B (new)
//!   ─────────────       ─────────────────────────        ─────────────────────
//!   times out:
//!   dequeues            notify: no waiter
//!                                                        WAITERS? enqueue
//!                       WAITERS → STORED
//!                                                        sleeps beside a stored wakeup
//! ```
//! Storing the wakeup first is no better: another waiter may take it while B is woken too. And if a new round and its wakes were
//! two steps, a waiter of the new round could be woken by them. So both go through `notify_one_or_replace` and
//! `replace_and_notify_all`, which run under the lock of the word's shard. Hence:
//!
//! - `STORED` or nothing: no waiter is queued. To enqueue, the word has to say `WAITERS` under the lock; `WAITERS` is cleared
//!   under the lock only, with the queue empty.
//! - A notified waiter has its wakeup and need not check the word.
//!
//! # Orderings
//! A notify releases and a waiter that goes on acquires, also if the wakeup was stored before the wait: `notify_one` writes
//! the word in any case, because its caller may have changed what the waiter is about to check.

use waitword_core::observe::WaitsFor;
use waitword_core::{Table, notify_last_or_replace, notify_one_or_replace, replace_and_notify_all};

use crate::condition::Condition;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{const_fn, mutant, order};

/// A wakeup is stored for the next waiter.
const STORED: u64 = 1;
/// A waiter may be queued.
const WAITERS: u64 = 2;
/// One round. There are 2⁶² of them.
const ROUND: u64 = 4;

/// Which queued waiter gets a wakeup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    /// The head, which has waited longest.
    First,
    /// The tail.
    Last,
}

/// The state word.
pub(crate) struct RawEvent {
    word: AtomicU64,
}

impl RawEvent {
    const_fn! {
        pub(crate) const fn new() -> Self {
            Self { word: AtomicU64::new(0) }
        }
    }

    pub(crate) fn is_stored(&self) -> bool {
        self.word.load(Ordering::Relaxed) & STORED != 0
    }

    /// The address of the word, which reports know it by.
    #[inline]
    pub(crate) fn word_at(&self) -> usize {
        std::ptr::from_ref(&self.word).addr()
    }

    /// The number of queued waiters.
    pub(crate) fn waiters(&self) -> usize {
        Table::global().waiters(&self.word)
    }

    /// Takes the stored wakeup, if there is one.
    pub(crate) fn take(&self) -> bool {
        let take = |word| (word & STORED != 0).then_some(word & !STORED);
        self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, take).is_ok()
    }

    /// Wakes one queued waiter, or stores a wakeup. Returns whether it woke one.
    pub(crate) fn notify(&self, whom: Whom) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            mutant!("event-store-again" => if word & STORED != 0 { return false });
            let stored = (word & !WAITERS) | STORED;
            let done = if word & WAITERS == 0 {
                self.word
                    .compare_exchange(word, stored, order!(Release, "event-store"), Ordering::Relaxed)
                    .map(|_| 0)
            } else {
                match whom {
                    Whom::First => notify_one_or_replace(&self.word, word, stored),
                    Whom::Last => notify_last_or_replace(&self.word, word, stored),
                }
            };
            match done {
                Ok(woken) => return woken != 0,
                Err(now) => word = now,
            }
        }
    }

    /// Begins a new round, and wakes all queued waiters. Returns their number.
    pub(crate) fn notify_all(&self) -> usize {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let next = (word & !WAITERS).wrapping_add(ROUND);
            let done = if word & WAITERS == 0 {
                self.word
                    .compare_exchange(word, next, order!(Release, "event-round"), Ordering::Relaxed)
                    .map(|_| 0)
            } else {
                self.notify_queued(word, next)
            };
            match done {
                Ok(woken) => return woken,
                Err(now) => word = now,
            }
        }
    }

    /// Not inlined: otherwise a notify that finds no waiter would compute where the queue is.
    #[inline(never)]
    fn notify_queued(&self, word: u64, next: u64) -> Result<usize, u64> {
        replace_and_notify_all(&self.word, word, next)
    }
}

/// A waiter, and the round in which it came.
pub(crate) struct EventWaiter<'a> {
    event: &'a RawEvent,
    round: u64,
    /// The wakeup that it has, from a notify of one waiter, or from the word. If this waiter gives up, the wakeup is forwarded to the
    /// waiter that the notify would have woken. After a `notify_all` there is nothing to forward: all waiters have it.
    has: Option<Whom>,
}

impl<'a> EventWaiter<'a> {
    /// A waiter of the current round.
    pub(crate) fn new(event: &'a RawEvent) -> Self {
        let round = round(event.word.load(Ordering::Acquire));
        Self { event, round, has: None }
    }
}

impl<'a> Condition for EventWaiter<'a> {
    type At = &'a AtomicU64;
    type Output = ();

    const WAITS_FOR: WaitsFor = WaitsFor::Event;

    fn at(&self) -> &'a AtomicU64 {
        &self.event.word
    }

    fn check(&mut self) -> Result<(), u64> {
        let word = &self.event.word;
        let mut now = word.load(Ordering::Acquire);
        loop {
            if round(now) != self.round {
                return Ok(());
            }
            let next = match now & (STORED | WAITERS) {
                WAITERS => return Err(now),
                STORED => now & !STORED,
                _ => now | WAITERS,
            };
            match word.compare_exchange_weak(now, next, order!(Acquire, "event-take"), Ordering::Acquire) {
                Ok(_) if next & WAITERS != 0 => return Err(next),
                Ok(_) => {
                    self.has = Some(Whom::First);
                    return Ok(());
                }
                Err(other) => now = other,
            }
        }
    }

    /// The notify that dequeued this waiter gave it the wakeup.
    fn notified(&mut self) -> Result<(), u64> {
        Ok(())
    }

    fn notified_alone(&mut self, is_last: bool) {
        self.has = Some(if is_last { Whom::Last } else { Whom::First });
    }

    fn give_up(&mut self, was_notified: bool) -> Option<()> {
        mutant!("event-forward" => return None);
        mutant!("event-forward-all" => self.has = self.has.or(was_notified.then_some(Whom::First)));
        if let Some(whom) = self.has.take() {
            debug_assert!(was_notified);
            self.event.notify(whom);
        }
        None
    }
}

fn round(word: u64) -> u64 {
    word / ROUND
}
