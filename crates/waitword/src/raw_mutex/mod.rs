//! The mutex as a word, with all its state transitions. No data, no waiting.
//!
//! | bits        | mean                                                                                      |
//! |-------------|-------------------------------------------------------------------------------------------|
//! | count       | the lowest bits of the number of releases                                                 |
//! | `LOCKED`    | not for barging acquirers: the mutex is held, or it is reserved                           |
//! | `QUEUED`    | there may be waiters, none of them signalled: a release has to signal the head waiter     |
//! | `SIGNALLED` | a waiter was signalled and has not acknowledged: a release need not signal                |
//! | `FAIR`      | the next release reserves the mutex for the waiters; set with all bits of the count       |
//! | `RESERVED`  | with `LOCKED`: the mutex is not held, and only waiters may take it                        |
//! | end         | with `SIGNALLED`: when the barging window closes (zero: not known yet)                    |
//! | `TASKS`     | set to 7 by a task that takes the mutex from the queue, decremented by each thread that does |
//! | `CROWDED`   | many were queued when the last barging window opened                                      |
//!
//! |                             | free                          | held                             | reserved                  |
//! |-----------------------------|-------------------------------|----------------------------------|---------------------------|
//! | barging acquirer            | + `LOCKED`: taken             | + `QUEUED`: enqueues             | + `QUEUED`: enqueues      |
//! | signalled waiter            | → `LOCKED QUEUED`: taken      | + `FAIR`                         | → `LOCKED QUEUED`: taken  |
//! | … that has acknowledged     | → `LOCKED QUEUED`: taken      | → `LOCKED QUEUED FAIR`: waits on | → `LOCKED QUEUED`: taken  |
//! | … leaves the queue empty    |                               | - `QUEUED`, under the queue's lock | –                       |
//! | release                     | –                             | - `LOCKED`                       | –                         |
//! | … and then, if `QUEUED`     | - `QUEUED`, + `SIGNALLED`: signal | –                            | –                         |
//! | release, `FAIR`, `SIGNALLED` | –                            | + `RESERVED`                     | –                         |
//! | release, `FAIR`, `QUEUED`   | –                             | - `QUEUED`, + `SIGNALLED RESERVED`: signal | –               |
//!
//! So an acquisition sets one bit and a release is one addition, even with waiters: while a signalled waiter has not run yet,
//! barging acquirers pay what they would pay without it.
//!
//! # The full count
//! A release adds one to the count and subtracts `LOCKED`, the bit above it. If the count was full, its carry adds `LOCKED`
//! again: the addition has not released the mutex, and the holder decides what becomes of it. So `FAIR` needs no load before the
//! addition, which would fetch the cache line twice while another thread attempts to lock; and no acquirer can barge between
//! the addition and the reservation. A count that is full without `FAIR` (one release of 256) only means a second step.
//!
//! ```text
//!            count LOCKED                        count LOCKED
//!   held      17     1     + 1 - LOCKED   →       18     0      free
//!   held     255     1     + 1 - LOCKED   →        0     1      FAIR: → RESERVED; otherwise - LOCKED
//! ```
//!
//! A waiter does not wait on the whole word, only for `QUEUED` to be cleared. The thread that clears it signals the head waiter
//! afterwards. So the other bits may change a thousand times while a waiter enqueues.
//!
//! # Barging
//! A handoff of the lock at each release would cost a context switch for each critical section. Unbounded barging would starve a waiter.
//! Here a release frees the lock and signals the head waiter, which keeps its position. Until that waiter runs, running threads may take
//! the lock.
//!
//! ```text
//!   head waiter                   running threads
//!   ─────────────────────         ────────────────────────────────────────────────────────
//!                                 LOCKED QUEUED → QUEUED → SIGNALLED; signal
//!   (wakes up)                    SIGNALLED → LOCKED SIGNALLED → SIGNALLED → LOCKED SIGNALLED ...
//!   runs, finds LOCKED:
//!   + FAIR; spins                 LOCKED SIGNALLED FAIR → LOCKED SIGNALLED FAIR RESERVED
//!   → LOCKED QUEUED               (barging acquirers enqueue)
//! ```
//! If the waiter does not run within the [barging window](barging_window::WINDOW), perhaps because it gets no CPU, a release reserves the
//! lock as if the waiter had set `FAIR`. The running threads then find the lock taken, enqueue and sleep, and a CPU is free. So a signalled
//! waiter loses to barging acquirers for that long and a few acquisitions more, and so does each waiter behind it when it becomes the head.
//!
//! There are as many running threads as CPUs, and all of them would sleep then. The waiter needs one CPU. The others would be idle until
//! the next release has woken the next waiter, which takes 30 µs in a virtual machine. So a thread that has enqueued yields its CPU a few
//! times while the mutex is reserved, before it sleeps, and then barges: it is running, and the waiter behind it needs no wake-up yet. It
//! stays queued meanwhile, so that it is signalled in its turn if the system does not let it run for long.
//!
//! ```text
//!   head waiter             thread A                      thread B
//!   ──────────────────      ────────────────────────      ─────────────────────────────────
//!                           LOCKED RESERVED: enqueues     LOCKED RESERVED: enqueues
//!   (has no CPU)            yields
//!   (runs on A's CPU)       (has no CPU)                  yields; still reserved
//!   → LOCKED QUEUED                                       yields; held: spins
//!   → SIGNALLED                                           → LOCKED SIGNALLED: leaves the queue
//! ```
//!
//! # Threads and tasks
//! A thread that finds the mutex held spins. A task must not spin, and enqueues. So beside running threads the tasks of a worker are soon
//! all queued, the worker sleeps, and only the threads barge. Two rules give the tasks a part of the acquisitions:
//!
//! - A task that has enqueued makes one more attempt: a short critical section has ended by then, and the worker continues. The task leaves
//!   the queue, and forwards a signal that it has received meanwhile.
//! - The waiter that took the mutex from the queue runs, and continues to barge until a later window closes: a worker for all of its tasks,
//!   a thread for itself. So the window closes after 48 releases, or at its end if that comes earlier, when
//!   - a thread took the mutex from the queue last,
//!   - a task was among the six waiters before it, and
//!   - 16 or more waiters are queued.
//!
//!   Releases are counted, not time, because a context switch costs little if critical sections are long.
//!
//! # Unresponsive waiters
//! A task that is not polled keeps its position, and is skipped: the holder that came from the queue signals the next
//! waiter when it releases the lock. The core's watchdog signals that waiter at the latest (`watchdog.rs` of the core).

#[cfg(test)]
mod tests;

use std::convert::Infallible;

use waitword_core::observe::WaitsFor;
use waitword_core::{Masked, Table, charge_release};

use crate::acquire::attempts::{change, signal};
use crate::acquire::{self, Acquire, Attempt, Behind, Kind, Left, Next, Report, StateWord as _, Yields};
use crate::barging_window;
use crate::holders::{Hold, HoldId, released, tells_its_drop};
use crate::sync::atomic::Ordering;
use crate::sync::{MODEL, const_fn, mutant, order};
use crate::unlocked;

/// The bits of the count, the lowest of the word. A model sees a full one, too.
const COUNT_BITS: u32 = if MODEL { 2 } else { 8 };
const COUNT: u32 = LOCKED - 1;
const LOCKED: u32 = 1 << COUNT_BITS;
const QUEUED: u32 = LOCKED << 1;
const SIGNALLED: u32 = LOCKED << 2;
const FAIR: u32 = LOCKED << 3;
const RESERVED: u32 = LOCKED << 4;
const END_SHIFT: u32 = COUNT_BITS + 5;
const END_BITS: u32 = 15;
const END: u32 = ((1 << END_BITS) - 1) << END_SHIFT;
const TASKS: u32 = 7 << (END_SHIFT + END_BITS);
const ONE_THREAD: u32 = 1 << (END_SHIFT + END_BITS);
const CROWDED: u32 = 1 << (END_SHIFT + END_BITS + 3);
/// The bits that only a release and the holder change.
const KEPT: u32 = COUNT | TASKS | CROWDED;
/// What a release adds.
const RELEASE: u32 = 1_u32.wrapping_sub(LOCKED);
/// What closes the barging window: with these bits, the next release carries into `LOCKED`.
const CLOSE: u32 = FAIR | COUNT;

/// One release in this many reads the clock, while a signalled waiter has not acknowledged.
pub(crate) const RELEASES_PER_CLOCK_READ: u32 = if MODEL { 2 } else { 16 };

/// The number of releases that close the window after a thread took the mutex from the queue, beside tasks; plus those until the next read
/// of the clock.
const BESIDE_TASKS: u32 = if MODEL { 2 } else { 48 };

/// With this many waiters, their windows are shorter than [`WINDOW`](barging_window::WINDOW). With fewer, tasks acquire often enough.
const MANY: usize = if MODEL { 1 } else { 16 };

/// A thread yields if at least this many waiters are queued, including itself. A shorter queue soon empties if its threads sleep, and then
/// no waiter waits for a window (`docs/costs.md`), perhaps because the system prefers threads that wake up.
const ENOUGH_TO_YIELD: usize = if MODEL { 1 } else { 5 };

/// The state word of a mutex.
#[derive(Debug, Default)]
pub struct RawMutex {
    state: Masked<QUEUED>,
}

impl Acquire for RawMutex {
    type Word = Masked<QUEUED>;
    type Ask = ();
    type Closed = Infallible;

    const WAITERS: u32 = QUEUED | SIGNALLED | RESERVED;
    const HOLDERS: u32 = COUNT;
    const YIELDS: Option<Yields<u32>> =
        Some(Yields { reserved: RESERVED, tasks: TASKS, enough: ENOUGH_TO_YIELD });

    #[inline(always)]
    fn word(&self) -> &Self::Word {
        &self.state
    }

    #[inline(always)]
    fn take_once(&self, (): ()) -> bool {
        self.state.fetch_or(LOCKED, order!(Acquire, "mutex-take")) & LOCKED == 0
    }

    #[inline]
    fn next(state: u32, (): (), by: Attempt) -> Next<u32, Infallible> {
        let take = |state| Next::Take { state, signals: false };
        let mark = |state| Next::Mark { state, behind: Behind::Wait };
        match by {
            Attempt::Barging if state & LOCKED == 0 => take(state | LOCKED),
            Attempt::Barging if state & (FAIR | RESERVED) != 0 => Next::Reserved(state | QUEUED),
            Attempt::Barging => mark(state | QUEUED),
            Attempt::Signalled(kind) | Attempt::Queued(kind) if is_free_for_waiters(state) => {
                take(taken_from_queue(state, kind))
            }
            Attempt::Signalled(_) => mark(state | CLOSE),
            Attempt::Queued(_) => mark((state & KEPT) | LOCKED | QUEUED | CLOSE),
        }
    }

    fn left(state: u32, (): (), left: Left) -> (u32, bool) {
        mutant!("mutex-forward" => return (state, false));
        match state {
            // A holder that came from the queue signals when it releases.
            _ if left.holds || !left.was_signalled => (state, false),
            _ if is_free_for_waiters(state) => (state & !(QUEUED | END) | SIGNALLED, true),
            // The release signals.
            _ => ((state & KEPT) | LOCKED | QUEUED, false),
        }
    }

    fn unanswered(state: u32, _are_waiters: bool) -> u32 {
        mutant!("mutex-clear-signalled" => return state);
        // All queued waiters are signalled, and mark the word when they run.
        state & (KEPT | if state & RESERVED == 0 { LOCKED } else { 0 })
    }

    fn emptied(state: u32, (): ()) -> u32 {
        state & !QUEUED
    }

    fn give_back(&self, (): ()) {
        self.release(HoldId::NONE);
    }

    #[inline(always)]
    fn report((): ()) -> Report {
        Report { waits_for: WaitsFor::Mutex, hold: Some(Hold::Mutex), permits: 1 }
    }
}

/// The state once a queued waiter has taken the mutex. There may be other waiters, so the release has to signal.
fn taken_from_queue(state: u32, kind: Kind) -> u32 {
    let tasks = match (kind, state & TASKS) {
        (Kind::Task, _) => TASKS,
        (Kind::Thread, 0) => 0,
        (Kind::Thread, tasks) => tasks - ONE_THREAD,
    };
    let state = (state & COUNT) | (state & CROWDED) | tasks | LOCKED;
    mutant!("mutex-queued-bit" => return state);
    state | QUEUED
}

/// The state once the holder has released the mutex, and reserved it for the waiters if there are any; and whether the head waiter has to be
/// signalled.
fn reserve(state: u32) -> (u32, bool) {
    match state & (SIGNALLED | QUEUED) {
        0 => (state & KEPT, false),
        QUEUED => ((state & KEPT) | LOCKED | SIGNALLED | RESERVED, true),
        _ => (state | RESERVED, false),
    }
}

/// The state once a release has added to a full count, whose carry has kept it locked; and whether the head waiter has to be signalled.
fn release_full(state: u32) -> (u32, bool) {
    if state & FAIR != 0 { reserve(state) } else { claim(state & !LOCKED) }
}

/// The state once a signal that is owed is claimed. A new holder signals when it releases.
fn claim(state: u32) -> (u32, bool) {
    if state & (LOCKED | SIGNALLED | QUEUED) != QUEUED {
        return (state, false);
    }
    // The count starts at zero, for the window.
    let kept = if beside_tasks(state) { TASKS | CROWDED } else { KEPT };
    (state & kept | SIGNALLED, true)
}

/// The state after a release that reads the clock, while a signalled waiter has not acknowledged. `queued`: how many wait, if
/// the window opens.
fn after_release(state: u32, queued: usize) -> u32 {
    if state & SIGNALLED == 0 {
        return state;
    }
    match (state & END) >> END_SHIFT {
        0 => {
            let state = if queued < MANY { state & !CROWDED } else { state | CROWDED };
            state | barging_window::end_of_window(queued, END_BITS) << END_SHIFT
        }
        _ if beside_tasks(state) && state & COUNT >= BESIDE_TASKS => state | CLOSE,
        end if barging_window::has_come(end, END_BITS) => state | CLOSE,
        _ => state,
    }
}

/// Whether many wait, a thread took the mutex from the queue last, and a task not long before it.
fn beside_tasks(state: u32) -> bool {
    state & CROWDED != 0 && !matches!(state & TASKS, 0 | TASKS)
}

/// Whether a queued waiter may take the mutex.
fn is_free_for_waiters(state: u32) -> bool {
    state & (LOCKED | RESERVED) != LOCKED
}

/// For the laws (`acquire/tests/laws.rs`).
#[cfg(test)]
impl RawMutex {
    pub(crate) fn is_locked_in(state: u32) -> bool {
        !is_free_for_waiters(state)
    }

    pub(crate) fn is_signalled_in(state: u32) -> bool {
        state & SIGNALLED != 0
    }

    /// With a window that has closed, if one has opened.
    pub(crate) fn without_time(state: u32) -> u32 {
        if state & END == 0 { state } else { state & !END | 1 << END_SHIFT }
    }
}

impl RawMutex {
    const_fn! {
        pub(crate) const fn new() -> Self {
            Self { state: Masked::new(0) }
        }
    }

    pub(crate) fn is_locked(&self) -> bool {
        !is_free_for_waiters(self.state.state())
    }

    /// Releases the mutex, which the caller holds.
    #[inline]
    pub(crate) fn release(&self, hold: HoldId) {
        acquire::held::release(self, hold, || Hold::Mutex, Self::let_go);
    }

    #[inline(always)]
    fn let_go(&self) {
        let before = self.state.fetch_add(RELEASE, order!(Release, "mutex-release"));
        if before.wrapping_add(RELEASE) & (LOCKED | QUEUED | SIGNALLED) != 0 {
            self.released(before);
        }
    }

    /// The second half of a release that found the word in the state `before`.
    #[cold]
    fn released(&self, before: u32) {
        if before & (QUEUED | FAIR) != 0 {
            self.charge();
        }
        // Relaxed: the addition was the release.
        if before.wrapping_add(RELEASE) & LOCKED != 0 {
            mutant!("mutex-full-count" => return);
            if change(self, Ordering::Relaxed, release_full) {
                signal(self);
            }
        } else if before & SIGNALLED == 0 {
            mutant!("mutex-signal" => return);
            if change(self, Ordering::Relaxed, claim) {
                signal(self);
            }
        } else if (before & COUNT).is_multiple_of(RELEASES_PER_CLOCK_READ) {
            // This release is charged for all releases since the last read, because barging acquirers hold the mutex for a moment each.
            self.charge();
            let queued = if before & END == 0 { Table::global().waiters(&self.state) } else { 0 };
            self.state.change(Ordering::Relaxed, |state| after_release(state, queued));
        }
    }

    /// Releases the mutex, and reserves it for the waiters if there are any.
    #[cold]
    pub(crate) fn release_fair(&self, hold: HoldId) {
        released(self.held_at(), Hold::Mutex, hold);
        // Only the holder clears `LOCKED`; other threads set bits.
        let signals = change(self, order!(Release, "mutex-fair"), reserve);
        self.charge();
        if signals {
            mutant!("mutex-signal-reserved" => return);
            signal(self);
        }
    }

    /// For reports: the holder has released the mutex, and others may wait.
    fn charge(&self) {
        charge_release(&self.state, self.held_at());
    }

    /// The holder releases the mutex to the head waiter, and acquires it again. `instead` as in
    /// [`unlocked::bump`].
    #[inline]
    #[track_caller]
    pub(crate) fn bump(&self, (): (), hold: &mut HoldId, instead: Option<&str>) {
        if self.state.state() & (QUEUED | SIGNALLED) != 0 {
            // An acquirer that has set `QUEUED` may have taken the mutex since, or given up.
            let has_waiters = || Table::global().waiters(&self.state) > 0;
            unlocked::bump(self, (), hold, instead, has_waiters, |held| self.release_fair(held));
        }
    }
}

tells_its_drop! { RawMutex: this => this.held_at(), this.state.state() & LOCKED != 0 }
