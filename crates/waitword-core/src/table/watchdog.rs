//! The watchdog of unresponsive waiters.
//!
//! A task may be signalled and never be polled. The next signal skips it; but there may be none, because a lock has one signal in flight at
//! a time. So while a waiter is queued behind a signalled one, the timer makes a pass over the table every [`STALL_TIMEOUT`]. A waiter that
//! was signalled before the last pass and has not responded is `OVERDUE`; if all waiters at the front of a queue are, the pass signals the
//! next one in their place, and they are `SKIPPED`.
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
//! [`is_queue_stalled`](crate::is_queue_stalled) has the next pass check that queue.
//!
//! All this costs a wait nothing, and a signal one load. A pass takes the lock of each shard in turn, and walks the queues of
//! the shards in which a waiter may be stalled.

use std::time::Duration;

use super::Table;
use crate::waiter::wake::WakeBatch;

/// The stall timeout: a signalled waiter that does not respond delays others for once to twice this.
pub const STALL_TIMEOUT: Duration = Duration::from_millis(10);

impl Table {
    /// One pass of the watchdog over this table: where all waiters at the front of a queue were signalled
    /// ([`signal_one`](crate::signal_one)) before the last pass and have not responded since, signals the next one. Returns
    /// whether a waiter is queued behind a signalled one; if not, no pass is needed before the next signal.
    ///
    /// The timer does this for the table of the process, every [`STALL_TIMEOUT`]. Call it for a table of your own in which you
    /// signal, and in tests that would rather not wait.
    ///
    /// Takes the lock of each shard in turn, in short critical sections: O(1), and O(words waited on) in shards where a waiter may be
    /// stalled.
    pub fn signal_stalled(&self) -> bool {
        let (mut pass, mut batch) = (Pass::default(), WakeBatch::new());
        while self.pass(&mut pass, &mut batch) {
            batch.wake_all();
        }
        batch.wake_all();
        pass.watched
    }

    /// One critical section of a pass. Returns whether the pass goes on, once the caller has woken the batch.
    fn pass(&self, pass: &mut Pass, batch: &mut WakeBatch) -> bool {
        let mut locked = self.shards[pass.shard].lock();
        pass.bucket = locked.pass(pass.bucket, batch).unwrap_or_else(|| {
            pass.watched |= locked.is_watched();
            pass.shard += 1;
            0
        });
        pass.shard < self.shards.len()
    }

    /// Whether the next pass has to check any queue.
    #[cfg(any(test, not(waitword_loom)))]
    pub(super) fn is_watched(&self) -> bool {
        self.shards.iter().any(|shard| shard.lock().is_watched())
    }
}

/// How far a pass has come.
#[derive(Debug, Default)]
struct Pass {
    shard: usize,
    bucket: usize,
    /// Whether a waiter is queued behind a signalled one in the shards checked so far.
    watched: bool,
}

/// Stops the watchdog of this process from making passes, so that it cannot hide a signal that a lock has lost. For tests, which call this
/// before there is a waiter.
#[cfg(not(waitword_loom))]
#[doc(hidden)]
pub fn disable_watchdog() {
    process::never();
}

/// Whether the next pass has been set up, or one is under way. For tests of what starts the watchdog of the process.
#[cfg(not(waitword_loom))]
#[doc(hidden)]
pub fn is_watchdog_running() -> bool {
    process::is_running()
}

#[cfg(not(waitword_loom))]
pub(super) use process::{is_wanted, start};

/// A model has no clock, and calls [`Table::signal_stalled`] itself.
#[cfg(waitword_loom)]
pub(super) fn start() {}

#[cfg(waitword_loom)]
pub(super) const fn is_wanted() -> bool {
    false
}

#[cfg(not(waitword_loom))]
mod process {
    use crate::time::Instant;
    use std::pin::Pin;
    use std::sync::{Arc, atomic::AtomicU8, atomic::Ordering};
    use std::task::{Wake, Waker};

    use super::{Pass, STALL_TIMEOUT, Table};
    use crate::sync::fork::at_fork;
    use crate::sync::{Mutex, OnceLock, mutant};
    use crate::timer::{Alarm, wake_by_timer};
    use crate::waiter::wake::WakeBatch;

    /// Written when contention comes and goes.
    static STATE: AtomicU8 = AtomicU8::new(IDLE);

    /// No pass is set up.
    const IDLE: u8 = 0;
    /// No pass is set up, but one is due: the timer had no thread for it, or this is a forked child. Every critical section of a shard
    /// tries again at its end.
    const WANTED: u8 = 1;
    /// The next pass has been set up, or one is under way.
    const RUNNING: u8 = 2;

    /// Whether a pass is due that could not be set up.
    #[inline]
    pub(in crate::table) fn is_wanted() -> bool {
        STATE.load(Ordering::Relaxed) == WANTED
    }

    /// Starts passes over the table of the process, until no waiter is queued behind a signalled one. Does not unwind: it is part of
    /// releases.
    #[inline]
    pub(in crate::table) fn start() {
        if STATE.load(Ordering::Relaxed) != RUNNING {
            begin();
        }
    }

    /// As if a pass were set up already, so that no signal sets one up.
    pub(super) fn never() {
        STATE.store(RUNNING, Ordering::SeqCst);
    }

    pub(super) fn is_running() -> bool {
        STATE.load(Ordering::SeqCst) == RUNNING
    }

    #[cold]
    fn begin() {
        if STATE.swap(RUNNING, Ordering::SeqCst) != RUNNING {
            set_alarm();
        }
    }

    // Both made once: a pass begins in a signal, which allocates nothing.
    static WATCHDOG: OnceLock<Arc<Watchdog>> = OnceLock::new();
    static ALARM: OnceLock<Mutex<Pin<Box<Alarm>>>> = OnceLock::new();

    fn set_alarm() {
        let watchdog = WATCHDOG.get_or_init(|| Arc::new(Watchdog(Mutex::new(Pass::default()))));
        let waker = Waker::from(Arc::clone(watchdog));
        let alarm = ALARM.get_or_init(|| Mutex::new(Box::pin(Alarm::new())));
        let now = Instant::now();
        if !alarm.lock().as_mut().try_set_at(now, now + STALL_TIMEOUT, &waker) {
            return STATE.store(WANTED, Ordering::SeqCst);
        }
        // Registered after the timer's handlers, so prepared before them: these locks are taken before the timer's.
        static FORKS: OnceLock<()> = OnceLock::new();
        FORKS.get_or_init(|| at_fork(fork::prepare, fork::parent, fork::child));
    }

    /// A forking thread holds the locks of the watchdog, so that no pass is in a shard; in the child a pass is wanted.
    mod fork {
        use std::cell::Cell;
        use std::sync::MutexGuard;

        use super::{ALARM, Alarm, Mutex, Ordering, Pass, Pin, RUNNING, STATE, WANTED, WATCHDOG};

        thread_local! {
            static HELD: Cell<Option<Held>> = const { Cell::new(None) };
        }

        type Held = (Option<MutexGuard<'static, Pass>>, Option<MutexGuard<'static, Pin<Box<Alarm>>>>);

        pub(super) extern "C" fn prepare() {
            let held = (WATCHDOG.get().map(|watchdog| watchdog.0.lock()), ALARM.get().map(Mutex::lock));
            let _ = HELD.try_with(|cell| cell.set(Some(held)));
        }

        pub(super) extern "C" fn parent() {
            let _ = HELD.try_with(Cell::take);
        }

        pub(super) extern "C" fn child() {
            parent();
            let _ = STATE.compare_exchange(RUNNING, WANTED, Ordering::SeqCst, Ordering::SeqCst);
        }
    }

    /// What the timer wakes.
    ///
    /// After each critical section that found waiters to signal, it is queued behind their wakes and woken again: wakers are foreign code,
    /// and if one of them blocks, another thread of the timer goes on with the pass.
    struct Watchdog(Mutex<Pass>);

    impl Wake for Watchdog {
        fn wake(self: Arc<Self>) {
            let (table, mut batch) = (Table::global(), WakeBatch::new());
            // Contended only by a thread that forks, as a rule: the next pass is set up when this one is over.
            let mut pass = self.0.lock();
            let goes_on = loop {
                let goes_on = table.pass(&mut pass, &mut batch);
                if !goes_on || !batch.is_empty() {
                    break goes_on;
                }
            };
            if goes_on {
                drop(pass);
                mutant!("watchdog-go-on" => return wake_by_timer(&mut batch, None));
                return wake_by_timer(&mut batch, Some(Waker::from(self)));
            }
            let watched = std::mem::take(&mut *pass).watched;
            drop(pass);
            wake_by_timer(&mut batch, None);
            if !watched {
                // A thread that forks waits for this as for a pass: it locks the shards, too.
                let _pass = self.0.lock();
                // A thread that saw `RUNNING` until now may have marked its shard after our pass over it: so check all shards again after
                // `IDLE`.
                mutant!("watchdog-idle" => return);
                STATE.store(IDLE, Ordering::SeqCst);
                mutant!("watchdog-recheck" => return);
                if !table.is_watched() || STATE.swap(RUNNING, Ordering::SeqCst) == RUNNING {
                    return;
                }
            }
            mutant!("watchdog-again" => return);
            set_alarm();
        }
    }
}
