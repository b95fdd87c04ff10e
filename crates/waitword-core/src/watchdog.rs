//! The watchdog of unresponsive waiters.
//!
//! A task may be signalled and never be polled. The next signal would skip it, but there may be none, because a lock has one signal in
//! flight at a time. So while a waiter is queued behind a signalled one, the timer makes a pass over the table every [`STALL_TIMEOUT`]. A
//! waiter that was signalled before the last pass and has not responded is `OVERDUE`; if all waiters at the front of a queue are, the pass
//! signals the next one in their place, and they are `SKIPPED`.
//!
//! ```text
//!   QUEUED ──signal──► SIGNALLED ──pass──► OVERDUE ──pass──► SKIPPED      all at the front overdue: signal the next
//!      ▲                   │                  │                 │
//!      └── acknowledged ───┴──────────────────┴─────────────────┘
//! ```
//! A waiter for which permits are reserved, but not enough yet, may request a signal
//! ([`WaitAsync::request_signal`](crate::WaitAsync::request_signal)). While others are queued behind it, each pass signals it, so that the
//! watchdog notices when it stops responding.
//!
//! An attempt that does not wait (`try_lock`) is in no queue, and must not fail for ever because the queue is stalled. So
//! [`is_queue_stalled`](crate::is_queue_stalled) makes the next pass check that queue.
//!
//! All this costs a wait nothing, and a signal one load. A pass takes the lock of each shard in turn, and walks the queues of
//! the shards in which a waiter may be stalled.
//!
//! A shard is *watched* if a pass may find something to do there. The mark is conservative: enqueuing behind a signalled waiter sets it,
//! and only a pass that has found no such waiter clears it.

use std::time::Duration;

use std::ptr::NonNull;

use crate::queue::key::Key;
use crate::queue::node::{OVERDUE, PASSED, REQUESTED, SIGNALLED, SKIPPED, Waiter, next, with};
use crate::queue::section::{Section, find_in, signal};
use crate::queue::table::Table;
use crate::sync::mutant;
use crate::wake::WakeBatch;

/// How many buckets a pass checks in one critical section.
const BUCKETS_AT_A_TIME: usize = 16;

/// The stall timeout, 10 ms: a signalled waiter that does not respond delays the waiters behind it by one to two
/// times this.
pub const STALL_TIMEOUT: Duration = Duration::from_millis(10);

impl Table {
    /// Checks this table once for signalled waiters that do not respond: one pass of the watchdog.
    ///
    /// If all waiters at the front of a queue were signalled ([`signal_one`](crate::signal_one)) before the last pass and have not
    /// responded since, signals the next one. Returns whether a waiter is queued behind a signalled one; if not, no pass is needed before
    /// the next signal.
    ///
    /// The timer does this for the table of the process, every [`STALL_TIMEOUT`]. Call it for a table of your own in which you signal, and
    /// in tests that should not depend on the timer.
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

    /// One critical section of a pass. Returns whether the pass continues, once the caller has woken the batch.
    fn pass(&self, pass: &mut Pass, batch: &mut WakeBatch) -> bool {
        let shards = self.shards();
        let mut section = Section::begin(&shards[pass.shard], Key::NONE);
        pass.bucket = section.pass(pass.bucket, batch).unwrap_or_else(|| {
            pass.watched |= section.is_watched();
            pass.shard += 1;
            0
        });
        pass.shard < shards.len()
    }

    /// Whether the next pass has to check any queue.
    #[cfg(any(test, not(waitword_loom)))]
    pub(super) fn is_watched(&self) -> bool {
        self.shards().iter().any(|shard| Section::begin(shard, Key::NONE).is_watched())
    }

    /// Returns the table of the process.
    #[cfg(not(waitword_loom))]
    #[inline(always)]
    pub fn global() -> &'static Table {
        static GLOBAL: crate::sync::OnceLock<Table> = crate::sync::OnceLock::new();
        #[cold]
        #[inline(never)]
        fn make() -> &'static Table {
            GLOBAL.get_or_init(|| Table::of_process(process::start))
        }
        GLOBAL.get().unwrap_or_else(make)
    }

    /// Returns the table of the process; each execution of a model has one. A model has no clock, and calls [`Table::signal_stalled`]
    /// itself.
    #[cfg(waitword_loom)]
    pub fn global() -> &'static Table {
        crate::sync::lazy_static! {
            static ref GLOBAL: Table = Table::of_process(|| ());
        }
        // Coerced to the return type.
        &GLOBAL
    }
}

/// The progress of a pass.
#[derive(Debug, Default)]
struct Pass {
    shard: usize,
    bucket: usize,
    /// Whether a waiter is queued behind a signalled one in the shards checked so far.
    watched: bool,
}

impl Section<'_> {
    /// One critical section of a pass, over the buckets from `first` on. Returns the bucket with which the pass continues.
    pub(super) fn pass(&mut self, first: usize, batch: &mut WakeBatch) -> Option<usize> {
        self.with(|queues, _| {
            if first == 0 && !std::mem::take(&mut queues.watched) {
                return None;
            }
            let end = queues.buckets.len().min(first + BUCKETS_AT_A_TIME);
            for bucket in queues.buckets.get(first..end).unwrap_or_default() {
                // SAFETY: we hold the lock (I2).
                queues.watched |= unsafe { bucket.any(|head| signal_behind_overdue(head, batch)) };
            }
            mutant!("pass-bucket" => return (end < queues.buckets.len()).then_some(end + 1));
            (end < queues.buckets.len()).then_some(end)
        })
    }

    /// Whether the next pass has to check this shard.
    fn is_watched(&mut self) -> bool {
        self.with(|queues, _| queues.watched)
    }
}

/// Checks the queue of `head` in a pass, except the waiters that let others pass. Signalled waiters at the front become overdue. If all of
/// them already were, the next waiter is signalled, unless the batch is full. A head that requests a signal gets it even if it is alone,
/// because acquirers outside the queue may be trying. Returns whether a waiter is queued behind them.
///
/// # Safety
/// As [`signal`].
unsafe fn signal_behind_overdue(head: NonNull<Waiter>, batch: &mut WakeBatch) -> bool {
    // An agent's wait cannot be signalled: a task behind agents alone is not behind a signalled waiter.
    let (mut is_behind, mut all_overdue) = (false, true);
    // SAFETY: the queue belongs to the caller's lock (I2).
    let first_waiting = unsafe {
        find_in(head, |node| {
            match node.as_ref().state() {
                PASSED => return None,
                SKIPPED => {}
                OVERDUE => node.as_ref().change_queued(SKIPPED),
                SIGNALLED => {
                    node.as_ref().change_queued(OVERDUE);
                    all_overdue = false;
                }
                _ => return with(node, |links| links.wake.is_task()).then_some(node),
            }
            is_behind = true;
            None
        })
    };
    let Some(waiting) = first_waiting else { return false };
    // SAFETY: as for the rest of the queue (I2).
    let (requests, is_alone) = unsafe { (waiting.as_ref().state() == REQUESTED, next(waiting) == waiting) };
    if !is_behind && !requests {
        return false;
    }
    mutant!("watchdog-signal" => return !is_alone);
    if all_overdue && !batch.is_full() {
        // SAFETY: as for the rest of the queue (I2).
        unsafe { signal(waiting) }.into_iter().for_each(|wake| batch.push(wake));
    }
    !is_alone
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
mod process {
    use crate::time::Instant;
    use std::cell::UnsafeCell;
    use std::pin::Pin;
    use std::ptr;
    use std::sync::atomic::Ordering;
    use std::task::{RawWaker, RawWakerVTable, Waker};

    use super::{Pass, STALL_TIMEOUT, Table};
    use crate::observe::{PASS, set_extra};
    use crate::queue::shard::{DISABLED, IDLE, PASSES, RUNNING};
    use crate::sync::mutant;
    use crate::timer::{Alarm, wake_by_timer};
    use crate::wake::WakeBatch;

    /// Starts passes over the table of the process, until no waiter is queued behind a signalled one. Does not unwind, because releases
    /// call it.
    pub(super) fn start() {
        if PASSES.load(Ordering::Relaxed) < RUNNING {
            begin();
        }
    }

    /// No signal sets a pass up any more.
    pub(super) fn never() {
        PASSES.store(DISABLED, Ordering::SeqCst);
    }

    pub(super) fn is_running() -> bool {
        PASSES.load(Ordering::SeqCst) == RUNNING
    }

    #[cold]
    fn begin() {
        if PASSES.swap(RUNNING, Ordering::SeqCst) != RUNNING {
            // SAFETY: ours now (D1). A pass that a fork has cut off begins anew.
            unsafe { *WATCHDOG.pass.get() = Pass::default() };
            set_extra(PASS, false);
            WATCHDOG.set_alarm();
        }
    }

    static WATCHDOG: Watchdog = Watchdog {
        alarm: UnsafeCell::new(Alarm::new()),
        pass: UnsafeCell::new(Pass { shard: 0, bucket: 0, watched: false }),
    };

    /// What the timer wakes.
    ///
    /// After each critical section that found waiters to signal, the watchdog is queued behind their wakes and woken again. Wakers are
    /// foreign code, and if one of them blocks, another thread of the timer continues the pass.
    ///
    /// Invariant D1: both fields belong to the thread that made the state [`RUNNING`]. Once that thread has set the alarm, they belong to
    /// the thread on which the timer wakes the watchdog, and so on, until that thread stores [`IDLE`].
    struct Watchdog {
        alarm: UnsafeCell<Alarm>,
        pass: UnsafeCell<Pass>,
    }

    // SAFETY: one thread at a time owns it (D1), and the lock of the shards, of the timer or of its queue is in between.
    unsafe impl Sync for Watchdog {}

    impl Watchdog {
        /// The caller owns the watchdog (D1).
        fn set_alarm(&'static self) {
            let now = Instant::now();
            // SAFETY: ours (D1), and a static is never moved.
            let alarm = unsafe { Pin::new_unchecked(&mut *self.alarm.get()) };
            if !alarm.try_set_at(now, now + STALL_TIMEOUT, &waker()) {
                set_extra(PASS, true);
                PASSES.store(IDLE, Ordering::SeqCst);
            }
        }

        /// On a thread of the timer.
        fn wake(&'static self) {
            let (table, mut batch) = (Table::global(), WakeBatch::new());
            // SAFETY: ours (D1).
            let pass = unsafe { &mut *self.pass.get() };
            let goes_on = loop {
                let goes_on = table.pass(pass, &mut batch);
                if !goes_on || !batch.is_empty() {
                    break goes_on;
                }
            };
            if goes_on {
                mutant!("watchdog-go-on" => return wake_by_timer(&mut batch, None));
                return wake_by_timer(&mut batch, Some(waker()));
            }
            let watched = std::mem::take(pass).watched;
            wake_by_timer(&mut batch, None);
            if !watched {
                // A thread that saw `RUNNING` until now may have marked its shard after our pass over it: so check all shards again after
                // `IDLE`.
                mutant!("watchdog-idle" => return);
                PASSES.store(IDLE, Ordering::SeqCst);
                mutant!("watchdog-recheck" => return);
                if !table.is_watched() || PASSES.swap(RUNNING, Ordering::SeqCst) == RUNNING {
                    return;
                }
            }
            mutant!("watchdog-again" => return);
            self.set_alarm();
        }
    }

    /// Wakes [`WATCHDOG`]. Without data, because a pass begins in a signal, which must not allocate.
    fn waker() -> Waker {
        static VTABLE: RawWakerVTable = RawWakerVTable::new(
            |_| RawWaker::new(ptr::null(), &VTABLE),
            |_| WATCHDOG.wake(),
            |_| WATCHDOG.wake(),
            |_| (),
        );
        // SAFETY: the functions access a static alone, whatever the data is.
        unsafe { Waker::new(ptr::null(), &VTABLE) }
    }
}
