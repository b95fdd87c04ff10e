//! Call: wakes the first in line and leaves it there.
//!
//! A notify takes a waiter off the queue, so one who is notified and then finds that somebody else was faster has lost its
//! place. Who builds a lock wants neither that nor to hand the lock over before the waiter has shown up. A call is the
//! offer in between: *come and look*.
//!
//! ```text
//!   waiter (first in line)                  caller
//!   ──────────────────────────────          ──────────────────────────────────
//!   QUEUED, wake set
//!                                           lock the shard: QUEUED → CALLED, take the wake
//!                                           unlock; ring
//!   looks: what it wants is free?
//!     yes: takes it, leaves the queue
//!     no:  lock: CALLED → QUEUED, set       (the next call reaches it again: it is still the first)
//!          a wake; unlock; looks again
//! ```
//! The last look closes the race with a caller that came between the first look and the wake, and passed it over.
//!
//! # Who is called and does not look
//! A task may be called and never be polled. Whoever calls next passes it over; but perhaps nobody does, because whoever
//! builds a lock has one call under way at a time. So the timer's thread sweeps the table every [`PATIENCE`] while somebody
//! stands behind one who was called: a waiter that was called before the last sweep and has not looked is `OVERDUE`, and
//! if all at the front of a line are, the next is called in their place.
//!
//! ```text
//!   QUEUED ──call──► CALLED ──sweep──► OVERDUE ──sweep──► PASSED     all at the front overdue: it calls the next
//!      ▲               │                  │                 │
//!      └──── looks ────┴──────────────────┴─────────────────┘
//! ```
//! One who looked in vain at something that is kept for it, because it is not enough yet, may *ask* ([`WaitAsync::ask_for_call`]): while
//! somebody stands behind it each sweep calls it, so that it is noticed, too, when it looks no more.
//!
//! Who tries and does not wait stands nowhere, and yet must not fail for ever. To ask whether the line has been passed over
//! ([`is_line_passed`]) has the next sweep look at it, and one who tries again later finds what has come out.
//!
//! This costs a wait nothing, and a call one load. The sweep takes each shard's lock in turn, and walks the queues of those
//! shards in which somebody may be waited for in vain.

use std::time::Duration;

use crate::table::{Key, Table};
#[cfg(doc)]
use crate::wait_async::WaitAsync;
use crate::wake::Wake;
use crate::word::{Location, key};

/// How long those in line wait for one who was called and does not look: from once to twice this.
pub const PATIENCE: Duration = Duration::from_millis(10);

/// Wakes the first in line that has not been called since it last looked, and leaves it in line. Returns how many are in
/// line, or 0 if there is nobody to call.
///
/// Nothing is counted, and no wait ends by it. It is for those who build locks: a call is an offer, which the waiter takes
/// up, without having lost its place if somebody else was faster. A future looks when it is polled, a blocked thread when it
/// wakes up and goes on waiting. Agents' waits cannot be called, and are passed over.
///
/// If one who was called does not look within [`PATIENCE`] or twice that, the next in line is called too; in the table of
/// the process. In others whoever made them sees to that ([`Table::call_overdue`]).
///
/// Costs a fence and two loads when nobody waits on the word; otherwise takes the shard's lock, and as much again for each
/// waiter at the front that was called before and has not looked.
///
/// # Panics
/// When the waker does; and if the system cannot start the thread that keeps the time, at the first call of the process
/// that leaves somebody behind the one it called.
///
/// ```
/// use std::future::Future;
/// use std::pin::pin;
/// use std::sync::atomic::AtomicI32;
/// use std::task::{Context, Waker};
/// use waitword_core::{call_one, notify_one, wait_async};
///
/// let word = AtomicI32::new(0);
/// assert_eq!(call_one(&word), 0, "nobody is there");
/// let mut waiting = pin!(wait_async(&word, 0));
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(waiting.as_mut().poll(&mut cx).is_pending());
/// assert_eq!(call_one(&word), 1);
/// assert_eq!(call_one(&word), 0, "called, and has not looked yet");
/// assert!(waiting.is_called());
/// assert!(waiting.as_mut().poll(&mut cx).is_pending());
/// assert_eq!(call_one(&word), 1);
/// assert_eq!(notify_one(&word), 1, "still in line");
/// ```
#[inline]
pub fn call_one<L: Location>(at: L) -> usize {
    let (table, address) = (at.table(), key(&at));
    let key = table.key_of(address);
    if table.shard(key).is_idle(key.hash) { 0 } else { call_first(table, key) }
}

#[inline(never)]
fn call_first(table: &Table, key: Key) -> usize {
    let mut locked = table.lock(key);
    let called = locked.call_first(key);
    let after = locked.unlock();
    // If ringing panics, so does the call, and there is nobody else to tell.
    let len = called.map_or(0, |(wake, len)| {
        Wake::ring(wake);
        len
    });
    after.settle();
    len
}

/// Whether all who are in line were called and have not looked for so long that one who stood behind them would have been
/// called ([`PATIENCE`]), if anybody is in line at all.
///
/// For those who build locks, and for the attempt that does not wait: it may have what is kept for those in line if this is
/// so. To ask counts as standing behind them for a moment, so that the next sweep looks at them: one who asks again and again
/// gets there.
///
/// Takes the shard's lock, and looks at those at the front who have been passed over and at one more.
///
/// # Panics
/// As [`call_one`], if the thread that keeps the time cannot be started.
pub fn is_line_passed<L: Location>(at: L) -> bool {
    let (table, address) = (at.table(), key(&at));
    let key = table.key_of(address);
    let mut locked = table.lock(key);
    let is_passed = locked.is_passed(key);
    locked.unlock().settle();
    is_passed
}

/// No table is swept in this process from now on, and nothing makes up for a signal that a lock has lost. For tests, which call
/// it before anybody waits.
#[cfg(not(any(waitword_loom, waitword_shuttle)))]
#[doc(hidden)]
pub fn never_sweep() {
    sweeper::never();
}

/// Sees to it that sweeps of the table of the process are under way.
#[cfg(not(any(waitword_loom, waitword_shuttle)))]
#[inline]
pub(crate) fn watch() {
    sweeper::watch();
}

/// A model has no clock, and calls [`Table::call_overdue`] itself.
#[cfg(any(waitword_loom, waitword_shuttle))]
pub(crate) fn watch() {}

#[cfg(not(any(waitword_loom, waitword_shuttle)))]
mod sweeper {
    use std::pin::Pin;
    use std::sync::{Arc, atomic::AtomicBool, atomic::Ordering};
    use std::task::{Wake, Waker};
    use std::time::Instant;

    use crate::call::PATIENCE;
    use crate::callers::call_by_timer;
    use crate::sync::{Mutex, OnceLock};
    use crate::table::{Sweep, Table};
    use crate::timer::Alarm;
    use crate::wake::WakeBatch;

    /// Whether the next sweep has been set up, or one is under way. Written when contention comes and goes.
    static SWEEPING: AtomicBool = AtomicBool::new(false);

    #[inline]
    pub(super) fn watch() {
        if !SWEEPING.load(Ordering::Relaxed) {
            begin();
        }
    }

    /// Who finds that a sweep is set up sets up none.
    pub(super) fn never() {
        SWEEPING.store(true, Ordering::SeqCst);
    }

    #[cold]
    fn begin() {
        /// If the system cannot start the thread, perhaps it can next time.
        struct Unwinding;
        impl Drop for Unwinding {
            fn drop(&mut self) {
                SWEEPING.store(false, Ordering::SeqCst);
            }
        }
        if !SWEEPING.swap(true, Ordering::SeqCst) {
            let unwinding = Unwinding;
            set_alarm();
            std::mem::forget(unwinding);
        }
    }

    fn set_alarm() {
        // Both made once: whoever begins to sweep is in a call, which allocates nothing.
        static SWEEPER: OnceLock<Arc<Sweeper>> = OnceLock::new();
        static ALARM: OnceLock<Mutex<Pin<Box<Alarm>>>> = OnceLock::new();
        let sweeper = SWEEPER.get_or_init(|| Arc::new(Sweeper(Mutex::new(Sweep::default()))));
        let waker = Waker::from(Arc::clone(sweeper));
        let alarm = ALARM.get_or_init(|| Mutex::new(Box::pin(Alarm::new())));
        alarm.lock().as_mut().set(Instant::now() + PATIENCE, &waker);
    }

    /// What the timer calls.
    ///
    /// It is called once more for each stay under a shard's lock that found somebody to wake, behind those wakes: they are
    /// foreign code, and if one of them blocks, another thread of the timer goes on with the sweep.
    struct Sweeper(Mutex<Sweep>);

    impl Wake for Sweeper {
        fn wake(self: Arc<Self>) {
            let (table, mut batch) = (Table::global(), WakeBatch::new());
            // Nobody else wants it: the next sweep is set up when this one is over.
            let mut sweep = self.0.lock();
            let goes_on = loop {
                let goes_on = table.sweep(&mut sweep, &mut batch);
                if !goes_on || !batch.is_empty() {
                    break goes_on;
                }
            };
            if goes_on {
                drop(sweep);
                return call_by_timer(&mut batch, Some(Waker::from(self)));
            }
            let watched = std::mem::take(&mut *sweep).watched;
            drop(sweep);
            call_by_timer(&mut batch, None);
            if !watched {
                // Who found `true` until now has been under a shard's lock after our look at that shard, or before it.
                SWEEPING.store(false, Ordering::SeqCst);
                if !table.is_watched() || SWEEPING.swap(true, Ordering::SeqCst) {
                    return;
                }
            }
            set_alarm();
        }
    }
}
