//! How one tries to have permits: as a newcomer, called, from the line; and what one owes to the others.

use crate::acquire::{Acquire, Attempt};
use crate::raw_semaphore::{
    CALLED, Closed, FAIR, FLAGS, LINE, Masked64, RawSemaphore, bits, is_closed, permits,
};
use crate::sync::atomic::Ordering;
use crate::sync::{MODEL, broken, order};

/// A thread looks so many times before it sleeps, with twice as many pauses in between each time: for some 5 µs.
const LOOKS: u32 = if MODEL { 1 } else { 7 };

impl Acquire for RawSemaphore {
    type At = Masked64<LINE>;
    type Ask = usize;
    type End = Result<(), Closed>;
    type Looks = ();

    const TAKEN: Self::End = Ok(());

    fn at(&self, _n: usize) -> &Self::At {
        &self.state
    }

    #[inline]
    fn take(&self, n: usize) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let taken = match bits(n) {
            Some(wanted) if state & FLAGS == 0 => state.checked_sub(wanted),
            _ => None,
        };
        let order = order!(Acquire, "semaphore-take");
        let is_taken = |taken| self.state.compare_exchange(state, taken, order, Ordering::Relaxed).is_ok();
        taken.is_some_and(is_taken) || self.take_slow(n)
    }

    fn take_signalled(&self, n: usize) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let order = Ordering::Acquire;
        let is_taken = |taken| self.state.compare_exchange(state, taken, order, Ordering::Relaxed).is_ok();
        take_from(state, n, Attempt::Queued).is_some_and(is_taken)
    }

    fn take_or_mark(&self, n: usize, attempt: Attempt) -> Result<Self::End, u64> {
        let before = self.update(order!(Acquire, "semaphore-take-or-mark"), |state| {
            match take_from(state, n, attempt) {
                Some(taken) => taken,
                None if is_closed(state) => state,
                None if attempt == Attempt::Barging => state | LINE,
                None => state & !FLAGS | LINE | FAIR,
            }
        });
        if is_closed(before) {
            Ok(Err(Closed))
        } else {
            take_from(before, n, attempt).map(|_| Ok(())).ok_or(LINE)
        }
    }

    fn is_reserved(&self, n: usize) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        take_from(state, n, Attempt::Barging).is_none() && take_from(state, n, Attempt::Queued).is_some()
    }

    fn spin(&self, n: usize, attempt: Attempt) -> bool {
        if attempt == Attempt::Queued {
            // It is on its way no more, it is here.
            self.keep_for_who_was_called();
        }
        for look in 0..LOOKS {
            (0..1 << look).for_each(|_| std::hint::spin_loop());
            let taken = match attempt {
                // Closed, or kept for somebody who may need this CPU.
                Attempt::Barging if self.state.load(Ordering::Relaxed) & FAIR != 0 => return false,
                Attempt::Barging => self.take(n),
                Attempt::Queued => self.take_signalled(n),
            };
            if taken {
                return true;
            }
        }
        false
    }

    fn holds_up_others(&self, _n: usize) -> bool {
        permits(self.state.load(Ordering::Relaxed)) > 0 && !broken!("semaphore-ask")
    }

    fn dequeued(&self, n: usize, was_signalled: bool) {
        self.forward(n, was_signalled);
    }

    fn give_back(&self, n: usize) {
        self.add(n);
    }

    fn forward(&self, _n: usize, was_signalled: bool) {
        if was_signalled && !broken!("semaphore-pass-on") {
            // The call that it had may be the one that the word knows of. And if the word knows of none, somebody who found
            // nobody to call has taken that for his own (`RawSemaphore::call`), and nobody knows of those behind.
            self.update(Ordering::Relaxed, |state| match is_closed(state) {
                true => state,
                false => state & !CALLED | LINE,
            });
        }
        self.call_next();
    }
}

impl RawSemaphore {
    /// The attempt of a newcomer, if the first try was in vain.
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
}

/// The state after one has taken its permits who may and finds enough.
#[inline]
fn take_from(state: u64, n: usize, attempt: Attempt) -> Option<u64> {
    let wanted = bits(n)?;
    let may = match attempt {
        // Who wants nothing stands in nobody's way.
        Attempt::Barging => state & FAIR == 0 || n == 0 && !is_closed(state),
        Attempt::Queued => !is_closed(state),
    };
    let left = (state & !FLAGS).checked_sub(wanted).filter(|_| may)?;
    Some(match attempt {
        Attempt::Barging => left | state & FLAGS,
        Attempt::Queued if broken!("semaphore-line") => left,
        Attempt::Queued => left | LINE,
    })
}
