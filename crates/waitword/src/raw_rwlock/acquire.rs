//! The attempts on the word, as the loop of `acquire` makes them.

use std::hint::spin_loop;
use std::mem;

use waitword_core::Masked64;

use crate::acquire::{Acquire, Attempt, GivesBack};
use crate::raw_rwlock::{CALLED, FAIR, FULL, HOLDERS, LINE, Mode, READERS, RawRwLock, UPGRADABLE, WRITER};
use crate::sync::atomic::Ordering;
use crate::sync::{MODEL, broken, order};

/// A thread looks so many times before it sleeps, with twice as many pauses in between each time: for some 5 µs.
const LOOKS: u32 = if MODEL { 1 } else { 7 };

impl Acquire for RawRwLock {
    type At = Masked64<LINE>;
    type Ask = Mode;
    type End = ();
    type Looks = ();

    const TAKEN: () = ();

    fn at(&self, mode: Mode) -> &Self::At {
        match mode {
            Mode::Upgrade => &self.drain,
            _ => &self.state,
        }
    }

    #[inline]
    fn take(&self, mode: Mode) -> bool {
        let state = match mode {
            // Others may read already.
            Mode::Read => self.state.load(Ordering::Relaxed) & ((READERS & !FULL) | UPGRADABLE),
            Mode::Upgradable => self.state.load(Ordering::Relaxed) & READERS,
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
            || self.take_slow(mode)
    }

    fn take_or_mark(&self, mode: Mode, attempt: Attempt) -> Result<(), u64> {
        if mode == Mode::Upgrade && !broken!("rwlock-upgrade") {
            self.drain.store(LINE, Ordering::Relaxed);
        }
        let enters = |state| match attempt {
            Attempt::Barging => mode.is_free_for_all(state),
            Attempt::Queued => mode.has_room(state),
        };
        let mut after = 0;
        // AcqRel: the last reader is to see the store above.
        let before = self.update(order!(AcqRel, "rwlock-take-or-mark"), |state| {
            after = match (attempt, mode) {
                (Attempt::Barging, _) if enters(state) => mode.barge_in(state),
                (Attempt::Queued, _) if enters(state) => mode.enter_from_line(state),
                (_, Mode::Upgrade) => state | WRITER,
                (Attempt::Barging, _) => state | LINE,
                (Attempt::Queued, _) => (state & HOLDERS) | LINE | FAIR,
            };
            after
        });
        if !enters(before) {
            return Err(LINE);
        }
        if attempt == Attempt::Barging {
            self.call_if_owed(mode, before, after);
        }
        Ok(())
    }

    fn take_signalled(&self, mode: Mode) -> bool {
        let enter = |state| mode.has_room(state).then(|| mode.enter_from_line(state));
        self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, enter).is_ok()
    }

    fn is_reserved(&self, mode: Mode) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        mode.has_room(state) && !mode.is_free_for_all(state)
    }

    fn spin(&self, mode: Mode, attempt: Attempt) -> bool {
        if attempt == Attempt::Queued {
            if self.take_signalled(mode) {
                return true;
            }
            if mode != Mode::Upgrade {
                // It is on its way no more, it is here.
                self.state.fetch_or(FAIR, Ordering::Relaxed);
            }
        }
        for look in 0..LOOKS {
            (0..1 << look).for_each(|_| spin_loop());
            let state = self.state.load(Ordering::Relaxed);
            let taken = match attempt {
                // Kept for somebody who may need this CPU.
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

    fn holds_up_others(&self, mode: Mode) -> bool {
        // Readers could get in, if they were not behind this one.
        mode != Mode::Upgrade && Mode::Read.has_room(self.state.load(Ordering::Relaxed))
    }

    fn dequeued(&self, mode: Mode, _was_called: bool) {
        // Whoever writes does when it leaves.
        if mode.enter_from_line(0) & CALLED != 0 && !broken!("rwlock-left") {
            self.call();
        }
    }

    fn give_back(&self, mode: Mode) {
        match mode {
            Mode::Upgrade => self.downgrade_to_upgradable(),
            mode => self.release(mode),
        }
    }

    fn forward(&self, mode: Mode, was_signalled: bool) {
        if broken!("rwlock-pass-on") {
            return;
        }
        if mode == Mode::Upgrade {
            // There is room for readers again.
            return self.make_room(|state| state & !WRITER);
        }
        // It may have been what kept those behind it out; or the one of whom it was said that it was called.
        let must_call = |state| state & WRITER == 0 && (was_signalled || state & (LINE | CALLED) == LINE);
        let before = self.update(Ordering::Relaxed, |state| match state {
            state if must_call(state) => (state & HOLDERS) | CALLED,
            state if was_signalled => (state & HOLDERS) | LINE,
            state => state,
        });
        if must_call(before) {
            self.call();
        }
    }
}

impl RawRwLock {
    #[cold]
    fn take_slow(&self, mode: Mode) -> bool {
        let mut after = 0;
        let enter = |state| {
            mode.is_free_for_all(state).then(|| {
                after = mode.barge_in(state);
                after
            })
        };
        let before = self.state.fetch_update(order!(Acquire, "rwlock-barge"), Ordering::Relaxed, enter);
        before.map(|before| self.call_if_owed(mode, before, after)).is_ok()
    }

    /// Calls the first in line, if whoever got in said that it would.
    #[inline]
    fn call_if_owed(&self, mode: Mode, before: u64, after: u64) {
        if after & !before & CALLED != 0 {
            let unwinding = GivesBack { raw: self, ask: mode };
            self.call();
            mem::forget(unwinding);
        }
    }
}
