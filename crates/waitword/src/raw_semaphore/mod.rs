//! The semaphore as a word, and everything that ever happens to it. No guards, no waiting.
//!
//! The word has 64 bits on every platform: three that say how it stands with those who wait, and the number of permits that
//! are free. All eight combinations of the three are used:
//!
//! | bits            | mean                                                                                          |
//! |-----------------|-----------------------------------------------------------------------------------------------|
//! | none            | nobody is in line, but for those who were called, did not come, and have been passed over     |
//! | `LINE`          | somebody may be in line whom nobody has called: whoever adds permits has to                   |
//! | `CALLED`        | somebody was called and has not answered: whoever adds permits need not call                  |
//! | `CALLED LINE`   | as `CALLED`; and somebody may have got in line since                                          |
//! | these + `FAIR`  | the permits are for those in line only                                                        |
//! | `FAIR` alone    | `CLOSED`, for ever                                                                            |
//!
//! |                            | without `FAIR`                             | with `FAIR`                                 |
//! |----------------------------|--------------------------------------------|---------------------------------------------|
//! | newcomer, enough           | takes them                                 | + `LINE`: gets in line                      |
//! | newcomer, too few          | + `LINE`: gets in line                     | + `LINE`: gets in line                      |
//! | called or looks, enough    | → `LINE`: takes them, leaves, calls the next if permits are left | the same              |
//! | called or looks, too few   | → `LINE FAIR`: stays in line               | the same                                    |
//! | adds permits, `LINE`       | → `CALLED`: calls                          | → `CALLED FAIR`: calls                      |
//! | adds permits, `CALLED`     | –; + `FAIR` if it is time                  | –                                           |
//! | leaves the line without    | as who adds permits, if any are there      | the same                                    |
//!
//! Nobody waits for the whole word, only for `LINE` to be taken back: whoever does that calls the first in line afterwards,
//! or closes the semaphore and wakes everybody.
//!
//! # How long the first in line can be overtaken
//! Until it looks, by anybody who finds enough permits; for 200 µs at the longest (`barging_window.rs`), if permits are released meanwhile, and
//! else by no more than there were free. It looks and finds too few: `FAIR`. From now on the permits that are released are
//! kept for it, until there are enough, however many it wants. So a stream of those who want few starves nobody who wants many.
//!
//! # Several permits at once
//! Whoever adds permits calls one, no matter how many can be served. The one who is served calls the next, if permits are
//! left, and so on down the line: no crowd wakes up for what the first of them may need alone. The same is owed by whoever
//! gives up, called or not, because what was kept for it may be enough for the next:
//!
//! ```text
//!   A (wants 3, first in line)    B (wants 1, behind it)        2 are free
//!   ──────────────────────────    ──────────────────────────    ──────────────────────
//!   called; looks: too few                                      → LINE FAIR
//!   dropped, or its time is up    sleeps; it has never been
//!                                 called, and nobody will
//!
//!   left the line: LINE, and
//!   permits → CALLED FAIR; call B
//! ```
//! Whoever does any of this has left the line before, or it would call itself. Others may have done just that, though: one
//! who looked, and took its permits then, is in line for a moment more. As it leaves it is told; `CALLED` is for a call of
//! itself, and it calls another in its place. (One that takes them because it was called is not called again; nor may it
//! take `CALLED` away, which is for one who is on its way, and would be overtaken without end.)
//!
//! ```text
//!   A (called, has looked)        B                             C (in line behind A)
//!   ──────────────────────────    ──────────────────────────    ──────────────────────────
//!   takes its permits: → LINE
//!                                 adds some: LINE → CALLED;
//!                                 calls the first in line: A
//!   leaves the line: was called                                 nobody will ever call it
//!
//!   … → LINE, and permits:
//!   → CALLED; call C
//! ```
//!
//! # Nobody there to call
//! All in line may have been called: by a sweep, or for permits that they have taken as they are about to leave. Whoever finds
//! that so gives the call back, and what is kept stays kept: `LINE FAIR`. Those in line find `LINE` as they leave, and call. It
//! looks once more whether they are there still, for one who left before has found `CALLED` and relied on it.
//!
//! The `CALLED` that is taken back here may be that of another call, made since by somebody who did find one. Then the word
//! knows nothing of a call that is under way. That one costs at most a call too many: whoever was called says `LINE` when it
//! looks, and when it leaves without.
//!
//! # Who does not look
//! One who was called and is not polled is passed over by the table's sweep. One who has looked in vain is not called before
//! there are more permits; if it is not polled any more, those behind it would wait for ever for permits that are there. So
//! whoever leaves permits in the word when it looks in vain asks the sweep to be called ([`Acquire::holds_up_others`]), as long as
//! somebody stands behind it.

mod attempts;

use waitword_core::{Masked64, Table, notify_all, signal_one};

use crate::barging_window::barge;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{broken, const_fn, order};

const LINE: u64 = 1;
const CALLED: u64 = 1 << 1;
const FAIR: u64 = 1 << 2;
const FLAGS: u64 = LINE | CALLED | FAIR;
const CLOSED: u64 = FAIR;
const SHIFT: u32 = 3;

/// The most permits that fit into the word, and on 32-bit targets fewer: the number is the same part of a `usize` everywhere.
pub(crate) const MAX_PERMITS: usize = usize::MAX >> SHIFT;

/// Whoever adds no more than this, to no more than [`HALF`], need not see whether they fit at that moment: half a million would
/// have to do so at once.
const FEW: usize = MAX_PERMITS >> 20;
const HALF: u64 = (MAX_PERMITS / 2) as u64;

/// The semaphore was closed ([`Semaphore::close`](crate::Semaphore::close)), and gives no more permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Closed;

/// The state word of a semaphore, first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct RawSemaphore {
    state: Masked64<LINE>,
    /// How long who was called has been overtaken (`barging_window.rs`).
    pace: AtomicU32,
}

impl RawSemaphore {
    const_fn! {
        /// With so many permits; no more than [`MAX_PERMITS`].
        pub(crate) const fn new(permits: usize) -> Self {
            Self { state: Masked64::new((permits as u64) << SHIFT), pace: AtomicU32::new(0) }
        }
    }

    pub(crate) fn available(&self) -> usize {
        // It is never more than `MAX_PERMITS`.
        permits(self.state.load(Ordering::Acquire)) as usize
    }

    pub(crate) fn is_closed(&self) -> bool {
        is_closed(self.state.load(Ordering::Acquire))
    }

    /// Adds permits, unless they would be more than [`MAX_PERMITS`] then, and says whether.
    #[inline]
    pub(crate) fn add(&self, n: usize) -> bool {
        if n > FEW || permits(self.state.load(Ordering::Relaxed)) > HALF {
            return self.add_if_they_fit(n);
        }
        // In one step, whatever others do to the word. All who do this at the same time cannot be so many that there is no room.
        let before = self.state.fetch_add((n as u64) << SHIFT, order!(Release, "semaphore-add"));
        if before & FLAGS != 0 {
            self.added(before);
        }
        true
    }

    /// What does not fit is at no time in the word: others would find what is not there, or miss what has been carried out of it.
    #[cold]
    fn add_if_they_fit(&self, n: usize) -> bool {
        let Some(wanted) = bits(n) else { return false };
        let room = (MAX_PERMITS - n) as u64;
        let add = |state| (permits(state) <= room).then(|| state + wanted);
        let before = self.state.fetch_update(Ordering::Release, Ordering::Relaxed, add);
        before.map(|before| self.added(before)).is_ok()
    }

    /// Permits were added when the word was in the state `before`.
    #[cold]
    fn added(&self, before: u64) {
        if before & CALLED != 0 && before & FAIR == 0 && self.is_time_to_be_fair() {
            self.keep_for_who_was_called();
        }
        if !broken!("semaphore-call") {
            self.call_next();
        }
    }

    /// Takes so many permits that nobody has, or as many as there are. Returns how many.
    pub(crate) fn reduce(&self, n: usize) -> usize {
        let fewer = |state| permits(state).min(n as u64);
        let before = self.update(Ordering::Acquire, |state| state - (fewer(state) << SHIFT));
        fewer(before) as usize
    }

    /// Wakes all who wait, and lets nobody wait or take a permit from now on.
    pub(crate) fn close(&self) {
        self.update(Ordering::Release, |state| state & !FLAGS | CLOSED);
        // Also if nobody seems to be in line: those who were passed over are. Those who have set `LINE` and are about to get
        // in line find it gone.
        if !broken!("semaphore-close") {
            notify_all(&self.state);
        }
    }

    /// Calls the first in line if there are permits, and nobody is on the way to them.
    fn call_next(&self) {
        while self.takes_call() && !self.call() {}
    }

    /// Takes `LINE` back and sets `CALLED`, if somebody is to be called: then by us.
    fn takes_call(&self) -> bool {
        let is_owed = |state| state & (LINE | CALLED) == LINE && permits(state) > 0;
        let state = self.state.load(Ordering::Relaxed);
        is_owed(state)
            && is_owed(self.update(Ordering::Relaxed, |state| match is_owed(state) {
                true => state & !LINE | CALLED,
                false => state,
            }))
    }

    /// Calls the first in line, for whoever [takes the call](Self::takes_call). `false` if it has to be taken once more.
    fn call(&self) -> bool {
        self.pace.store(0, Ordering::Relaxed);
        while signal_one(&self.state) == 0 {
            // Nobody is there to call. But somebody may have got in line meanwhile, counting on the one who was called. And
            // what is kept stays kept for those in line who have been called, by a sweep or for something they have taken.
            let kept = if self.has_line() { FAIR } else { 0 };
            let is_signalled = |state| state & CALLED != 0;
            let is_owed = |state| is_signalled(state) && state & LINE != 0 && permits(state) > 0;
            let before = self.update(Ordering::Relaxed, |state| {
                if is_owed(state) {
                    state & !(LINE | FAIR) | state & kept
                } else if !is_signalled(state) || broken!("semaphore-call-answered") {
                    // Closed; or somebody has looked for itself, and has said what is to be done.
                    state
                } else if state & kept == 0 {
                    // Whoever adds permits has to call whom nobody has called.
                    state & !(CALLED | FAIR)
                } else {
                    state & !CALLED | LINE
                }
            });
            if is_owed(before) && !broken!("semaphore-call-again") {
                continue;
            }
            if is_signalled(before) && before & kept != 0 {
                // Whoever leaves the line from now on calls the next. Did all leave it before? And who has got in line since?
                let has_line = self.has_line();
                if has_line {
                    signal_one(&self.state);
                }
                return has_line;
            }
            break;
        }
        true
    }

    fn has_line(&self) -> bool {
        Table::global().waiters(&self.state) > 0
    }

    /// Whether who was called has been overtaken for long enough; it has been once more. If two do this at once, one of them
    /// may not count.
    fn is_time_to_be_fair(&self) -> bool {
        let (pace, is_last) = barge(self.pace.load(Ordering::Relaxed));
        self.pace.store(pace, Ordering::Relaxed);
        is_last
    }

    fn keep_for_who_was_called(&self) {
        self.update(Ordering::Relaxed, |state| match state & CALLED {
            0 => state,
            _ => state | FAIR,
        });
    }

    /// Returns what it was before.
    #[inline]
    fn update(&self, order: Ordering, change: impl Fn(u64) -> u64) -> u64 {
        let change = |state| Some(change(state));
        self.state.fetch_update(order, Ordering::Relaxed, change).unwrap_or_else(|state| state)
    }
}

fn is_closed(state: u64) -> bool {
    state & FLAGS == CLOSED
}

#[inline]
fn permits(state: u64) -> u64 {
    state >> SHIFT
}

/// So many permits as they stand in the word. `None` if there are never so many.
#[inline]
fn bits(n: usize) -> Option<u64> {
    (n <= MAX_PERMITS).then_some((n as u64) << SHIFT)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;
    use crate::acquire::Acquire;

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
