//! The lock of a shard. The same word tells a notify, without the lock, which words may have waiters.
//!
//! ```text
//!   bit 0      LOCKED      a thread is in the critical section
//!   bit 1      SLEEPERS    a thread sleeps until it is free
//!   the rest   OCCUPIED    which words may have waiters, when it is free
//! ```
//! Because this is one word, taking the lock also announces a waiter to every notify that does not take the lock
//! ([`protocol`](crate::protocol), section 2). A waiter that is about to compare its word and enqueue has set LOCKED before, and a notify
//! that finds neither LOCKED nor its word's bit knows that there is no waiter.
//!
//! Critical sections are some ten nanoseconds long, but a holder may be preempted. So a thread that finds the lock taken spins
//! for no longer than a sleep and a wake take (a few microseconds), and then sleeps:
//!
//! ```text
//!   sleeper                                  holder
//!   ───────────────────────────────          ───────────────────────────────
//!   lock `sleepers`
//!   set SLEEPERS: taken                      state := OCCUPIED; SLEEPERS was set
//!   sleep, which unlocks `sleepers`          lock `sleepers`, unlock it
//!                                            wake one
//! ```
//! The holder cannot wake before the sleeper sleeps, because in between the sleeper holds `sleepers`. A woken thread takes the lock with
//! SLEEPERS set, because there may be more sleepers. At worst, the last of them wakes none.

use crate::sync::atomic::{AtomicUsize, Ordering, fence};
use crate::sync::{Condvar, MODEL, Mutex, announced, give_way, mutant, order, take_without_sleep};

const LOCKED: usize = 1;
const SLEEPERS: usize = 2;

/// The ordering with which the lock is taken: operation W, paired with fence N.
#[inline(always)]
fn taking() -> Ordering {
    mutant!("lock-seq-cst" => return Ordering::AcqRel);
    order!(SeqCst, "lock-acquire")
}

/// The bits that a sleeper sets.
fn asleep() -> usize {
    mutant!("sleepers-bit" => return LOCKED);
    LOCKED | SLEEPERS
}

/// Rounds of spinning: 2^0, 2^1, ... pauses, and a check of the state after each.
const SPINS: u32 = if MODEL { 0 } else { 7 };

/// A lock without data; the [`Shard`](super::shard::Shard) has the data.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Lock {
    state: AtomicUsize,
    sleepers: Mutex<()>,
    free: Condvar,
}

impl Lock {
    pub(crate) fn new() -> Self {
        Self { state: AtomicUsize::new(0), sleepers: Mutex::new(()), free: Condvar::new() }
    }

    /// Whether no word with this `bit` has waiters, asked without the lock by a notifier that stored to a word before.
    #[inline]
    pub(crate) fn is_vacant(&self, bit: usize) -> bool {
        let is_vacant = || {
            let state = self.state.load(Ordering::Relaxed);
            mutant!("locked-bit" => return state & bit == 0);
            state & (LOCKED | bit) == 0
        };
        // A notifier that finds a waiter takes the lock, which orders everything; only one that finds none needs the fence.
        if !is_vacant() {
            return false;
        }
        mutant!("notify-fence" => return is_vacant());
        // Fence N, paired with operation W in `lock`. One of the two comes first: either we see that a waiter took the lock, or that waiter
        // sees our store.
        fence(Ordering::SeqCst);
        is_vacant()
    }

    /// Takes the lock.
    #[inline]
    pub(crate) fn lock(&self) {
        give_way();
        if self.state.fetch_or(LOCKED, taking()) & LOCKED != 0 {
            self.lock_contended();
        }
        if matches!(taking(), Ordering::SeqCst) {
            announced();
        }
    }

    /// Unlocks, and publishes the bits of the words that may have waiters. The caller holds the lock.
    #[inline]
    pub(crate) fn unlock(&self, occupied: usize) {
        // `Release` would do, but loom does not order two read-modify-writes of which neither acquires.
        if self.state.swap(occupied, order!(AcqRel, "unlock-release" => Acquire)) & SLEEPERS != 0 {
            self.wake_sleeper();
        }
    }

    /// Keeps threads from falling asleep, or waking up, until the guard is dropped. The caller holds the lock.
    #[cfg(all(unix, not(waitword_loom)))]
    pub(super) fn hold_sleepers(&self) -> std::sync::MutexGuard<'_, ()> {
        self.sleepers.lock()
    }

    #[cold]
    fn lock_contended(&self) {
        let take = |locked| self.state.fetch_or(locked, taking()) & LOCKED == 0;
        for round in 0..SPINS {
            for _ in 0..1 << round {
                std::hint::spin_loop();
            }
            if self.state.load(Ordering::Relaxed) & LOCKED == 0 && take(LOCKED) {
                return;
            }
        }
        if take_without_sleep(|| take(LOCKED).then_some(())).is_some() {
            return;
        }
        let mut sleepers = self.sleepers.lock();
        while !take(asleep()) {
            sleepers = self.free.wait(sleepers);
        }
    }

    #[cold]
    fn wake_sleeper(&self) {
        mutant!("sleepers-lock" => return self.free.notify_one());
        drop(self.sleepers.lock());
        self.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{scope, yield_now};

    use super::*;

    const THREADS: usize = 8;
    const ROUNDS: usize = 20_000;

    /// Short critical sections, and now and then one so long that a thread falls asleep: one thread is inside at a time, and every thread
    /// enters eventually.
    #[test]
    fn sleepers_are_woken_and_critical_sections_exclude_each_other() {
        let lock = Lock::new();
        let (inside, running) = (AtomicUsize::new(0), AtomicUsize::new(THREADS));
        let (turns, meetings) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let thread = |me: usize| {
            for round in 0..ROUNDS {
                lock.lock();
                meetings.fetch_add(inside.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
                // Not atomic, so two threads inside at once would lose a turn.
                turns.store(turns.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                if round % 64 == me {
                    // The others end, or come here and find it taken.
                    while lock.state.load(Ordering::Relaxed) & SLEEPERS == 0
                        && running.load(Ordering::Relaxed) > 1
                    {
                        yield_now();
                    }
                }
                inside.fetch_sub(1, Ordering::Relaxed);
                lock.unlock((me & 1) << crate::queue::key::FIRST_BIT);
            }
            running.fetch_sub(1, Ordering::Relaxed);
        };
        scope(|scope| {
            for me in 0..THREADS {
                let thread = &thread;
                scope.spawn(move || thread(me));
            }
        });
        let seen = [&turns, &meetings].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(seen, [THREADS * ROUNDS, 0]);
        // No thread sleeps any more.
        assert_eq!(lock.state.load(Ordering::Relaxed) & (LOCKED | SLEEPERS), 0);
    }
}
