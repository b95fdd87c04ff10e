//! The attempts of the acquisition loop on the word, and what a waiter does that leaves without the mutex.

use std::convert::Infallible;

use waitword_core::observe::WaitsFor;
use waitword_core::{Masked, Table};

use crate::acquire::{Acquire, Attempt, Behind, Left, NotTaken, TakenOrMarked};
use crate::handle::Waited;
use crate::holders::{Hold, HoldId};
use crate::raw_mutex::{
    CLOSE, COUNT, END, FAIR, KEPT, LOCKED, ONE_THREAD, QUEUED, RESERVED, RawMutex, SIGNALLED, TASKS,
    is_free_for_waiters,
};
use crate::spins::{Pauses, yield_while};
use crate::sync::atomic::Ordering;
use crate::sync::{MODEL, mutant, order};

/// A spinning thread that has seen this many releases without getting the lock enqueues if there are waiters: its rechecks slow the holders
/// down by more than its acquisition would gain.
const RELEASES_TO_SEE: u32 = 3;

/// A thread yields if this many waiters are queued, itself included. A shorter queue soon empties if its threads sleep, and then nobody
/// waits for a window (`docs/costs.md`); perhaps because the system prefers threads that wake up.
const ENOUGH_TO_YIELD: usize = if MODEL { 1 } else { 5 };

impl Waited for RawMutex {
    type At = Masked<QUEUED>;
    type Ask = ();

    fn at(&self, (): ()) -> &Self::At {
        &self.state
    }
}

impl Acquire for RawMutex {
    type Closed = Infallible;

    fn waits_for((): ()) -> WaitsFor {
        WaitsFor::Mutex
    }

    fn hold((): ()) -> Option<Hold> {
        Some(Hold::Mutex)
    }

    #[inline(always)]
    fn held_at(&self) -> usize {
        std::ptr::from_ref(&self.state).addr()
    }

    #[inline]
    fn take_once(&self, (): ()) -> bool {
        self.state.fetch_or(LOCKED, order!(Acquire, "mutex-take")) & LOCKED == 0
    }

    fn take_signalled(&self, (): ()) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let take = |state| {
            self.state.compare_exchange(state, taken_from_queue(state), Ordering::Acquire, Ordering::Relaxed)
        };
        is_free_for_waiters(state) && take(state).is_ok()
    }

    fn take_or_mark(&self, (): (), attempt: Attempt) -> TakenOrMarked<Self> {
        let is_free = |state| match attempt {
            Attempt::Barging => state & LOCKED == 0,
            Attempt::Queued => is_free_for_waiters(state),
        };
        // Held and marked: the mark would change nothing. If it is released meanwhile, the wait finds that out under the
        // lock of its queue, as it does after a mark.
        let is_marked = |state| state & (LOCKED | QUEUED) == LOCKED | QUEUED;
        if attempt == Attempt::Barging && is_marked(self.state.load(Ordering::Relaxed)) {
            return Err(NotTaken::Marked { value: QUEUED, behind: Behind::Wait });
        }
        let before = self.update(order!(Acquire, "mutex-take-or-mark"), |state| match attempt {
            Attempt::Barging if is_free(state) => state | LOCKED,
            Attempt::Barging => state | QUEUED,
            Attempt::Queued if is_free(state) => taken_from_queue(state),
            Attempt::Queued => taken_from_queue(state) | CLOSE,
        });
        if is_free(before) { Ok(()) } else { Err(NotTaken::Marked { value: QUEUED, behind: Behind::Wait }) }
    }

    fn take_before_park(&self, (): (), is_signalled: impl Fn() -> bool) -> bool {
        // Tasks get nothing of what threads take this way: a worker sleeps once its tasks are queued.
        if self.state.load(Ordering::Relaxed) & (RESERVED | TASKS) != RESERVED
            || Table::global().waiters(&self.state) < ENOUGH_TO_YIELD
        {
            return false;
        }
        yield_while(|| self.is_reserved(()), is_signalled)
            && self.spin((), Attempt::Barging, &mut Pauses::new())
    }

    fn take_after_all(&self, (): ()) -> bool {
        self.is_free() && self.take(())
    }

    fn taken_by(&self, is_task: bool) {
        // Only the holder changes these bits. Among waiters of one kind they stay as they are.
        match self.state.load(Ordering::Relaxed) & TASKS {
            TASKS if is_task => {}
            _ if is_task => drop(self.state.fetch_or(TASKS, Ordering::Relaxed)),
            0 => {}
            _ => drop(self.state.fetch_sub(ONE_THREAD, Ordering::Relaxed)),
        }
    }

    fn is_reserved(&self, (): ()) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        state & LOCKED != 0 && is_free_for_waiters(state)
    }

    fn reserve_for_signalled(&self, (): ()) {
        // Close the barging window.
        self.state.fetch_or(CLOSE, Ordering::Relaxed);
    }

    fn take_in_poll(&self, (): ()) -> Option<bool> {
        let state = self.state.load(Ordering::Relaxed);
        (state & (QUEUED | SIGNALLED | RESERVED) == 0).then(|| state & LOCKED == 0 && self.take(()))
    }

    fn spin(&self, (): (), attempt: Attempt, pauses: &mut Pauses) -> bool {
        if attempt == Attempt::Queued {
            if self.take_signalled(()) {
                return true;
            }
            self.reserve_for_signalled(());
        }
        let first = self.state.load(Ordering::Relaxed);
        let mut last = first;
        while pauses.pause() {
            let state = self.state.load(Ordering::Relaxed);
            pauses.found(state & COUNT != last & COUNT);
            last = state;
            let taken = match attempt {
                // Reserved, or about to be, for a waiter that may need this CPU.
                Attempt::Barging if state & (FAIR | RESERVED) != 0 => return false,
                Attempt::Barging
                    if state & (QUEUED | SIGNALLED) != 0 && releases(first, state) >= RELEASES_TO_SEE =>
                {
                    return false;
                }
                Attempt::Barging => state & LOCKED == 0 && self.take(()),
                Attempt::Queued => self.take_signalled(()),
            };
            if taken {
                return true;
            }
        }
        false
    }

    const KNOWS_QUEUE: bool = true;

    fn emptied(&self) {
        self.state.fetch_and(!QUEUED, Ordering::Relaxed);
    }

    fn give_back(&self, (): ()) {
        self.release(HoldId::NONE);
    }

    fn left(&self, (): (), left: Left) {
        mutant!("mutex-forward" => return);
        // A holder that came from the queue signals when it releases.
        if left.holds || !left.was_signalled {
            return;
        }
        // If the mutex is held, its release signals.
        let before = self.update(Ordering::Relaxed, |state| match state {
            _ if is_free_for_waiters(state) => state & !(QUEUED | END) | SIGNALLED,
            _ => taken_from_queue(state),
        });
        if is_free_for_waiters(before) {
            self.signal();
        }
    }
}

/// The number of releases between the two states, modulo 256, while the count was not filled.
fn releases(from: u32, to: u32) -> u32 {
    to.wrapping_sub(from) & COUNT
}

/// The state once a queued waiter has taken the mutex. There may be other waiters, so the release has to signal.
fn taken_from_queue(state: u32) -> u32 {
    mutant!("mutex-queued-bit" => return (state & KEPT) | LOCKED);
    (state & KEPT) | LOCKED | QUEUED
}
