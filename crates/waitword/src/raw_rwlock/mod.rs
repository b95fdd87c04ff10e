//! The state word of the readers-writer lock: its transitions and races. No data, no waiting.
//!
//! | bits         | meaning                                                                                       |
//! |--------------|-----------------------------------------------------------------------------------------------|
//! | `WRITER`     | held for writing; with `UPGRADABLE`: the upgrading holder waits for the readers to leave      |
//! | `UPGRADABLE` | held by the one reader that may upgrade                                                       |
//! | `QUEUED`     | a waiter may be queued that was not signalled: a release that makes room has to signal        |
//! | `SIGNALLED`  | a waiter was signalled and has not acknowledged: a release need not signal                    |
//! | `FAIR`       | room is reserved for queued waiters: no barging                                               |
//! | `TASKS`      | with `QUEUED` or `SIGNALLED`: a task has entered from the queue since that was last empty     |
//! | `PASS`       | only upgradable readers are queued, and wait for another: plain readers may barge, uncounted  |
//! | pace         | with `QUEUED` or `SIGNALLED`: how much of the barging window is used (`barging_window.rs`)    |
//! | readers      | number of readers, without the upgradable one                                                 |
//!
//! There is *room* in a state
//! - for a reader: without `WRITER`;
//! - for an upgradable reader: without `WRITER` and `UPGRADABLE`;
//! - for a writer: without `WRITER`, `UPGRADABLE` and readers.
//!
//! |                        | room                                   | room, but `FAIR`       | no room                    |
//! |------------------------|----------------------------------------|------------------------|----------------------------|
//! | barging acquirer       | enters; + pace if waiters are queued   | + `QUEUED`: enqueue    | + `QUEUED`: enqueue        |
//! | barging reader, `PASS` | enters                                 | enters                 | – `PASS FAIR`, + `QUEUED`: enqueue |
//! | signalled writer       | → `WRITER QUEUED`                      | → `WRITER QUEUED`      | + `FAIR`                   |
//! | signalled reader       | enters, → `SIGNALLED`: signal the next | the same               | + `FAIR`                   |
//! | … that has acknowledged | the same                              | the same               | → `QUEUED FAIR`: wait on   |
//! | … leaves the queue empty | only the holders stay, under the lock of the queue | the same |                            |
//! | release, `QUEUED` without `SIGNALLED` | – `QUEUED`, + `SIGNALLED`: signal | the same     |                            |
//!
//! Waiters compare `QUEUED` and `PASS` only: the operation that clears `QUEUED` signals the head waiter afterwards, and a reader must not
//! enqueue once readers pass. The other bits may change while a waiter enqueues.
//!
//! # One queue
//! Readers, upgradable readers and writers share one FIFO queue. A reader that enters from the queue signals the next waiter, so
//! a run of readers enters together. The first writer behind the run is signalled too, finds readers inside, stays queued and
//! sets `FAIR`: it enters when they have left.
//!
//! ```text
//!   reader R1 (head waiter)         R2                      writer W                  later readers
//!   ─────────────────────────       ──────────────────      ─────────────────────     ──────────────────
//!   signalled; enters; signal R2
//!                                   enters; signal W
//!                                                           finds two readers:
//!                                                           + QUEUED FAIR
//!                                                                                     enqueue behind W
//!   leaves                          leaves, the last:
//!                                   - QUEUED, + SIGNALLED; signal W
//!                                                           → WRITER QUEUED
//! ```
//! Until a signalled waiter finds no room, barging acquirers enter at the cost of one exchange. They use up the barging window
//! (`barging_window.rs`). At its end `FAIR` is set even if no signalled waiter has run, so no writer and no reader starves.
//!
//! # Waiting for an upgradable reader
//! An upgradable reader may wait for another upgradable reader, for which plain readers need not wait. Plain readers go past the waiting
//! one, even those behind it in the queue, because the other one may be waiting for them. So a signalled upgradable reader that finds
//! `UPGRADABLE` without `WRITER` becomes one that signals go past (`WaitAsync::let_pass`), and signals the first waiter behind that is not.
//! It keeps its position, and the release of the upgradable reader signals it.
//!
//! ```text
//!   upgradable A (inside)   upgradable B (head)          reader R                    writer W
//!   ─────────────────────   ──────────────────────────   ─────────────────────────   ────────────────────────
//!                           + QUEUED PASS: enqueues
//!                                                        finds `PASS`: enters
//!                                                                                    – PASS, + QUEUED: enqueues
//!                                                        barges; at the end of the
//!                                                        window: signals B
//!                           no room: let pass; signal W
//!                                                                                    no room: + QUEUED FAIR
//!                                                        enqueues behind W
//! ```
//! Another waiter may have come meanwhile. B rechecks once more, because the signal may have found no waiter yet. If no other waiter is
//! queued, B sets `PASS` again, and an acquirer that was about to enqueue makes a new attempt.
//!
//! W ends `PASS` because readers that pass are not counted, so that they need not wake B at the end of each window. The reservation for B
//! (`FAIR`) ends with it, because W may be a task that is not polled, and then no signal would be under way that the watchdog could repeat
//! behind W.
//!
//! With `UPGRADABLE`, the last plain reader signals no waiter, because all queued waiters wait for the upgradable one, too, or go past it.
//!
//! # Yields
//! While room is reserved, every running thread would find that and sleep, even if the reservation waits for a reader that was preempted.
//! So a queued thread first yields a few times, in its position, and barges if the reservation has ended meanwhile. Threads do not yield
//! beside tasks, because tasks get nothing of what threads take by yielding.
//!
//! ```text
//!   reader R, without a CPU      writer W (head waiter)         thread T (queued behind W)
//!   ─────────────────────        ─────────────────────────      ─────────────────────────────────
//!                                finds R inside: + QUEUED FAIR
//!                                                               finds `FAIR`: yields, to R
//!   leaves: signal W
//!                                → WRITER QUEUED; leaves
//!                                                               `FAIR` has gone: barges, leaves the queue
//! ```
//! T forwards a signal that it gets meanwhile to the next waiter, as when it gives up.
//!
//! # Upgrades
//! The upgrading holder sets `WRITER`, which keeps others out, and waits for the readers on a word of its own (`drain`). In the queue of
//! the state word it would deadlock: the waiters there wait for it. There is at most one upgradable holder, so no other acquirer can take
//! the lock from it while it is woken.
//!
//! ```text
//!   upgrading holder                          last reader
//!   ─────────────────────────────────         ───────────────────────────────────────
//!   drain ← QUEUED
//!   + WRITER; readers are inside              readers - 1: sees WRITER
//!                                             drain ← 0; signal
//!   waits while drain = QUEUED; woken:
//!   no readers: - UPGRADABLE
//! ```
//! The reader has seen `WRITER`, which was set after `drain ← QUEUED`; so its own store to `drain` is the later one.

mod mode;

use std::convert::Infallible;

use waitword_core::observe::WaitsFor;
use waitword_core::{Masked64, Table, charge_release, signal_one};

use crate::acquire::attempts::{self, signal};
use crate::acquire::{self, Acquire, Attempt, Behind, Left, Next, Report, StateWord as _, Yields};
use crate::holders::{Change, Hold, HoldId, changed, not_kept, released, tells_its_drop};
use crate::sync::atomic::{Ordering, fence};
use crate::sync::{const_fn, mutant, order};
use crate::unlocked;

pub(crate) use mode::Mode;
use mode::*;

/// The state of a readers-writer lock.
#[derive(Debug, Default)]
#[repr(C)]
pub struct RawRwLock {
    state: Masked64<WAITED>,
    /// The word on which the upgrading holder waits for the readers to leave. `QUEUED` while it waits.
    drain: Masked64<WAITED>,
}

impl Acquire for RawRwLock {
    type Word = Masked64<WAITED>;
    type Ask = Mode;
    type Closed = Infallible;

    const WAITERS: u64 = QUEUED | SIGNALLED | FAIR;
    const HOLDERS: u64 = HOLDERS;
    const YIELDS: Option<Yields<u64>> = Some(Yields { reserved: FAIR, tasks: TASKS, enough: 0 });

    #[inline(always)]
    fn word(&self) -> &Self::Word {
        &self.state
    }

    fn at(&self, mode: Mode) -> &Self::Word {
        if mode == Mode::Upgrade { &self.drain } else { &self.state }
    }

    fn awaited(state: u64, mode: Mode) -> u64 {
        if mode == Mode::Upgrade { QUEUED } else { state & WAITED }
    }

    #[inline(always)]
    fn take_once(&self, mode: Mode) -> bool {
        let state = match mode {
            // Readers may be inside already.
            Mode::Read => self.state.state() & ((READERS & !FULL) | UPGRADABLE),
            Mode::Upgradable => self.state.state() & READERS & !FULL,
            Mode::Write => 0,
            Mode::Upgrade => UPGRADABLE,
        };
        self.state.replace(state, mode.enter(state), order!(Acquire, "rwlock-take")).is_ok()
    }

    fn next(state: u64, mode: Mode, by: Attempt) -> Next<u64, Infallible> {
        let mark = |state, behind| Next::Mark { state, behind };
        match by {
            Attempt::Barging if mode.allows_barging(state) => {
                let taken = mode.enter_barging(state);
                Next::Take { state: taken, signals: taken & !state & SIGNALLED != 0 }
            }
            Attempt::Signalled(kind) | Attempt::Queued(kind) if mode.has_room(state) => {
                Next::Take { state: mode.enter_queued(state, kind), signals: mode.is_shared() }
            }
            // An upgrade keeps readers out, and competes with no queue.
            _ if mode == Mode::Upgrade => mark(state | WRITER, Behind::Wait),
            Attempt::Barging if state & FAIR != 0 => Next::Reserved(mode.enqueue(state)),
            Attempt::Barging => mark(mode.enqueue(state), Behind::Wait),
            Attempt::Signalled(_) if mode.waits_for_upgradable(state) => mark(state, Behind::Wait),
            Attempt::Signalled(_) => mark(reserve_for_queue(state), Behind::Wait),
            Attempt::Queued(_) => mark(mode.wait_on(state), mode.behind(state)),
        }
    }

    fn left(state: u64, mode: Mode, left: Left) -> (u64, bool) {
        if left.holds {
            mutant!("rwlock-signal-next" => return (state, false));
            // A writer signals the next waiter when it releases.
            return (state, mode.is_shared() && !left.is_last);
        }
        mutant!("rwlock-forward" => return (state, false));
        match state {
            // There is room again for the readers that the holder has kept out.
            _ if mode == Mode::Upgrade => claim(state & !WRITER),
            // The waiter that gave up may have blocked the waiters behind it, or may have been the one that `SIGNALLED` stands for.
            _ if left.was_signalled && state & WRITER == 0 => ((state & KEPT) | SIGNALLED, true),
            _ if left.was_signalled => ((state & KEPT) | QUEUED, false),
            _ if claim(state).1 => ((state & KEPT) | SIGNALLED, true),
            _ => (state, false),
        }
    }

    fn unanswered(state: u64, are_waiters: bool) -> u64 {
        mutant!("rwlock-clear-signalled" => return state);
        // All queued waiters are signalled, or let others pass, and mark the word when they run.
        state & if are_waiters { KEPT } else { HOLDERS }
    }

    fn emptied(state: u64, mode: Mode) -> u64 {
        if mode == Mode::Upgrade { state } else { state & HOLDERS }
    }

    fn passed(state: u64) -> u64 {
        (state & KEPT) | SIGNALLED
    }

    /// The upgrading holder is about to set `WRITER`, and to wait for the readers to leave.
    fn will_mark(&self, mode: Mode) {
        mutant!("rwlock-upgrade" => return);
        if mode == Mode::Upgrade {
            self.drain.store(QUEUED, Ordering::Relaxed);
        }
    }

    /// The holder, which has kept readers out, is an upgradable reader again.
    fn gave_up(&self, mode: Mode) {
        if mode == Mode::Upgrade {
            changed(self.held_at(), Hold::UpgradableRead, not_kept(), Change::To(Hold::UpgradableRead));
            charge_release(&self.state, self.held_at());
        }
    }

    fn give_back(&self, mode: Mode) {
        match mode {
            Mode::Read => self.release_read(HoldId::NONE),
            Mode::Upgradable => self.release_upgradable(HoldId::NONE),
            Mode::Write => self.release_write(HoldId::NONE),
            Mode::Upgrade => self.downgrade_to_upgradable(HoldId::NONE),
        }
    }

    #[inline(always)]
    fn report(mode: Mode) -> Report {
        let (waits_for, hold) = match mode {
            Mode::Read => (WaitsFor::Read, Some(Hold::Read)),
            Mode::Write => (WaitsFor::Write, Some(Hold::Write)),
            Mode::Upgradable => (WaitsFor::UpgradableRead, Some(Hold::UpgradableRead)),
            // The holder has the record of the upgradable read, which its guard changes.
            Mode::Upgrade => (WaitsFor::Upgrade, None),
        };
        Report { waits_for, hold, permits: 1 }
    }
}

/// The state once a signal that is owed is claimed, and whether one is: there is room, and no signal is pending.
fn claim(state: u64) -> (u64, bool) {
    let is_owed = state & (QUEUED | SIGNALLED | WRITER) == QUEUED;
    if is_owed { (state ^ (QUEUED | SIGNALLED), true) } else { (state, false) }
}

/// Sets `FAIR` if waiters may be queued: no barging.
fn reserve_for_queue(state: u64) -> u64 {
    state | if state & (QUEUED | SIGNALLED) == 0 { 0 } else { FAIR }
}

/// For the laws (`acquire/tests/laws.rs`).
#[cfg(test)]
impl RawRwLock {
    /// Readers, the upgradable one, the writer.
    pub(crate) fn holders_in(state: u64) -> [u64; 3] {
        let upgradable = state & UPGRADABLE != 0;
        [state / ONE_READER, u64::from(upgradable), u64::from(state & WRITER != 0 && !upgradable)]
    }

    pub(crate) fn is_upgrading_in(state: u64) -> bool {
        state & (WRITER | UPGRADABLE) == WRITER | UPGRADABLE
    }

    pub(crate) fn is_signalled_in(state: u64) -> bool {
        state & SIGNALLED != 0
    }

    /// With a window that is open, or has just closed.
    pub(crate) fn without_time(state: u64) -> u64 {
        state & !PACE
    }
}

impl RawRwLock {
    const_fn! {
        pub(crate) const fn new() -> Self {
            Self { state: Masked64::new(0), drain: Masked64::new(0) }
        }
    }

    /// The address of the state word, of a lock whose `drain` is at this address.
    pub(crate) const fn state_of_drain(drain: usize) -> usize {
        drain - std::mem::offset_of!(Self, drain) + std::mem::offset_of!(Self, state)
    }

    /// Whether it is held exclusively.
    pub(crate) fn is_written(&self) -> bool {
        self.state.state() & (WRITER | UPGRADABLE) == WRITER
    }

    /// Whether it is held, in any mode.
    pub(crate) fn is_held(&self) -> bool {
        self.state.state() & HOLDERS != 0
    }

    /// Enters as a reader past queued writers, unless the lock is held exclusively. A holder that reads again must not queue behind them.
    pub(crate) fn read_recursive(&self) -> bool {
        let is_read = |state| state & WRITER == 0 || state & READERS != 0;
        let enter = |state| is_read(state).then(|| Mode::Read.enter(state));
        self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, enter).is_ok()
    }

    /// One reader leaves.
    #[inline]
    pub(crate) fn release_read(&self, hold: HoldId) {
        acquire::held::release(self, hold, || Hold::Read, Self::let_go_read);
    }

    #[inline(always)]
    fn let_go_read(&self) {
        let before = self.state.fetch_sub(ONE_READER, order!(Release, "rwlock-release-read"));
        if before & (QUEUED | WRITER) != 0 {
            self.reader_left(before);
        }
    }

    /// The upgradable reader leaves.
    #[inline]
    pub(crate) fn release_upgradable(&self, hold: HoldId) {
        released(self.held_at(), Hold::UpgradableRead, hold);
        if self.state.compare_exchange(UPGRADABLE, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.make_room(|state| state & !UPGRADABLE);
        }
    }

    /// The writer leaves.
    #[inline]
    pub(crate) fn release_write(&self, hold: HoldId) {
        acquire::held::release(self, hold, || Hold::Write, Self::let_go_write);
    }

    #[inline(always)]
    fn let_go_write(&self) {
        if self
            .state
            .compare_exchange(WRITER, 0, order!(Release, "rwlock-release"), Ordering::Relaxed)
            .is_err()
        {
            self.make_room(|state| state & !WRITER);
        }
    }

    /// The writer becomes a reader.
    #[inline]
    pub(crate) fn downgrade(&self, hold: HoldId) {
        changed(self.held_at(), Hold::Write, hold, Change::To(Hold::Read));
        if self
            .state
            .compare_exchange(WRITER, ONE_READER, order!(Release, "rwlock-downgrade"), Ordering::Relaxed)
            .is_err()
        {
            self.make_room(|state| Mode::Read.enter(state & !WRITER));
        }
    }

    /// The writer becomes an upgradable reader.
    #[inline]
    pub(crate) fn downgrade_to_upgradable(&self, hold: HoldId) {
        changed(self.held_at(), Hold::Write, hold, Change::To(Hold::UpgradableRead));
        if self.state.compare_exchange(WRITER, UPGRADABLE, Ordering::Release, Ordering::Relaxed).is_err() {
            self.make_room(|state| (state & !WRITER) | UPGRADABLE);
        }
    }

    /// The upgradable reader becomes one of the readers. It may be one more than [`MAX_READERS`].
    #[inline]
    pub(crate) fn downgrade_upgradable(&self, hold: HoldId) {
        changed(self.held_at(), Hold::UpgradableRead, hold, Change::To(Hold::Read));
        if self.state.compare_exchange(UPGRADABLE, ONE_READER, Ordering::Release, Ordering::Relaxed).is_err()
        {
            self.make_room(|state| (state & !UPGRADABLE) + ONE_READER);
        }
    }

    #[cold]
    fn reader_left(&self, before: u64) {
        mutant!("rwlock-last-reader" => return);
        if before & READERS != ONE_READER {
            return;
        }
        match before & (WRITER | UPGRADABLE) {
            0 => return self.make_room(|state| state),
            // The queued waiters wait for the upgradable reader, too, which signals them when it leaves.
            UPGRADABLE => return,
            _ => {}
        }
        mutant!("rwlock-drain-fence" => return self.end_drain());
        // Orders the store in `end_drain` after that in `begin_drain`, which came before `WRITER`.
        fence(Ordering::Acquire);
        self.end_drain();
    }

    /// The last reader has left, and the upgrading holder can continue.
    fn end_drain(&self) {
        mutant!("rwlock-drain" => { signal_one(&self.drain); return });
        self.drain.store(0, Ordering::Relaxed);
        charge_release(&self.drain, self.held_at());
        signal_one(&self.drain);
    }

    /// Applies `change`, which makes room, and signals the head waiter if there is room and no signal is pending.
    #[cold]
    #[inline(never)]
    fn make_room(&self, change: impl Fn(u64) -> u64) {
        let order = order!(Release, "rwlock-make-room");
        let signals = attempts::change(self, order, |state| claim(change(state)));
        mutant!("rwlock-signal" => return);
        if signals {
            charge_release(&self.state, self.held_at());
            signal(self);
        }
    }

    /// Releases the lock to the head waiter, and acquires it again behind that waiter. `instead` names the method for threads that must not
    /// block.
    #[inline]
    #[track_caller]
    pub(crate) fn bump(&self, mode: Mode, hold: &mut HoldId, instead: Option<&str>) {
        let others = match mode {
            Mode::Read | Mode::Upgradable => QUEUED | SIGNALLED | WRITER,
            Mode::Write | Mode::Upgrade => QUEUED | SIGNALLED,
        };
        if self.state.state() & others != 0 {
            // An acquirer that has set `QUEUED` may have entered since, or given up.
            let waiters = |at| Table::global().waiters::<Masked64<WAITED>>(at);
            let has_waiters = || waiters(&self.state) > 0 || waiters(&self.drain) > 0;
            unlocked::bump(self, mode, hold, instead, has_waiters, |hold| match mode {
                Mode::Read => self.release_read_fair(hold),
                Mode::Upgradable => self.release_upgradable_fair(hold),
                Mode::Write | Mode::Upgrade => self.release_write_fair(hold),
            });
        }
    }

    /// One reader leaves. Room, now or when the others have left, is reserved for queued waiters.
    pub(crate) fn release_read_fair(&self, hold: HoldId) {
        released(self.held_at(), Hold::Read, hold);
        let allows_barging = |state| state & (QUEUED | SIGNALLED) != 0 && state & (FAIR | WRITER) == 0;
        // Signal the head waiter even while others read: the watchdog skips an unresponsive waiter only if it was signalled,
        // and readers behind it could enter.
        let leave = |state| {
            allows_barging(state).then(|| {
                let state = reserve_for_queue(state - ONE_READER);
                if state & SIGNALLED == 0 { state ^ (QUEUED | SIGNALLED) } else { state }
            })
        };
        match self.state.fetch_update(Ordering::Release, Ordering::Relaxed, leave) {
            Ok(before) if before & SIGNALLED == 0 => {
                mutant!("rwlock-signal-fair" => return);
                signal(self);
            }
            Ok(_) => {}
            // No waiter is queued, or room is reserved already, or an upgrade is pending.
            Err(_) => self.release_read(HoldId::NONE),
        }
    }

    /// The upgradable reader leaves; room is reserved for queued waiters.
    #[inline]
    pub(crate) fn release_upgradable_fair(&self, hold: HoldId) {
        released(self.held_at(), Hold::UpgradableRead, hold);
        if self.state.compare_exchange(UPGRADABLE, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.make_room(|state| reserve_for_queue(state & !UPGRADABLE));
        }
    }

    /// The writer leaves; room is reserved for queued waiters.
    #[inline]
    pub(crate) fn release_write_fair(&self, hold: HoldId) {
        released(self.held_at(), Hold::Write, hold);
        if self.state.compare_exchange(WRITER, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.make_room(|state| reserve_for_queue(state & !WRITER));
        }
    }
}

tells_its_drop! { RawRwLock: this => this.held_at(), this.is_held() }

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::Future;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread;

    use waitword_core::time::{Duration, Instant};

    use super::*;
    use crate::acquire::Kind;
    use crate::acquire::attempts::{take, take_before_park};
    use crate::acquire::future::AcquireAsync;

    #[test]
    fn one_reader_too_many_panics_and_changes_nothing() {
        let lock = RawRwLock { state: Masked64::new(FULL - ONE_READER), drain: Masked64::new(0) };
        assert!(take(&lock, Mode::Read), "the last one");
        let one_too_many: [fn(&RawRwLock); 3] = [
            |lock| assert!(take(lock, Mode::Read)),
            |lock| assert!(lock.read_recursive()),
            // The upgradable reader could become a reader.
            |lock| assert!(take(lock, Mode::Upgradable)),
        ];
        for attempt in one_too_many {
            let attempt = std::panic::AssertUnwindSafe(|| attempt(&lock));
            let panic = std::panic::catch_unwind(attempt).expect_err("one too many");
            let message = panic.downcast::<String>().expect("it says how many");
            assert!(message.starts_with("536870912 readers"), "{message}");
            assert_eq!(lock.state.load(Ordering::Relaxed), FULL);
        }
        lock.release_read(HoldId::NONE);
        assert_eq!(lock.state.load(Ordering::Relaxed), FULL - ONE_READER);
    }

    #[test]
    fn a_downgrade_has_room_also_beside_as_many_readers_as_there_may_be() {
        let lock = RawRwLock { state: Masked64::new(FULL - ONE_READER), drain: Masked64::new(0) };
        assert!(take(&lock, Mode::Upgradable) && take(&lock, Mode::Read));
        lock.downgrade_upgradable(HoldId::NONE);
        assert_eq!(lock.state.load(Ordering::Relaxed), FULL + ONE_READER);
        lock.release_read(HoldId::NONE);
        assert_eq!(lock.state.load(Ordering::Relaxed), FULL);
    }

    /// What became of the attempt, and how often the thread yielded. After `until` yields the state is `then`.
    fn attempt(mode: Mode, state: u64, (until, then): (u32, u64), signalled: u32) -> (bool, u32) {
        let lock = RawRwLock { state: Masked64::new(state), drain: Masked64::new(0) };
        let yields = Cell::new(0);
        let is_signalled = || {
            yields.set(yields.get() + 1);
            if yields.get() == until {
                lock.state.store(then, Ordering::Relaxed);
            }
            yields.get() == signalled
        };
        (take_before_park(&lock, mode, is_signalled), yields.get())
    }

    #[test]
    fn a_queued_thread_yields_while_room_is_reserved_and_then_barges() {
        const NEVER: u32 = u32::MAX;
        const RESERVED: u64 = ONE_READER | QUEUED | FAIR;
        for mode in [Mode::Read, Mode::Upgradable, Mode::Write] {
            assert_eq!(attempt(mode, RESERVED, (1, QUEUED), NEVER), (true, 1));
            assert_eq!(attempt(mode, RESERVED, (3, QUEUED), NEVER), (true, 3));
            assert_eq!(attempt(mode, RESERVED, (NEVER, 0), NEVER), (false, 4), "nobody has run: it sleeps");
            assert_eq!(attempt(mode, RESERVED, (NEVER, 0), 2), (false, 2), "reserved for it, perhaps");
            assert_eq!(attempt(mode, RESERVED | TASKS, (1, QUEUED), NEVER), (false, 0), "beside tasks");
            assert_eq!(attempt(mode, WRITER | QUEUED, (1, QUEUED), NEVER), (false, 0), "nothing is reserved");
        }
        let upgrading = ONE_READER | WRITER | UPGRADABLE | FAIR;
        assert_eq!(attempt(Mode::Upgrade, upgrading, (1, WRITER | UPGRADABLE), NEVER), (false, 0));
    }

    #[test]
    fn the_word_says_that_tasks_enter_from_the_queue_until_that_is_empty() {
        for mode in [Mode::Read, Mode::Upgradable, Mode::Write] {
            let entered = mode.enter_queued(QUEUED, Kind::Task);
            assert_ne!(entered & TASKS, 0);
            assert_ne!(
                mode.enter_queued(TASKS | QUEUED, Kind::Thread) & TASKS,
                0,
                "there may be other waiters"
            );
            assert_eq!(mode.enter_queued(QUEUED, Kind::Thread) & TASKS, 0);
            assert_eq!(RawRwLock::emptied(entered, mode) & !HOLDERS, 0);
            assert_eq!(RawRwLock::unanswered(entered, false) & !HOLDERS, 0);
        }
        let lock = RawRwLock { state: Masked64::new(WRITER | QUEUED | TASKS), drain: Masked64::new(0) };
        lock.release_write(HoldId::NONE);
        assert_eq!(lock.state.state(), 0, "the release has found the queue empty");
    }

    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("the waker");
        }
    }

    /// A reader bumps for a writer; when it reads again it signals a task behind it, whose waker panics.
    #[test]
    fn a_bump_whose_signal_panics_at_its_end_has_the_lock_again() {
        fn until(condition: impl Fn() -> bool) {
            let start = Instant::now();
            while !condition() {
                assert!(start.elapsed() < Duration::from_secs(60), "waited for a minute");
                thread::yield_now();
            }
        }
        let lock = RawRwLock::new();
        let queued = || Table::global().waiters(&lock.state);
        let (inside, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        assert!(take(&lock, Mode::Read));
        thread::scope(|scope| {
            scope.spawn(|| {
                let Ok(_) = acquire::block::block(&lock, Mode::Write, "");
                inside.store(true, Ordering::SeqCst);
                until(|| queued() == 1);
                let mut behind = pin!(AcquireAsync::new(&lock, Mode::Read));
                let panics = Waker::from(Arc::new(Panics));
                assert!(behind.as_mut().poll(&mut Context::from_waker(&panics)).is_pending());
                lock.release_write(HoldId::NONE);
                until(|| ended.load(Ordering::SeqCst));
                let Poll::Ready(_) = behind.poll(&mut Context::from_waker(Waker::noop())) else {
                    panic!("room")
                };
                lock.release_read(HoldId::NONE);
            });
            until(|| queued() == 1);
            lock.bump(Mode::Read, &mut { HoldId::NONE }, None);
            let readers = lock.state.load(Ordering::SeqCst) / ONE_READER;
            ended.store(true, Ordering::SeqCst);
            assert!(inside.load(Ordering::SeqCst));
            assert_eq!(readers, 1);
        });
        lock.release_read(HoldId::NONE);
        assert!(take(&lock, Mode::Write));
    }
}
