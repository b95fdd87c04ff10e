//! The mutex as a word, and everything that ever happens to it. No data, no waiting.
//!
//! | bits     | mean                                                                                                  |
//! |----------|-------------------------------------------------------------------------------------------------------|
//! | `LOCKED` | not for newcomers: somebody holds it, or it is kept                                                   |
//! | `LINE`   | somebody may be in line whom nobody has called: who releases it has to                                |
//! | `CALLED` | somebody was called and has not answered: who releases it need not call                               |
//! | `FAIR`   | who releases it keeps it for those in line                                                            |
//! | `KEPT`   | with `LOCKED`: nobody holds it, and it is for those in line only                                      |
//! | end      | with `CALLED`: when those who barge in have had their time (zero: not yet known)                      |
//! | count    | how often it was released, all in all; the lowest bits of that                                        |
//!
//! |                           | free                          | held                                | kept                      |
//! |---------------------------|-------------------------------|-------------------------------------|---------------------------|
//! | newcomer                  | + `LOCKED`: taken             | + `LINE`: get in line               | + `LINE`: get in line     |
//! | who was called            | → `LOCKED LINE`: taken        | → `LOCKED LINE FAIR`: stay in line  | → `LOCKED LINE`: taken    |
//! | release                   | –                             | - `LOCKED`                          | –                         |
//! | … and then, if `LINE`     | - `LINE`, + `CALLED`: call    | –                                   | –                         |
//! | release, `FAIR`, `CALLED` | –                             | + `KEPT`                            | –                         |
//! | release, `FAIR`, `LINE`   | –                             | - `LINE`, + `CALLED KEPT`: call     | –                         |
//!
//! So to take it is to set one bit and to release it is one addition, whoever waits meanwhile: while one who was called is on
//! its way, those who barge in pay what they would pay if nobody waited.
//!
//! Nobody waits for the whole word, only for `LINE` to be taken back: whoever does that calls the first in line afterwards.
//! So the other bits may change a thousand times while somebody gets in line.
//!
//! # How long the first in line can be overtaken
//! To hand a lock over in turn costs a change of threads for each critical section; to let everybody barge in starves
//! somebody. Here a release lets the lock go free and calls the first in line, who keeps its place. Until it comes, whoever
//! runs takes the lock again.
//!
//! ```text
//!   first in line                 who runs
//!   ─────────────────────         ──────────────────────────────────────────────
//!                                 LOCKED LINE → LINE → CALLED; call
//!   (on its way)                  CALLED → LOCKED CALLED → CALLED → LOCKED CALLED ...
//!   comes, finds LOCKED:
//!   + FAIR; spins                 LOCKED CALLED FAIR → LOCKED CALLED FAIR KEPT
//!   → LOCKED LINE                 (newcomers get in line)
//! ```
//! If it does not come for a [quantum](pace::QUANTUM), perhaps for want of a CPU, the lock is kept for it as if it had asked:
//! those who run find it taken, get in line and sleep, and there is a CPU. So one who is called is overtaken for that long,
//! and a few times more; and those behind it have the same said to them in their turn.
//!
//! # Who is called and never comes
//! A task that nobody polls keeps its place, and is passed over: whoever takes the lock from the line calls the next one when
//! it is released. That next one is called by the table's sweep at the latest (`table/watchdog.rs` of the core).

use waitword_core::{Masked, Table, signal_one};

use crate::acquire::{Acquire, Attempt};
use crate::bump;
use crate::pace;
use crate::sync::atomic::Ordering;
use crate::sync::{MODEL, broken, const_fn, order};

const LOCKED: u32 = 1;
const LINE: u32 = 1 << 1;
const CALLED: u32 = 1 << 2;
const FAIR: u32 = 1 << 3;
const KEPT: u32 = 1 << 4;
const END_SHIFT: u32 = 5;
const END_BITS: u32 = 19;
const END: u32 = ((1 << END_BITS) - 1) << END_SHIFT;
const COUNT_SHIFT: u32 = END_SHIFT + END_BITS;
const COUNT: u32 = !0 << COUNT_SHIFT;
/// To be added, which takes `LOCKED` off and counts. What is carried out of the word is lost.
const RELEASE: u32 = (1 << COUNT_SHIFT) - LOCKED;

/// One release of so many looks at the clock, while somebody is overtaken.
pub(crate) const LOOKS_EVERY: u32 = if MODEL { 2 } else { 16 };

/// A thread looks so many times before it sleeps, with twice as many pauses in between each time: for some 5 µs.
const LOOKS: u32 = if MODEL { 1 } else { 7 };

/// A newcomer that has looked on while somebody released it so often, and took it again each time, gets in line if others are:
/// its looks cost that one more than its own turn would bring.
const RELEASES_TO_SEE: u32 = 3;

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
        !is_free_for_line(self.state.load(Ordering::Relaxed))
    }

    /// Releases it. The caller holds it.
    #[inline]
    pub(crate) fn release(&self) {
        if self.state.load(Ordering::Relaxed) & FAIR != 0 {
            return self.release_fair();
        }
        let before = self.state.fetch_add(RELEASE, order!(Release, "mutex-release"));
        if before & (LINE | CALLED) != 0 {
            self.released(before);
        }
    }

    /// Releases it for those in line only, if there are any.
    #[cold]
    pub(crate) fn release_fair(&self) {
        // Only the holder takes `LOCKED` away; others add to it.
        let before = self.update(order!(Release, "mutex-keep"), |state| match state & (CALLED | LINE) {
            0 => state.wrapping_add(RELEASE) & COUNT,
            LINE => (state & COUNT) | LOCKED | CALLED | KEPT,
            _ => state | KEPT,
        });
        if before & (CALLED | LINE) == LINE && !broken!("mutex-call-kept") {
            self.call();
        }
    }

    /// The holder lets the first in line have its turn, and holds it again then. `instead` is for the one that must not block.
    #[inline]
    #[track_caller]
    pub(crate) fn bump(&self, instead: &str) {
        if self.state.load(Ordering::Relaxed) & (LINE | CALLED) != 0 {
            self.bump_slow(instead);
        }
    }

    #[cold]
    #[track_caller]
    fn bump_slow(&self, instead: &str) {
        // Whoever took it from the line has left `LINE`, though there may be nobody else.
        if Table::global().waiters(&self.state) > 0 {
            bump::bump(self, (), instead, || self.release_fair());
        }
    }

    /// It was released, by the holder, when it was in the state `before`.
    #[cold]
    fn released(&self, before: u32) {
        if before & CALLED != 0 {
            return self.overtaken(before);
        }
        // If somebody holds it again, that is who will call.
        let calls = |state| state & (LOCKED | CALLED | LINE) == LINE;
        let before = self
            .update(Ordering::Relaxed, |state| if calls(state) { (state & COUNT) | CALLED } else { state });
        if calls(before) && !broken!("mutex-call") {
            self.call();
        }
    }

    /// It was released while somebody was on its way.
    fn overtaken(&self, before: u32) {
        if !(before >> COUNT_SHIFT).is_multiple_of(LOOKS_EVERY) {
            return;
        }
        let begins = |state| state & (CALLED | END) == CALLED;
        let in_line = if begins(before) { Table::global().waiters(&self.state) } else { 0 };
        self.update(Ordering::Relaxed, |state| match (state & END) >> END_SHIFT {
            _ if begins(state) => state | pace::end_of_quantum(in_line, END_BITS) << END_SHIFT,
            end if state & CALLED != 0 && pace::has_come(end, END_BITS) => state | FAIR,
            _ => state,
        });
    }

    /// Calls the first in line. The caller has taken `LINE` back and set `CALLED`.
    fn call(&self) {
        while signal_one(&self.state) == 0 {
            // Nobody is there to answer. But somebody may have got in line meanwhile, counting on the one who was called.
            let awaits_call = |state| is_free_for_line(state) && state & LINE != 0;
            let before = self.update(Ordering::Relaxed, |state| match state & KEPT {
                _ if awaits_call(state) || broken!("mutex-call-answered") => state & !LINE | CALLED,
                0 => state & (COUNT | LOCKED | LINE),
                _ => state & COUNT,
            });
            if !awaits_call(before) || broken!("mutex-call-again") {
                break;
            }
        }
    }

    /// Returns what it was before.
    #[inline]
    fn update(&self, order: Ordering, change: impl Fn(u32) -> u32) -> u32 {
        let change = |state| Some(change(state));
        self.state.fetch_update(order, Ordering::Relaxed, change).unwrap_or_else(|state| state)
    }
}

/// Whether those in line may take it.
fn is_free_for_line(state: u32) -> bool {
    state & (LOCKED | KEPT) != LOCKED
}

/// How often it was released between the two, if that is not too often.
fn releases(from: u32, to: u32) -> u32 {
    (to & COUNT).wrapping_sub(from & COUNT) >> COUNT_SHIFT
}

/// The state once one of those in line has taken it: there may be others.
fn taken_from_line(state: u32) -> u32 {
    (state & COUNT) | LOCKED | if broken!("mutex-line") { 0 } else { LINE }
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
        self.state.fetch_or(LOCKED, order!(Acquire, "mutex-take")) & LOCKED == 0
    }

    fn take_signalled(&self, (): ()) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let take = |state| {
            self.state.compare_exchange(state, taken_from_line(state), Ordering::Acquire, Ordering::Relaxed)
        };
        is_free_for_line(state) && take(state).is_ok()
    }

    fn take_or_mark(&self, (): (), attempt: Attempt) -> Result<(), u32> {
        let is_free = |state| match attempt {
            Attempt::Barging => state & LOCKED == 0,
            Attempt::Queued => is_free_for_line(state),
        };
        let before = self.update(order!(Acquire, "mutex-take-or-mark"), |state| match attempt {
            Attempt::Barging if is_free(state) => state | LOCKED,
            Attempt::Barging => state | LINE,
            Attempt::Queued if is_free(state) => taken_from_line(state),
            Attempt::Queued => taken_from_line(state) | FAIR,
        });
        if is_free(before) { Ok(()) } else { Err(LINE) }
    }

    fn is_reserved(&self, (): ()) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        state & LOCKED != 0 && is_free_for_line(state)
    }

    fn spin(&self, (): (), attempt: Attempt) -> bool {
        if attempt == Attempt::Queued {
            // It is on its way no more, it is here.
            self.state.fetch_or(FAIR, Ordering::Relaxed);
        }
        let first = self.state.load(Ordering::Relaxed);
        for look in 0..LOOKS {
            (0..1 << look).for_each(|_| std::hint::spin_loop());
            let state = self.state.load(Ordering::Relaxed);
            let taken = match attempt {
                // Kept for somebody who may need this CPU, or about to be.
                Attempt::Barging if state & (FAIR | KEPT) != 0 => return false,
                Attempt::Barging
                    if state & (LINE | CALLED) != 0 && releases(first, state) >= RELEASES_TO_SEE =>
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

    fn give_back(&self, (): ()) {
        self.release();
    }

    fn forward(&self, (): (), was_signalled: bool) {
        if !was_signalled || broken!("mutex-pass-on") {
            return;
        }
        // If it is held, its release calls somebody.
        let before = self.update(Ordering::Relaxed, |state| match state {
            _ if is_free_for_line(state) => state & !(LINE | END) | CALLED,
            _ => taken_from_line(state),
        });
        if is_free_for_line(before) {
            self.call();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bump_beside_nobody_is_a_look_at_the_word() {
        for line in [0, LINE] {
            let mutex = RawMutex::new();
            assert!(mutex.take(()));
            mutex.state.fetch_or(line, Ordering::Relaxed);
            let before = mutex.state.load(Ordering::Relaxed);
            mutex.bump("");
            assert_eq!(mutex.state.load(Ordering::Relaxed), before, "it was not released, which counts");
        }
    }
}
