//! The lock of a shard. The same word tells a notify, without the lock, which words may have waiters.
//!
//! ```text
//!   bit 0      LOCKED      a thread is in the critical section
//!   bit 1      SLEEPERS    a thread sleeps until it is free
//!   the rest   OCCUPANCY   which words may have waiters, when it is free ([`Occupancy`])
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
//!   set SLEEPERS: taken                      state := occupancy; SLEEPERS was set
//!   sleep, which unlocks `sleepers`          lock `sleepers`, unlock it
//!                                            wake one
//! ```
//! The holder cannot wake before the sleeper sleeps, because in between the sleeper holds `sleepers`. A woken thread takes the
//! lock with SLEEPERS set, for there may be more; at worst the last of them wakes none.

use crate::sync::atomic::{AtomicUsize, Ordering, fence};
use crate::sync::{Condvar, MODEL, Mutex, announced, give_way, mutant, order, take_without_sleep};

const LOCKED: usize = 1;
const SLEEPERS: usize = 2;

/// The lowest bit that is left for the occupancy.
const FIRST_OCCUPANCY_BIT: u32 = 2;

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

/// A lock without data; [`Locked`](super::Locked) has the data, and unlocks.
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

    /// Takes the lock. Returns the occupancy.
    #[inline]
    pub(crate) fn lock(&self) -> usize {
        give_way();
        let mut before = self.state.fetch_or(LOCKED, taking());
        if before & LOCKED != 0 {
            before = self.lock_contended();
        }
        if matches!(taking(), Ordering::SeqCst) {
            announced();
        }
        before & !(LOCKED | SLEEPERS)
    }

    /// Unlocks, and publishes `occupancy`. The caller holds the lock.
    #[inline]
    pub(crate) fn unlock(&self, occupancy: usize) {
        // `Release` would do, but loom does not order two read-modify-writes of which neither acquires.
        if self.state.swap(occupancy, order!(AcqRel, "unlock-release" => Acquire)) & SLEEPERS != 0 {
            self.wake_sleeper();
        }
    }

    /// What [`lock`](Self::lock) returned to the caller, who holds the lock.
    #[cfg(all(unix, not(waitword_loom)))]
    pub(super) fn occupancy(&self) -> usize {
        self.state.load(Ordering::Relaxed) & !(LOCKED | SLEEPERS)
    }

    /// Replaces it. The caller holds the lock, and there is no other thread.
    #[cfg(all(unix, not(waitword_loom)))]
    pub(super) fn set_occupancy(&self, occupancy: usize) {
        self.state.store(LOCKED | occupancy, Ordering::Relaxed);
    }

    /// Keeps threads from falling asleep, or waking up, until the guard is dropped. The caller holds the lock.
    #[cfg(all(unix, not(waitword_loom)))]
    pub(super) fn hold_sleepers(&self) -> std::sync::MutexGuard<'_, ()> {
        self.sleepers.lock()
    }

    /// Returns the state that the lock had when it was taken.
    #[cold]
    fn lock_contended(&self) -> usize {
        for round in 0..SPINS {
            for _ in 0..1 << round {
                std::hint::spin_loop();
            }
            if self.state.load(Ordering::Relaxed) & LOCKED == 0 {
                let before = self.state.fetch_or(LOCKED, taking());
                if before & LOCKED == 0 {
                    return before;
                }
            }
        }
        let try_lock = || {
            let before = self.state.fetch_or(LOCKED, taking());
            (before & LOCKED == 0).then_some(before)
        };
        if let Some(before) = take_without_sleep(try_lock) {
            return before;
        }
        let mut sleepers = self.sleepers.lock();
        loop {
            let before = self.state.fetch_or(asleep(), taking());
            if before & LOCKED == 0 {
                return before;
            }
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

/// The number of bits, including the two of the lock. A model has one bit for all words: hashes change from run to run, and the model's
/// steps must not.
const BITS: usize = if MODEL { 1 } else { usize::BITS as usize };

/// The bit of a word with this hash, in the state of its shard's lock.
#[inline]
pub(crate) fn bit(hash: u64) -> usize {
    1 << index(hash)
}

/// Which words of a shard may have waiters: the number of queues for each bit. The bits themselves are in the state of the lock, or with
/// its holder.
///
/// A word's bit is set while it or another word with the same bit has a queue. A notify that finds the bit clear is done; it has to take
/// the lock for other words only if they share the bit.
///
/// A saturated count stays at the maximum, and its bit stays set, until there are no queues at all.
#[derive(Debug)]
pub(crate) struct Occupancy {
    queues: [u16; usize::BITS as usize],
}

impl Occupancy {
    pub(crate) fn new() -> Self {
        Self { queues: [0; usize::BITS as usize] }
    }

    /// A word with this hash has a queue now. Returns the new bits.
    #[inline]
    pub(crate) fn enter(&mut self, hash: u64, bits: usize) -> usize {
        let queues = &mut self.queues[index(hash)];
        *queues = queues.saturating_add(1);
        bits | bit(hash)
    }

    /// A word with this hash has no queue any more. Returns the new bits.
    #[inline]
    pub(crate) fn leave(&mut self, hash: u64, bits: usize) -> usize {
        let queues = &mut self.queues[index(hash)];
        if *queues == u16::MAX {
            return bits;
        }
        *queues -= 1;
        bits & !(usize::from(*queues == 0) << index(hash))
    }

    /// No word has a queue any more.
    #[cold]
    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }
}

/// From the low bits of the hash, which tell the words of one cache line apart.
#[inline]
fn index(hash: u64) -> usize {
    (hash as usize % BITS).max(FIRST_OCCUPANCY_BIT as usize)
}

#[cfg(test)]
mod tests {
    use std::thread::{scope, yield_now};

    use super::*;

    const THREADS: usize = 8;
    const ROUNDS: usize = 20_000;

    /// Short critical sections, and now and then one so long that a thread falls asleep: one thread is in at a time, and
    /// every thread comes in at last.
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
                lock.unlock((me & 1) << FIRST_OCCUPANCY_BIT);
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
        // No thread sleeps any more, and the last unlock has published the occupancy.
        assert_eq!(lock.state.load(Ordering::Relaxed) & (LOCKED | SLEEPERS), 0);
    }

    /// Queues that share a bit: their number rises beyond the maximum of a count, and falls again.
    #[test]
    fn a_bit_is_set_while_anyone_of_it_is_there() {
        for crowd in [1_u64, 2, 65_534, 65_535, 65_536, 70_000] {
            let mut occupancy = Occupancy::new();
            let mut bits = occupancy.enter(5, 0);
            for _ in 0..crowd {
                bits = occupancy.enter(9, bits);
            }
            for _ in 0..crowd {
                assert_eq!(bits, bit(5) | bit(9));
                bits = occupancy.leave(9, bits);
            }
            let left_over = if crowd < 65_535 { 0 } else { bit(9) };
            assert_eq!(bits, bit(5) | left_over, "{crowd}");
        }
    }

    /// No word may have a bit of the lock's.
    #[test]
    fn all_bits_but_the_lock_s_are_used() {
        let all = (0..1000).fold(0, |all, hash| all | bit(hash));
        assert_eq!(all, usize::MAX << FIRST_OCCUPANCY_BIT);
    }
}
