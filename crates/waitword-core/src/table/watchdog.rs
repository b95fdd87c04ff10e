//! The watchdog of unresponsive waiters.
//!
//! A task may be called and never be polled. Whoever calls next passes it over; but perhaps nobody does, because whoever
//! builds a lock has one call under way at a time. So the timer's thread sweeps the table every [`STALL_TIMEOUT`] while somebody
//! stands behind one who was called: a waiter that was called before the last sweep and has not looked is `OVERDUE`, and
//! if all at the front of a line are, the next is called in their place.
//!
//! ```text
//!   QUEUED ──call──► SIGNALLED ──sweep──► OVERDUE ──sweep──► SKIPPED     all at the front overdue: it calls the next
//!      ▲               │                  │                 │
//!      └──── looks ────┴──────────────────┴─────────────────┘
//! ```
//! One who looked in vain at something that is kept for it, because it is not enough yet, may *ask* ([`WaitAsync::request_signal`]): while
//! somebody stands behind it each sweep calls it, so that it is noticed, too, when it looks no more.
//!
//! Who tries and does not wait stands nowhere, and yet must not fail for ever. To ask whether the line has been passed over
//! ([`is_queue_stalled`]) has the next sweep look at it, and one who tries again later finds what has come out.
//!
//! This costs a wait nothing, and a call one load. The sweep takes each shard's lock in turn, and walks the queues of those
//! shards in which somebody may be waited for in vain.

use std::time::Duration;

use super::shards::Table;
use crate::waiter::wake::WakeBatch;

/// How long those in line wait for one who was called and does not look: from once to twice this.
pub const STALL_TIMEOUT: Duration = Duration::from_millis(10);

impl Table {
    /// Sweeps the table for waiters that were called ([`signal_one`](crate::signal_one)) and do not look: if all at the front of
    /// a line were called before the last sweep, and no later call of them has been answered since, the next in line is
    /// called. Returns whether anybody stands behind one who was called; if not, no sweep is needed before the next call.
    ///
    /// The table of the process is swept by its timer, every [`STALL_TIMEOUT`](crate::STALL_TIMEOUT). This is for those who make calls
    /// in a table of their own, and for tests that would rather not wait.
    ///
    /// Takes the lock of each shard in turn, O(1), and where somebody may be waited for in vain O(words waited on there), in
    /// short stays.
    ///
    /// # Panics
    /// When a waker does, once all others have been woken.
    pub fn signal_stalled(&self) -> bool {
        let mut batch = WakeBatch::new();
        let watched = self.sweep(&mut batch);
        batch.finish();
        watched
    }

    /// As [`signal_stalled`](Self::signal_stalled); a waker's panic goes on in the batch.
    pub(crate) fn sweep(&self, batch: &mut WakeBatch) -> bool {
        self.shards.iter().fold(false, |any, shard| any | shard.signal_stalled(batch))
    }

    /// Whether the next sweep has to look anywhere.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn is_watched(&self) -> bool {
        self.shards.iter().any(|shard| shard.lock().is_watched())
    }
}

/// Sees to it that sweeps of the table of the process are under way.
#[cfg(not(any(loom, shuttle)))]
#[inline]
pub(super) fn start() {
    sweeper::start();
}

/// A model has no clock, and calls [`Table::signal_stalled`] itself.
#[cfg(any(loom, shuttle))]
pub(super) fn start() {}

#[cfg(not(any(loom, shuttle)))]
mod sweeper {
    use std::pin::Pin;
    use std::sync::{Arc, atomic::AtomicBool, atomic::Ordering};
    use std::task::{Wake, Waker};
    use std::time::Instant;

    use super::{STALL_TIMEOUT, Table};
    use crate::sync::{Mutex, OnceLock};
    use crate::timer::Alarm;
    use crate::waiter::wake::WakeBatch;

    /// Whether the next sweep has been set up, or one is under way. Written when contention comes and goes.
    static SWEEPING: AtomicBool = AtomicBool::new(false);

    #[inline]
    pub(super) fn start() {
        if !SWEEPING.load(Ordering::Relaxed) {
            begin();
        }
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
        static SWEEP: OnceLock<Arc<Sweep>> = OnceLock::new();
        static ALARM: OnceLock<Mutex<Pin<Box<Alarm>>>> = OnceLock::new();
        let waker = Waker::from(Arc::clone(SWEEP.get_or_init(|| Arc::new(Sweep))));
        let alarm = ALARM.get_or_init(|| Mutex::new(Box::pin(Alarm::new())));
        alarm.lock().as_mut().set(Instant::now() + STALL_TIMEOUT, &waker);
    }

    /// What the timer calls.
    struct Sweep;

    impl Wake for Sweep {
        fn wake(self: Arc<Self>) {
            let mut batch = WakeBatch::new();
            let watched = Table::global().sweep(&mut batch);
            // There is no caller to tell; the panic hook has.
            batch.discard_panic();
            if !watched {
                // Who found `true` until now has been under a shard's lock after our look at that shard, or before it.
                SWEEPING.store(false, Ordering::SeqCst);
                if !Table::global().is_watched() || SWEEPING.swap(true, Ordering::SeqCst) {
                    return;
                }
            }
            set_alarm();
        }
    }
}
