//! The attempts of the acquisition loop on the word.

use std::convert::Infallible;

use waitword_core::observe::WaitsFor;
use waitword_core::{Masked64, signal_past};

use crate::acquire::{Acquire, Attempt, Left, NotTaken, TakenOrMarked};
use crate::handle::Waited;
use crate::holders::{Change, Hold, HoldId, changed, not_kept};
use crate::raw_rwlock::{
    FAIR, FULL, HOLDERS, KEPT, Mode, QUEUED, READERS, RawRwLock, SIGNALLED, TASKS, UPGRADABLE, WAITED, WRITER,
};
use crate::spins::{Pauses, yield_while};
use crate::sync::atomic::Ordering;
use crate::sync::{mutant, order};

impl Waited for RawRwLock {
    type At = Masked64<WAITED>;
    type Ask = Mode;

    fn at(&self, mode: Mode) -> &Self::At {
        match mode {
            Mode::Upgrade => &self.drain,
            _ => &self.state,
        }
    }
}

impl Acquire for RawRwLock {
    type Closed = Infallible;

    fn waits_for(mode: Mode) -> WaitsFor {
        match mode {
            Mode::Read => WaitsFor::Read,
            Mode::Write => WaitsFor::Write,
            Mode::Upgradable => WaitsFor::UpgradableRead,
            Mode::Upgrade => WaitsFor::Upgrade,
        }
    }

    fn hold(mode: Mode) -> Option<Hold> {
        match mode {
            Mode::Read => Some(Hold::Read),
            Mode::Upgradable => Some(Hold::UpgradableRead),
            Mode::Write => Some(Hold::Write),
            // It has the record of the upgradable read, which its guard changes.
            Mode::Upgrade => None,
        }
    }

    #[inline(always)]
    fn held_at(&self) -> usize {
        std::ptr::from_ref(&self.state).addr()
    }

    #[inline(always)]
    fn take_once(&self, mode: Mode) -> bool {
        let state = match mode {
            // Readers may be inside already.
            Mode::Read => self.state.load(Ordering::Relaxed) & ((READERS & !FULL) | UPGRADABLE),
            Mode::Upgradable => self.state.load(Ordering::Relaxed) & READERS & !FULL,
            Mode::Write => 0,
            Mode::Upgrade => UPGRADABLE,
        };
        self.state
            .compare_exchange_weak(
                state,
                mode.enter(state),
                order!(Acquire, "rwlock-take"),
                Ordering::Relaxed,
            )
            .is_ok()
    }

    #[cold]
    fn take_slow(&self, mode: Mode) -> bool {
        let mut after = 0;
        let enter = |state| {
            mode.allows_barging(state).then(|| {
                after = mode.enter_barging(state);
                after
            })
        };
        let before = self.state.fetch_update(order!(Acquire, "rwlock-barge"), Ordering::Relaxed, enter);
        before.map(|before| self.signal_if_owed(before, after)).is_ok()
    }

    fn take_or_mark(&self, mode: Mode, attempt: Attempt) -> TakenOrMarked<Self> {
        if mode == Mode::Upgrade {
            self.begin_drain();
        }
        let enters = |state| match attempt {
            Attempt::Barging => mode.allows_barging(state),
            Attempt::Queued => mode.has_room(state),
        };
        let mut after = 0;
        // AcqRel: the last reader has to see the store of `begin_drain`.
        let before = self.update(order!(AcqRel, "rwlock-take-or-mark"), |state| {
            after = match (attempt, mode) {
                (Attempt::Barging, _) if enters(state) => mode.enter_barging(state),
                (Attempt::Queued, _) if enters(state) => mode.enter_queued(state),
                (_, Mode::Upgrade) => state | WRITER,
                (Attempt::Barging, _) => mode.enqueue(state),
                (Attempt::Queued, _) => mode.wait_on(state),
            };
            after
        });
        if !enters(before) {
            let value = if mode == Mode::Upgrade { QUEUED } else { after & WAITED };
            return Err(NotTaken::Marked { value, behind: mode.behind(before) });
        }
        if attempt == Attempt::Barging {
            self.signal_if_owed(before, after);
        }
        Ok(())
    }

    fn take_signalled(&self, mode: Mode) -> bool {
        let enter = |state| mode.has_room(state).then(|| mode.enter_queued(state));
        self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, enter).is_ok()
    }

    fn take_before_park(&self, mode: Mode, is_signalled: impl Fn() -> bool) -> bool {
        // An upgrade waits for the readers, and for no queue.
        if mode == Mode::Upgrade || self.state.load(Ordering::Relaxed) & (FAIR | TASKS) != FAIR {
            return false;
        }
        let is_reserved = || self.state.load(Ordering::Relaxed) & FAIR != 0;
        yield_while(is_reserved, is_signalled) && self.spin(mode, Attempt::Barging, &mut Pauses::new())
    }

    fn taken_by(&self, is_task: bool) {
        // Without waiters nobody would clear the bit again.
        let is_due = |state| state & TASKS == 0 && state & (QUEUED | SIGNALLED) != 0;
        if is_task && is_due(self.state.load(Ordering::Relaxed)) {
            self.update(Ordering::Relaxed, |state| if is_due(state) { state | TASKS } else { state });
        }
    }

    fn is_reserved(&self, mode: Mode) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        mode.has_room(state) && !mode.allows_barging(state)
    }

    fn reserve_for_signalled(&self, mode: Mode) {
        // An upgrade keeps readers out by itself, and competes with no queue.
        if mode != Mode::Upgrade {
            self.state.fetch_or(FAIR, Ordering::Relaxed);
        }
    }

    fn take_in_poll(&self, mode: Mode) -> Option<bool> {
        let state = self.state.load(Ordering::Relaxed);
        (state & (QUEUED | SIGNALLED | FAIR) == 0).then(|| mode.has_room(state) && self.take_slow(mode))
    }

    fn spin(&self, mode: Mode, attempt: Attempt, pauses: &mut Pauses) -> bool {
        if attempt == Attempt::Queued {
            if self.take_signalled(mode) {
                return true;
            }
            self.reserve_for_signalled(mode);
        }
        let mut last = self.state.load(Ordering::Relaxed);
        while pauses.pause() {
            let state = self.state.load(Ordering::Relaxed);
            pauses.found(state & HOLDERS != last & HOLDERS);
            last = state;
            let taken = match attempt {
                // Reserved for a waiter that may need this CPU.
                Attempt::Barging if state & FAIR != 0 => return false,
                Attempt::Barging => mode.has_room(state) && self.take_slow(mode),
                Attempt::Queued => mode.has_room(state) && self.take_signalled(mode),
            };
            if taken {
                return true;
            }
        }
        false
    }

    fn give_back(&self, mode: Mode) {
        match mode {
            Mode::Read => self.release_read(HoldId::NONE),
            Mode::Upgradable => self.release_upgradable(HoldId::NONE),
            Mode::Write => self.release_write(HoldId::NONE),
            Mode::Upgrade => self.downgrade_to_upgradable(HoldId::NONE),
        }
    }

    fn signal_past(&self) {
        mutant!("rwlock-signal-past" => { signal_past(&self.state); return });
        self.update(Ordering::Relaxed, |state| (state & KEPT) | SIGNALLED);
        self.signal_by(|at| signal_past(at));
    }

    fn left(&self, mode: Mode, left: Left) {
        if left.holds {
            mutant!("rwlock-signal-next" => return);
            // A writer signals the next waiter when it releases.
            if mode.enter_queued(0) & SIGNALLED != 0 {
                self.signal();
            }
            return;
        }
        mutant!("rwlock-forward" => return);
        if mode == Mode::Upgrade {
            // Readers have room again, whom the holder has kept out.
            changed(self.held_at(), Hold::UpgradableRead, not_kept(), Change::To(Hold::UpgradableRead));
            return self.make_room(|state| state & !WRITER);
        }
        // The waiter that gave up may have blocked the waiters behind it, or have had the signal that `SIGNALLED` stands for.
        let was_signalled = left.was_signalled;
        let must_signal =
            |state| state & WRITER == 0 && (was_signalled || state & (QUEUED | SIGNALLED) == QUEUED);
        let before = self.update(Ordering::Relaxed, |state| match state {
            state if must_signal(state) => (state & KEPT) | SIGNALLED,
            state if was_signalled => (state & KEPT) | QUEUED,
            state => state,
        });
        if must_signal(before) {
            self.signal();
        }
    }
}

impl RawRwLock {
    /// Signals the head waiter if the transition set `SIGNALLED`: then it has to.
    #[inline]
    fn signal_if_owed(&self, before: u64, after: u64) {
        if after & !before & SIGNALLED != 0 {
            self.signal();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::raw_rwlock::ONE_READER;

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
        (lock.take_before_park(mode, is_signalled), yields.get())
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
        let lock = RawRwLock::new();
        let after = |state, is_task| {
            lock.state.store(state, Ordering::Relaxed);
            lock.taken_by(is_task);
            lock.state.load(Ordering::Relaxed)
        };
        assert_eq!(after(WRITER | QUEUED, true), WRITER | QUEUED | TASKS);
        assert_eq!(after(ONE_READER | SIGNALLED, true), ONE_READER | SIGNALLED | TASKS);
        assert_eq!(after(WRITER | QUEUED, false), WRITER | QUEUED);
        assert_eq!(after(WRITER | QUEUED | TASKS, false), WRITER | QUEUED | TASKS);
        assert_eq!(after(ONE_READER, true), ONE_READER, "it would never go again");

        for mode in [Mode::Read, Mode::Upgradable, Mode::Write] {
            assert_ne!(mode.enter_queued(TASKS | QUEUED) & TASKS, 0, "there may be other waiters");
        }
        lock.state.store(WRITER | QUEUED | TASKS, Ordering::Relaxed);
        lock.release_write(HoldId::NONE);
        assert_eq!(lock.state.load(Ordering::Relaxed), 0, "the release has found the queue empty");
    }
}
