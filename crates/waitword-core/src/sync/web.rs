//! The standard library behind the facade, for `wasm32-unknown-unknown`: an agent that must not block never does.
//!
//! The engine lets workers block, but not the page: `Atomics.wait` throws there, and so does every lock of the standard library that is
//! taken. The locks of this crate are held only briefly, and no foreign code runs under them. So an agent that must not block (below: the
//! page) spins until they are free. Two things could make that long, and both are bounded here.
//!
//! **Workers that take the lock again and again** could keep the page out for ever. So the page counts itself in [`WAITING`], and a
//! worker that is about to take a lock gives way to it:
//! ```text
//!   page                                     worker
//!   ───────────────────────────────          ───────────────────────────────
//!   finds the lock taken
//!   WAITING += 1
//!   rechecks, ...                            unlocks; wants the lock again
//!                                            WAITING > 0: sleeps, up to 20 times 50 µs
//!   takes it; WAITING -= 1
//!                                            takes it
//! ```
//! So in a millisecond the page waits for one critical section of each worker at most: the one that it had begun.
//!
//! **A worker that is preempted** in its critical section keeps the page spinning until it runs again; workers that give way sleep, and
//! leave it their CPU. A worker that was terminated there never unlocks: after [`LONGEST_SPIN`] the page panics.

pub use super::host::Instant;
pub(crate) use super::host::{RandomState, Timekeeper, can_block};

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use super::host::host;

/// How many agents that must not block spin.
static WAITING: AtomicU32 = AtomicU32::new(0);

/// How often agents that must not block found a lock taken, and the nanoseconds that they spun: in all, and at most.
static SPINS: AtomicU32 = AtomicU32::new(0);
static SPUN: AtomicU64 = AtomicU64::new(0);
static LONGEST: AtomicU64 = AtomicU64::new(0);

/// The longest time for which an agent that must not block spins for a lock. After that, the holder is taken to be gone.
pub(crate) const LONGEST_SPIN: Duration = Duration::from_secs(5);

/// How many checks of the lock there are between two reads of the clock.
const LOOKS: u32 = 256;

/// How long a worker that gives way sleeps before it checks again, and how often it does.
const NAP: Duration = Duration::from_micros(50);
const NAPS: u32 = 20;

/// How often agents that must not block found a lock of this crate taken and spun, for how long in all, and for how long at most.
pub fn spins() -> (u32, Duration, Duration) {
    let nanos = |count: &AtomicU64| Duration::from_nanos(count.load(Ordering::Relaxed));
    (SPINS.load(Ordering::Relaxed), nanos(&SPUN), nanos(&LONGEST))
}

/// Called before a lock is taken: yields to an agent that spins.
#[inline]
pub(crate) fn give_way() {
    if WAITING.load(Ordering::Relaxed) != 0 && can_block() {
        nap();
    }
}

#[cold]
fn nap() {
    for _ in 0..NAPS {
        // The page has the lock within microseconds, unless its holder has no CPU.
        std::thread::sleep(NAP);
        if WAITING.load(Ordering::Relaxed) == 0 {
            return;
        }
    }
}

/// Takes a lock on an agent that must not sleep for it. `None`: the agent may sleep.
#[cold]
pub(crate) fn take_without_sleep<T>(mut take: impl FnMut() -> Option<T>) -> Option<T> {
    if can_block() {
        return None;
    }
    struct Waiting;
    impl Drop for Waiting {
        fn drop(&mut self) {
            WAITING.fetch_sub(1, Ordering::SeqCst);
        }
    }
    WAITING.fetch_add(1, Ordering::SeqCst);
    let waiting = Waiting;
    let clock = host().map(|host| host.now);
    let start = clock.map(|now| now());
    for look in 1_u32.. {
        if let Some(taken) = take() {
            drop(waiting);
            SPINS.fetch_add(1, Ordering::Relaxed);
            if let (Some(now), Some(start)) = (clock, start) {
                let spun = now().saturating_sub(start).as_nanos() as u64;
                SPUN.fetch_add(spun, Ordering::Relaxed);
                LONGEST.fetch_max(spun, Ordering::Relaxed);
            }
            return Some(taken);
        }
        if look % LOOKS == 0
            && let (Some(now), Some(start)) = (clock, start)
        {
            assert!(
                now().saturating_sub(start) < LONGEST_SPIN,
                "a lock inside waitword has been held for {LONGEST_SPIN:?}: was the worker that held it terminated?"
            );
        }
        std::hint::spin_loop();
    }
    unreachable!("more checks than fit into the longest spin")
}

/// Locks it, poisoned or not.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    give_way();
    let try_lock = || match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    };
    try_lock()
        .or_else(|| take_without_sleep(try_lock))
        .unwrap_or_else(|| mutex.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Parks until unparked; may return before it.
pub(crate) fn park() {
    assert_can_block();
    std::thread::park();
}

/// Parks until `deadline` at the latest; may return before it.
pub(crate) fn park_until(deadline: Instant) {
    assert_can_block();
    std::thread::park_timeout(deadline.saturating_duration_since(Instant::now()));
}

fn assert_can_block() {
    assert!(
        can_block(),
        "would block, and this agent must not block: use an `_async` method; in a worker, call `waitword_web::start()` first"
    );
}
