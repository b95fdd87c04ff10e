//! The mutex as a word, and everything that ever happens to it. No data, no waiting.
//!
//! | bits     | mean                                                                                                |
//! |----------|-----------------------------------------------------------------------------------------------------|
//! | `LOCKED` | somebody holds it                                                                                   |
//! | `LINE`   | somebody may be in line whom nobody has called: who releases it has to                              |
//! | `CALLED` | somebody was called and has not answered: who releases it need not call                             |
//! | `FAIR`   | it is for those in line only                                                                        |
//! | pace     | with `CALLED`: how long the first in line has been overtaken (`pace.rs`)                            |
//!
//! |                       | free                        | free, `FAIR`               | `LOCKED`                          |
//! |-----------------------|-----------------------------|----------------------------|-----------------------------------|
//! | newcomer              | + `LOCKED`: taken           | + `LINE`: get in line      | + `LINE`: get in line             |
//! | who was called        | → `LOCKED LINE`: taken      | → `LOCKED LINE`: taken     | → `LOCKED LINE FAIR`: stay in line |
//! | release, not `CALLED` | –                           | –                          | - `LOCKED LINE`, + `CALLED`: call |
//! | release, `CALLED`     | –                           | –                          | - `LOCKED`; + `FAIR` if it is time |
//!
//! Nobody waits for the whole word, only for `LINE` to be taken back: whoever does that calls the first in line afterwards.
//! So the other bits may change a thousand times while somebody gets in line.
//!
//! # How long the first in line can be overtaken
//! To hand a lock over in turn costs a change of threads for each critical section; to let everybody barge in starves
//! somebody. Here a release lets the lock go free and calls the first in line, who keeps its place. Until it comes, whoever
//! runs takes the lock again, at the cost of an uncontended one and with no wake on the way.
//!
//! ```text
//!   first in line                 who runs
//!   ─────────────────────         ──────────────────────────────────────────────
//!                                 LOCKED LINE → CALLED; call
//!   (on its way)                  CALLED → LOCKED CALLED → CALLED → LOCKED CALLED ...
//!   comes, finds LOCKED:
//!   + FAIR; spins                 LOCKED CALLED FAIR → CALLED FAIR
//!   → LOCKED LINE                 (newcomers get in line)
//! ```
//! If it does not come for a while (see `pace.rs`), perhaps for want of a CPU, the lock is kept for it: those who run find it
//! taken, get in line and sleep, and there is a CPU. So one who is called is overtaken for that long, and once more by the one
//! whom it finds inside; and those behind it have the same said to them in their turn.
//!
//! # Who is called and never comes
//! A task that nobody polls keeps its place, and is passed over: whoever takes the lock from the line calls the next one when
//! it is released. That next one is called by the table's sweep at the latest (`call.rs` of the core).

use waitword_core::{Masked, call_one};

use crate::acquire::{Acquire, Place};
use crate::pace;
use crate::sync::atomic::Ordering;
use crate::sync::{MODEL, broken, const_fn, order};

const LOCKED: u32 = 1;
const LINE: u32 = 1 << 1;
const CALLED: u32 = 1 << 2;
const FAIR: u32 = 1 << 3;
const PACE_SHIFT: u32 = u32::BITS - pace::BITS;
const PACE: u32 = !0 << PACE_SHIFT;

/// A thread looks so many times before it sleeps, with twice as many pauses in between each time: for some 5 µs.
const LOOKS: u32 = if MODEL { 1 } else { 7 };

/// The state word of a mutex.
#[derive(Debug, Default)]
pub struct RawMutex {
    state: Masked<LINE>,
}

impl RawMutex {
    const_fn! {
        pub(crate) const fn new() -> Self {
            Self { state: Masked::new(0) }
        }
    }

    pub(crate) fn is_locked(&self) -> bool {
        self.state.load(Ordering::Relaxed) & LOCKED != 0
    }

    /// Releases it. The caller holds it.
    #[inline]
    pub(crate) fn release(&self) {
        if self
            .state
            .compare_exchange(LOCKED, 0, order!(Release, "mutex-release"), Ordering::Relaxed)
            .is_err()
        {
            self.release_slow(0);
        }
    }

    /// Releases it for those in line only, if there are any.
    #[inline]
    pub(crate) fn release_fair(&self) {
        if self
            .state
            .compare_exchange(LOCKED, 0, order!(Release, "mutex-release"), Ordering::Relaxed)
            .is_err()
        {
            self.release_slow(FAIR);
        }
    }

    #[cold]
    fn release_slow(&self, fair: u32) {
        // Only the holder takes `LOCKED` away; others add to it.
        let before = self.update(order!(Release, "mutex-release-slow"), |state| match state & CALLED {
            0 => CALLED | (state & FAIR) | fair,
            _ => overtaken(state & !LOCKED) | fair,
        });
        if before & CALLED == 0 && !broken!("mutex-call") {
            self.call();
        }
    }

    /// Calls the first in line. The caller has taken `LINE` back and set `CALLED`.
    fn call(&self) {
        while call_one(&self.state) == 0 {
            // Nobody is there to answer. But somebody may have got in line meanwhile, counting on the one who was called.
            let is_free_for_line = |state| state & (LOCKED | LINE) == LINE;
            let before = self.update(Ordering::Relaxed, |state| {
                if is_free_for_line(state) || broken!("mutex-call-answered") {
                    CALLED
                } else {
                    state & (LOCKED | LINE)
                }
            });
            if !is_free_for_line(before) || broken!("mutex-call-again") {
                break;
            }
        }
    }

    /// One attempt of a newcomer. The state is what it was when that failed.
    #[inline]
    fn take_if_free_for_all(&self, state: u32) -> bool {
        state & (LOCKED | FAIR) == 0
            && self
                .state
                .compare_exchange(state, state | LOCKED, order!(Acquire, "mutex-barge"), Ordering::Relaxed)
                .is_ok()
    }

    /// Returns what it was before.
    #[inline]
    fn update(&self, order: Ordering, change: impl Fn(u32) -> u32) -> u32 {
        let change = |state| Some(change(state));
        self.state.fetch_update(order, Ordering::Relaxed, change).unwrap_or_else(|state| state)
    }
}

/// The state after one more release while somebody is called.
fn overtaken(state: u32) -> u32 {
    let (pace, is_last) = pace::overtaken(state >> PACE_SHIFT);
    (state & !PACE) | (pace << PACE_SHIFT) | if is_last { FAIR } else { 0 }
}

impl Acquire for RawMutex {
    type At = Masked<LINE>;
    type Ask = ();
    type End = ();
    type Looks = ();

    const TAKEN: () = ();

    fn at(&self, (): ()) -> &Self::At {
        &self.state
    }

    #[inline]
    fn take(&self, (): ()) -> bool {
        match self.state.compare_exchange(0, LOCKED, order!(Acquire, "mutex-take"), Ordering::Relaxed) {
            Ok(_) => true,
            Err(state) => self.take_if_free_for_all(state),
        }
    }

    fn take_called(&self, (): ()) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let taken = if broken!("mutex-line") { LOCKED } else { LOCKED | LINE };
        state & LOCKED == 0
            && self.state.compare_exchange(state, taken, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn take_or_mark(&self, (): (), place: Place) -> Result<(), u32> {
        let is_free = |state| match place {
            Place::New => state & (LOCKED | FAIR) == 0,
            Place::Line => state & LOCKED == 0,
        };
        let before = self.update(order!(Acquire, "mutex-take-or-mark"), |state| match place {
            Place::New if is_free(state) => state | LOCKED,
            Place::New => state | LINE,
            Place::Line if is_free(state) => LOCKED | LINE,
            Place::Line => LOCKED | LINE | FAIR,
        });
        if is_free(before) { Ok(()) } else { Err(LINE) }
    }

    fn spin(&self, (): (), place: Place) -> bool {
        if place == Place::Line {
            // It is on its way no more, it is here.
            self.state.fetch_or(FAIR, Ordering::Relaxed);
        }
        for look in 0..LOOKS {
            (0..1 << look).for_each(|_| std::hint::spin_loop());
            let state = self.state.load(Ordering::Relaxed);
            let taken = match place {
                // Kept for somebody who may need this CPU.
                Place::New if state & FAIR != 0 => return false,
                Place::New => self.take_if_free_for_all(state),
                Place::Line => self.take_called(()),
            };
            if taken {
                return true;
            }
        }
        false
    }

    fn pass_on(&self, (): (), was_called: bool) {
        if !was_called {
            return;
        }
        if broken!("mutex-pass-on") {
            return;
        }
        // If it is held, its release calls somebody; what was said of the one who leaves holds for the next one then.
        let before = self.update(Ordering::Relaxed, |state| match state & LOCKED {
            0 => CALLED,
            _ => LOCKED | LINE,
        });
        if before & LOCKED == 0 {
            self.call();
        }
    }
}
