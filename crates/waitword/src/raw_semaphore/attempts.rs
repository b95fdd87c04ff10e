//! The attempts to take permits, barging and queued, and the signals that follow from each.

use waitword_core::observe::WaitsFor;

use crate::acquire::{Acquire, Attempt, Behind, Left, NotTaken, TakenOrMarked};
use crate::handle::Waited;
use crate::holders::Hold;
use crate::raw_semaphore::{
    Closed, FAIR, FLAGS, Masked64, QUEUED, RawSemaphore, SIGNALLED, asked, bits, is_closed, permits,
};
use crate::spins::Pauses;
use crate::sync::atomic::Ordering;
use crate::sync::{mutant, order};

impl Waited for RawSemaphore {
    type At = Masked64<QUEUED>;
    type Ask = usize;

    fn at(&self, _n: usize) -> &Self::At {
        &self.state
    }
}

impl Acquire for RawSemaphore {
    type Closed = Closed;

    fn waits_for(_: usize) -> WaitsFor {
        WaitsFor::Semaphore
    }

    fn hold(_: usize) -> Option<Hold> {
        Some(Hold::Permits)
    }

    #[inline(always)]
    fn permits(n: usize) -> Option<usize> {
        Some(n)
    }

    #[inline(always)]
    fn held_at(&self) -> usize {
        std::ptr::from_ref(&self.state).addr()
    }

    fn admits(&self, n: usize) -> Result<(), Closed> {
        if self.is_closed() {
            return Err(Closed);
        }
        asked(n);
        Ok(())
    }

    #[inline(always)]
    fn take_once(&self, n: usize) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let taken = match bits(n) {
            Some(wanted) if state & FLAGS == 0 => state.checked_sub(wanted),
            _ => None,
        };
        let order = order!(Acquire, "semaphore-take");
        let is_taken = |taken| self.state.compare_exchange(state, taken, order, Ordering::Relaxed).is_ok();
        taken.is_some_and(is_taken)
    }

    #[cold]
    fn take_slow(&self, n: usize) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        while let Some(taken) = take_from(state, n, Attempt::Barging) {
            match self.state.compare_exchange_weak(state, taken, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(other) => state = other,
            }
        }
        false
    }

    fn take_signalled(&self, n: usize) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let order = Ordering::Acquire;
        let is_taken = |taken| self.state.compare_exchange(state, taken, order, Ordering::Relaxed).is_ok();
        take_from(state, n, Attempt::Queued).is_some_and(is_taken)
    }

    fn take_or_mark(&self, n: usize, attempt: Attempt) -> TakenOrMarked<Self> {
        let before = self.update(order!(Acquire, "semaphore-take-or-mark"), |state| {
            match take_from(state, n, attempt) {
                Some(taken) => taken,
                None if is_closed(state) => state,
                None if attempt == Attempt::Barging => state | QUEUED,
                None => state & !FLAGS | QUEUED | FAIR,
            }
        });
        if is_closed(before) {
            return Err(NotTaken::Closed(Closed));
        }
        let marked = NotTaken::Marked { value: QUEUED, behind: behind(before) };
        take_from(before, n, attempt).map(|_| ()).ok_or(marked)
    }

    fn is_reserved(&self, n: usize) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        take_from(state, n, Attempt::Barging).is_none() && take_from(state, n, Attempt::Queued).is_some()
    }

    fn reserve_for_signalled(&self, _n: usize) {
        self.reserve();
    }

    fn take_in_poll(&self, n: usize) -> Option<bool> {
        let state = self.state.load(Ordering::Relaxed);
        // A waiter that took its permits has left `QUEUED` set, though nobody may be queued.
        let others = match state & FLAGS {
            0 => false,
            QUEUED => self.has_waiters(),
            _ => true,
        };
        (!others).then(|| self.take(n))
    }

    fn spin(&self, n: usize, attempt: Attempt, pauses: &mut Pauses) -> bool {
        if attempt == Attempt::Queued {
            self.reserve_for_signalled(n);
        }
        let mut last = self.state.load(Ordering::Relaxed);
        while pauses.pause() {
            let state = self.state.load(Ordering::Relaxed);
            pauses.found(permits(state) != permits(last));
            last = state;
            let taken = match attempt {
                // Closed, or reserved for a waiter that may need this CPU.
                Attempt::Barging if state & FAIR != 0 => return false,
                Attempt::Barging => self.take(n),
                Attempt::Queued => self.take_signalled(n),
            };
            if taken {
                return true;
            }
        }
        false
    }

    const KNOWS_QUEUE: bool = true;

    fn emptied(&self) {
        // Otherwise there is a signal under way, or permits are reserved, or it is closed.
        let is_queued = |state| state & FLAGS == QUEUED;
        if is_queued(self.state.load(Ordering::Relaxed)) {
            self.update(Ordering::Relaxed, |state| if is_queued(state) { state & !QUEUED } else { state });
        }
    }

    fn give_back(&self, n: usize) {
        self.add(n);
    }

    /// The same whether it has its permits or not: permits that are free may be enough for the next waiter.
    fn left(&self, _n: usize, left: Left) {
        mutant!("semaphore-forward" => return self.signal_next());
        if left.was_signalled {
            // `SIGNALLED` may stand for the signal of the waiter that gave up. If it is clear, `RawSemaphore::signal` found no
            // waiter and cleared it, and no flag stands for the waiters behind.
            self.update(Ordering::Relaxed, |state| match is_closed(state) {
                true => state,
                false => state & !SIGNALLED | QUEUED,
            });
        }
        self.signal_next();
    }
}

/// The state after this attempt took its permits. `None` if there are too few, or it may not.
#[inline]
fn take_from(state: u64, n: usize, attempt: Attempt) -> Option<u64> {
    let wanted = bits(n)?;
    let may = match attempt {
        // Zero permits are no competition.
        Attempt::Barging => state & FAIR == 0 || n == 0 && !is_closed(state),
        Attempt::Queued => !is_closed(state),
    };
    let left = (state & !FLAGS).checked_sub(wanted).filter(|_| may)?;
    mutant!("semaphore-queued-bit" => if attempt == Attempt::Queued { return Some(left) });
    Some(match attempt {
        Attempt::Barging => left | state & FLAGS,
        Attempt::Queued => left | QUEUED,
    })
}

/// Of a waiter that has rechecked this state in vain: what is too little for it may be enough for others.
fn behind(state: u64) -> Behind {
    mutant!("semaphore-watchdog" => return Behind::Wait);
    if permits(state) > 0 { Behind::HeldUp } else { Behind::Wait }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;
    use crate::raw_semaphore::MAX_PERMITS;

    #[test]
    fn too_many_permits_are_at_no_time_in_the_word() {
        let semaphore = RawSemaphore::new(MAX_PERMITS);
        let ended = AtomicBool::new(false);
        let (taken, added) = thread::scope(|scope| {
            let adds = |n| {
                let (semaphore, ended) = (&semaphore, &ended);
                scope.spawn(move || {
                    let mut added = false;
                    while !ended.load(Ordering::Relaxed) {
                        added |= semaphore.add(n);
                    }
                    added
                })
            };
            let (one, many) = (adds(2), adds(MAX_PERMITS));
            let taken = (0..50_000).all(|_| semaphore.available() == MAX_PERMITS && semaphore.take(0));
            ended.store(true, Ordering::Relaxed);
            (taken, one.join().unwrap() | many.join().unwrap())
        });
        assert!(taken && !added);
        assert_eq!(semaphore.available(), MAX_PERMITS);
        assert!(semaphore.take(1) && !semaphore.add(2) && semaphore.add(1));
        assert!(!semaphore.add(usize::MAX));
    }
}
