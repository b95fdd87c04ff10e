//! The watchdog of unresponsive waiters.
//!
//! A task may be signalled and never be polled. The next signal skips it; but there may be none, because a lock has one
//! signal under way at a time. So while a waiter is queued behind a signalled one, the timer makes a pass over the table
//! every [`STALL_TIMEOUT`]. A waiter that was signalled before the last pass and has not responded is `OVERDUE`; if all
//! waiters at the front of a queue are, the pass signals the next one in their place, and they are `SKIPPED`.
//!
//! ```text
//!   QUEUED ──signal──► SIGNALLED ──pass──► OVERDUE ──pass──► SKIPPED      all at the front overdue: signal the next
//!      ▲                   │                  │                 │
//!      └── acknowledged ───┴──────────────────┴─────────────────┘
//! ```
//! A waiter that finds something reserved for it, but not enough yet, may request a signal
//! ([`WaitAsync::request_signal`](crate::WaitAsync::request_signal)): while others are queued behind it each pass signals it,
//! so that it is noticed, too, when it stops responding.
//!
//! An attempt that does not wait is in no queue, and must not fail for ever beside one that is stalled:
//! [`is_queue_stalled`](crate::is_queue_stalled) has the next pass look at that queue.
//!
//! All this costs a wait nothing, and a signal one load. A pass takes the lock of each shard in turn, and walks the queues of
//! the shards in which a waiter may be stalled.

use std::time::Duration;

use super::shards::Table;
use crate::waiter::wake::WakeBatch;

/// The stall timeout: how long waiters are kept waiting by a signalled one that does not respond. From once to twice this.
pub const STALL_TIMEOUT: Duration = Duration::from_millis(10);

impl Table {
    /// One pass of the watchdog over this table: where all waiters at the front of a queue were signalled
    /// ([`signal_one`](crate::signal_one)) before the last pass and have not responded since, signals the next one. Returns
    /// whether a waiter is queued behind a signalled one; if not, no pass is needed before the next signal.
    ///
    /// The timer does this for the table of the process, every [`STALL_TIMEOUT`]. Call it for a table of your own in which you
    /// signal, and in tests that would rather not wait.
    ///
    /// Takes the lock of each shard in turn, O(1), and O(words waited on) in shards where a waiter may be stalled, in
    /// short stays.
    ///
    /// # Panics
    /// When a waker does, once all others have been woken.
    pub fn signal_stalled(&self) -> bool {
        let mut batch = WakeBatch::new();
        let watched = self.pass(&mut batch);
        batch.finish();
        watched
    }

    /// As [`signal_stalled`](Self::signal_stalled); a waker's panic goes on in the batch.
    pub(crate) fn pass(&self, batch: &mut WakeBatch) -> bool {
        self.shards.iter().fold(false, |any, shard| any | shard.signal_stalled(batch))
    }

    /// Whether the next pass has to look anywhere.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn is_watched(&self) -> bool {
        self.shards.iter().any(|shard| shard.lock().is_watched())
    }
}

/// Has the table of the process passed over until no waiter is queued behind a signalled one.
#[cfg(not(any(loom, shuttle)))]
#[inline]
pub(super) fn start() {
    process::start();
}

/// A model has no clock, and calls [`Table::signal_stalled`] itself.
#[cfg(any(loom, shuttle))]
pub(super) fn start() {}

#[cfg(not(any(loom, shuttle)))]
mod process {
    use std::pin::Pin;
    use std::sync::{Arc, atomic::AtomicBool, atomic::Ordering};
    use std::task::{Wake, Waker};
    use std::time::Instant;

    use super::{STALL_TIMEOUT, Table};
    use crate::sync::{Mutex, OnceLock};
    use crate::timer::Alarm;
    use crate::waiter::wake::WakeBatch;

    /// Whether the next pass has been set up, or one is under way. Written when contention comes and goes.
    static RUNNING: AtomicBool = AtomicBool::new(false);

    #[inline]
    pub(super) fn start() {
        if !RUNNING.load(Ordering::Relaxed) {
            begin();
        }
    }

    #[cold]
    fn begin() {
        /// If the system cannot start the thread, perhaps it can next time.
        struct Unwinding;
        impl Drop for Unwinding {
            fn drop(&mut self) {
                RUNNING.store(false, Ordering::SeqCst);
            }
        }
        if !RUNNING.swap(true, Ordering::SeqCst) {
            let unwinding = Unwinding;
            set_alarm();
            std::mem::forget(unwinding);
        }
    }

    fn set_alarm() {
        // Both made once: a pass begins in a signal, which allocates nothing.
        static PASS: OnceLock<Arc<Pass>> = OnceLock::new();
        static ALARM: OnceLock<Mutex<Pin<Box<Alarm>>>> = OnceLock::new();
        let waker = Waker::from(Arc::clone(PASS.get_or_init(|| Arc::new(Pass))));
        let alarm = ALARM.get_or_init(|| Mutex::new(Box::pin(Alarm::new())));
        alarm.lock().as_mut().set(Instant::now() + STALL_TIMEOUT, &waker);
    }

    /// What the timer calls.
    struct Pass;

    impl Wake for Pass {
        fn wake(self: Arc<Self>) {
            let mut batch = WakeBatch::new();
            let watched = Table::global().pass(&mut batch);
            // There is no caller to tell; the panic hook has.
            batch.discard_panic();
            if !watched {
                // Whoever found `true` until now held a shard's lock after our pass over that shard, or before it.
                RUNNING.store(false, Ordering::SeqCst);
                if !Table::global().is_watched() || RUNNING.swap(true, Ordering::SeqCst) {
                    return;
                }
            }
            set_alarm();
        }
    }
}
