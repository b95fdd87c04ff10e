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
//! | pace         | with `QUEUED` or `SIGNALLED`: how far the barging window is used up (`barging_window.rs`)     |
//! | readers      | number of readers, without the upgradable one                                                 |
//!
//! There is *room* for a reader while there is no `WRITER`; for an upgradable reader while there is no `UPGRADABLE` either; for
//! a writer while there are no readers besides.
//!
//! |                        | room                                   | room, but `FAIR`       | no room                    |
//! |------------------------|----------------------------------------|------------------------|----------------------------|
//! | barging acquirer       | enters; + pace if waiters are queued   | + `QUEUED`: enqueue    | + `QUEUED`: enqueue        |
//! | barging reader, `PASS` | enters                                 | enters                 | – `PASS FAIR`, + `QUEUED`: enqueue |
//! | signalled writer       | → `WRITER QUEUED`                      | → `WRITER QUEUED`      | → `QUEUED FAIR`: wait on   |
//! | signalled reader       | enters, → `SIGNALLED`: signal the next | the same               | → `QUEUED FAIR`: wait on   |
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
//! (`barging_window.rs`); at its end `FAIR` is set all the same, so no writer and no reader starves.
//!
//! # Waiting for an upgradable reader
//! An upgradable reader may wait for another one that plain readers need not wait for. They go past it, those behind it in the queue, too:
//! the other one may be waiting for them. So a signalled upgradable reader that finds `UPGRADABLE` without `WRITER` becomes one that
//! signals go past (`WaitAsync::let_pass`), and signals the first waiter behind that is not. It keeps its position, and the release of the
//! upgradable reader signals it.
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
//! Another waiter may have come meanwhile: B looks once more, as the signal may have found nobody yet. If nobody else is queued, B sets
//! `PASS` again, and whoever was about to enqueue attempts it anew.
//!
//! W ends `PASS` because readers that pass are not counted, so that they need not wake B at the end of each window. What `FAIR` has reserved
//! for B ends with it: W may be a task that is not polled, and no signal would be under way that the watchdog could repeat behind W.
//!
//! With `UPGRADABLE`, the last plain reader signals nobody: all queued waiters wait for the upgradable one, too, or go past it.
//!
//! # Yields
//! While room is reserved, every running thread finds that, and would sleep, even where the reservation waits for a reader that was
//! preempted. So a queued thread first yields a few times, in its position, and barges if the reservation has ended meanwhile. Not beside
//! tasks: they get nothing of what threads take by yielding.
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
//! A signal that T gets meanwhile goes to the next waiter, as when T gives up.
//!
//! # Upgrades
//! The upgrading holder sets `WRITER`, which keeps others out, and waits for the readers on a word of its own (`drain`). In the
//! queue of the state word it would deadlock: the waiters there wait for it. There is one upgradable holder at most, so nothing
//! can be taken from it while it is woken.
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

mod attempts;
mod fair;
mod mode;

use waitword_core::{Masked64, charge_release, signal_one};

use crate::acquire::{self, Acquire as _};
use crate::holders::{Change, Hold, HoldId, changed, released, tells_its_drop};
use crate::sync::atomic::{Ordering, fence};
use crate::sync::{const_fn, mutant, order, update};

pub(crate) use mode::Mode;
use mode::*;

/// The state of a readers-writer lock.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct RawRwLock {
    state: Masked64<WAITED>,
    /// The word on which the upgrading holder waits for the readers to leave. `QUEUED` while it waits.
    drain: Masked64<WAITED>,
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

    /// Whether it is held for writing.
    pub(crate) fn is_written(&self) -> bool {
        self.state.load(Ordering::Relaxed) & (WRITER | UPGRADABLE) == WRITER
    }

    /// Whether it is held, in any mode.
    pub(crate) fn is_held(&self) -> bool {
        self.state.load(Ordering::Relaxed) & HOLDERS != 0
    }

    /// Enters as a reader past queued writers, unless it is held for writing. A holder that reads again must not queue behind them.
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
            // The queued waiters wait for this one, too, which signals them when it leaves.
            UPGRADABLE => return,
            _ => {}
        }
        mutant!("rwlock-drain-fence" => return self.end_drain());
        // Orders the store in `end_drain` after that in `begin_drain`, which came before `WRITER`.
        fence(Ordering::Acquire);
        self.end_drain();
    }

    /// The upgrading holder is about to set `WRITER`, and to wait for the readers to leave.
    fn begin_drain(&self) {
        mutant!("rwlock-upgrade" => return);
        self.drain.store(QUEUED, Ordering::Relaxed);
    }

    /// The last reader has left, and the upgrading holder can go on.
    fn end_drain(&self) {
        mutant!("rwlock-drain" => { signal_one(&self.drain); return });
        self.drain.store(0, Ordering::Relaxed);
        charge_release(&self.drain, std::ptr::from_ref(&self.state).addr());
        signal_one(&self.drain);
    }

    /// Applies `change`, which makes room, and signals the head waiter if there is room and no signal is pending.
    #[cold]
    #[inline(never)]
    fn make_room(&self, change: impl Fn(u64) -> u64) {
        let must_signal = |state| state & (QUEUED | SIGNALLED | WRITER) == QUEUED;
        let before = self.update(order!(Release, "rwlock-make-room"), |state| match change(state) {
            state if must_signal(state) => state ^ (QUEUED | SIGNALLED),
            state => state,
        });
        mutant!("rwlock-signal" => return);
        if must_signal(change(before)) {
            charge_release(&self.state, std::ptr::from_ref(&self.state).addr());
            self.signal();
        }
    }

    /// Signals the head waiter. The caller has cleared `QUEUED` and set `SIGNALLED`.
    #[cold]
    pub(crate) fn signal(&self) {
        self.signal_by(|at| signal_one(at));
    }

    pub(super) fn signal_by(&self, signal: impl Fn(&Masked64<WAITED>) -> usize) {
        while signal(&self.state) == 0 {
            // The queue has no waiter to signal. One may have enqueued since, relying on the signal already sent.
            let must_signal = |state| state & (QUEUED | WRITER) == QUEUED;
            let before = self.update(Ordering::Relaxed, |state| {
                mutant!("rwlock-clear-signalled" => return (state & HOLDERS) | SIGNALLED);
                match must_signal(state) {
                    true => (state & KEPT) | SIGNALLED,
                    false if state & QUEUED != 0 => state & (KEPT | QUEUED),
                    false => state & HOLDERS,
                }
            });
            mutant!("rwlock-signal-again" => break);
            if !must_signal(before) {
                break;
            }
        }
    }

    update!(u64);
}

tells_its_drop! { RawRwLock: this => this.held_at(), this.is_held() }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquire::Acquire;

    #[test]
    fn one_reader_too_many_panics_and_changes_nothing() {
        let lock = RawRwLock { state: Masked64::new(FULL - ONE_READER), drain: Masked64::new(0) };
        assert!(lock.take(Mode::Read), "the last one");
        let one_too_many: [fn(&RawRwLock); 3] = [
            |lock| assert!(lock.take(Mode::Read)),
            |lock| assert!(lock.read_recursive()),
            // The upgradable reader could become a reader.
            |lock| assert!(lock.take(Mode::Upgradable)),
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
        assert!(lock.take(Mode::Upgradable) && lock.take(Mode::Read));
        lock.downgrade_upgradable(HoldId::NONE);
        assert_eq!(lock.state.load(Ordering::Relaxed), FULL + ONE_READER);
        lock.release_read(HoldId::NONE);
        assert_eq!(lock.state.load(Ordering::Relaxed), FULL);
    }
}
