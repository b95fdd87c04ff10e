//! The readers-writer lock as a word, and everything that ever happens to it. No data, no waiting.
//!
//! | bits         | mean                                                                                            |
//! |--------------|-------------------------------------------------------------------------------------------------|
//! | `WRITER`     | somebody has it alone; with `UPGRADABLE`, waits for the readers inside to leave, to have it alone |
//! | `UPGRADABLE` | somebody reads who may come to have it alone without letting go                                  |
//! | `LINE`       | somebody may be in line whom nobody has called: who makes room has to                            |
//! | `CALLED`     | somebody was called and has not answered: who makes room need not call                           |
//! | `FAIR`       | what room there is, is for those in line only                                                    |
//! | pace         | with `LINE` or `CALLED`: how long the first in line has been overtaken (`barging_window.rs`)               |
//! | readers      | how many read, not counting the upgradable one                                                   |
//!
//! There is *room* for a reader while there is no `WRITER`, for an upgradable one if there is no `UPGRADABLE` either, and for a
//! writer if there are no readers besides.
//!
//! |                        | room                              | room, but `FAIR`           | no room                           |
//! |------------------------|-----------------------------------|----------------------------|-----------------------------------|
//! | newcomer               | gets in; + pace if others wait    | + `LINE`: get in line      | + `LINE`: get in line             |
//! | writer who was called  | → `WRITER LINE`                   | → `WRITER LINE`            | → `LINE FAIR`: stay in line       |
//! | reader who was called  | gets in, → `CALLED`: call the next | the same                  | → `LINE FAIR`: stay in line       |
//! | who makes room, `LINE` without `CALLED` |                  |                            | - `LINE`, + `CALLED`: call        |
//!
//! Nobody waits for the whole word, only for `LINE` to be taken back: whoever does that calls the first in line afterwards.
//!
//! # One line
//! Readers, upgradable readers and writers stand in one line, in the order in which they came. A reader who gets in from the
//! line calls the next one, so that the readers in a row get in one after the other, without waiting for anybody to leave. The
//! first writer behind them is called too, finds them inside, stays, and sets `FAIR`: it gets in when they have left.
//!
//! ```text
//!   reader R1 (first in line)       R2                      writer W                  readers who come
//!   ─────────────────────────       ──────────────────      ─────────────────────     ──────────────────
//!   called; gets in; call R2
//!                                   gets in; call W
//!                                                           finds two readers:
//!                                                           + LINE FAIR
//!                                                                                     get in line behind W
//!   leaves                          leaves, the last:
//!                                   - LINE, + CALLED; call W
//!                                                           → WRITER LINE
//! ```
//! Before that, as long as nobody in line was called in vain, newcomers for whom there is room get in at the cost of one
//! exchange, and nobody sleeps for the sake of a writer who is not there yet. But they are counted, and after a while (see
//! `barging_window.rs`) it is `FAIR` all the same. So each in line is overtaken for that long, and then those who are inside leave.
//!
//! # Upgrades
//! Whoever has it upgradable and wants it alone sets `WRITER`, which keeps everybody out, and waits for the readers inside in a
//! place of its own (`drain`): behind the others in line, who wait for *it*, it would wait for ever. There is no more than one,
//! and what it waits for is its own when it comes; so nobody can take it away.
//!
//! ```text
//!   who upgrades                              the last reader
//!   ─────────────────────────────────         ───────────────────────────────────────
//!   drain ← LINE
//!   + WRITER; readers are inside              readers - 1: sees WRITER
//!                                             drain ← 0; call
//!   waits if drain = LINE, is called:
//!   no readers: - UPGRADABLE
//! ```
//! The reader's store comes after the other one, since it has seen the `WRITER` that was set after that.

mod acquire;
mod fair;
mod mode;

use waitword_core::{Masked64, signal_one};

use crate::barging_window;
use crate::sync::atomic::{Ordering, fence};
use crate::sync::{broken, const_fn, order};

pub(crate) use mode::Mode;

const WRITER: u64 = 1;
const UPGRADABLE: u64 = 1 << 1;
const LINE: u64 = 1 << 2;
const CALLED: u64 = 1 << 3;
const FAIR: u64 = 1 << 4;
const PACE_SHIFT: u32 = 5;
const PACE: u64 = ((1 << barging_window::BITS) - 1) << PACE_SHIFT;
const ONE_READER: u64 = 1 << (PACE_SHIFT + barging_window::BITS);
const READERS: u64 = !(ONE_READER - 1);
/// There are [`MAX_READERS`].
const FULL: u64 = 1 << 63;
const HOLDERS: u64 = WRITER | UPGRADABLE | READERS;

/// How many can read at a time: 2^30, as many as a GiB of memory has bytes.
pub(crate) const MAX_READERS: u64 = FULL / ONE_READER;

/// The state of a readers-writer lock.
#[derive(Debug, Default)]
pub(crate) struct RawRwLock {
    state: Masked64<LINE>,
    /// Where one waits for the readers to leave who has it upgradable. `LINE` while it waits.
    drain: Masked64<LINE>,
}

impl RawRwLock {
    const_fn! {
        pub(crate) const fn new() -> Self {
            Self { state: Masked64::new(0), drain: Masked64::new(0) }
        }
    }

    /// Whether somebody has it alone.
    pub(crate) fn is_written(&self) -> bool {
        self.state.load(Ordering::Relaxed) & (WRITER | UPGRADABLE) == WRITER
    }

    /// Whether somebody has it, in whatever mode.
    pub(crate) fn is_held(&self) -> bool {
        self.state.load(Ordering::Relaxed) & HOLDERS != 0
    }

    /// Gets in as a reader, whoever waits, if nobody has it alone: as one must who reads already.
    pub(crate) fn read_recursive(&self) -> bool {
        let is_read = |state| state & WRITER == 0 || state & READERS != 0;
        let enter = |state| is_read(state).then(|| Mode::Read.enter(state));
        self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, enter).is_ok()
    }

    /// Whoever has it so leaves.
    #[inline]
    pub(crate) fn release(&self, mode: Mode) {
        match mode {
            Mode::Read => self.release_read(),
            Mode::Upgradable => self.release_upgradable(),
            Mode::Write | Mode::Upgrade => self.release_write(),
        }
    }

    /// One reader leaves.
    #[inline]
    pub(crate) fn release_read(&self) {
        let before = self.state.fetch_sub(ONE_READER, order!(Release, "rwlock-release-read"));
        if before & (LINE | WRITER) != 0 {
            self.reader_left(before);
        }
    }

    /// Whoever had it upgradable leaves.
    #[inline]
    pub(crate) fn release_upgradable(&self) {
        if self.state.compare_exchange(UPGRADABLE, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.make_room(|state| state & !UPGRADABLE);
        }
    }

    /// The writer leaves.
    #[inline]
    pub(crate) fn release_write(&self) {
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
    pub(crate) fn downgrade(&self) {
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
    pub(crate) fn downgrade_to_upgradable(&self) {
        if self.state.compare_exchange(WRITER, UPGRADABLE, Ordering::Release, Ordering::Relaxed).is_err() {
            self.make_room(|state| (state & !WRITER) | UPGRADABLE);
        }
    }

    /// The upgradable reader becomes one of the readers.
    #[inline]
    pub(crate) fn downgrade_upgradable(&self) {
        if self.state.compare_exchange(UPGRADABLE, ONE_READER, Ordering::Release, Ordering::Relaxed).is_err()
        {
            self.make_room(|state| Mode::Read.enter(state & !UPGRADABLE));
        }
    }

    #[cold]
    fn reader_left(&self, before: u64) {
        if before & READERS != ONE_READER || broken!("rwlock-last-reader") {
            return;
        }
        if before & WRITER == 0 {
            return self.make_room(|state| state);
        }
        // So that the store comes after that of the one who set `WRITER`.
        if !broken!("rwlock-drain-fence") {
            fence(Ordering::Acquire);
        }
        if !broken!("rwlock-drain") {
            self.drain.store(0, Ordering::Relaxed);
        }
        signal_one(&self.drain);
    }

    /// Makes room, and calls the first in line, unless somebody was called or there is no room yet.
    #[cold]
    fn make_room(&self, change: impl Fn(u64) -> u64) {
        let must_call = |state| state & (LINE | CALLED | WRITER) == LINE;
        let before = self.update(order!(Release, "rwlock-make-room"), |state| match change(state) {
            state if must_call(state) => state ^ (LINE | CALLED),
            state => state,
        });
        if must_call(change(before)) && !broken!("rwlock-call") {
            self.call();
        }
    }

    /// Calls the first in line. The caller has taken `LINE` back and set `CALLED`.
    #[cold]
    fn call(&self) {
        while signal_one(&self.state) == 0 {
            // Nobody is there to answer. But somebody may have got in line meanwhile, counting on the one who was called.
            let must_call = |state| state & (LINE | WRITER) == LINE;
            let before = self.update(Ordering::Relaxed, |state| match state {
                state if must_call(state) || broken!("rwlock-call-answered") => (state & HOLDERS) | CALLED,
                state => state & (HOLDERS | LINE),
            });
            if !must_call(before) || broken!("rwlock-call-again") {
                break;
            }
        }
    }

    /// Returns what it was before.
    #[inline]
    fn update(&self, order: Ordering, mut change: impl FnMut(u64) -> u64) -> u64 {
        let change = |state| Some(change(state));
        self.state.fetch_update(order, Ordering::Relaxed, change).unwrap_or_else(|state| state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquire::Acquire;

    #[test]
    fn one_reader_too_many_panics_and_changes_nothing() {
        let lock = RawRwLock { state: Masked64::new(FULL - ONE_READER), drain: Masked64::new(0) };
        assert!(lock.take(Mode::Read), "the last one");
        assert!(lock.take(Mode::Upgradable), "is not one of the readers");
        let full = FULL | UPGRADABLE;
        let one_too_many: [fn(&RawRwLock); 3] = [
            |lock| assert!(lock.take(Mode::Read)),
            |lock| assert!(lock.read_recursive()),
            RawRwLock::downgrade_upgradable,
        ];
        for attempt in one_too_many {
            let attempt = std::panic::AssertUnwindSafe(|| attempt(&lock));
            let panic = std::panic::catch_unwind(attempt).expect_err("one too many");
            let message = panic.downcast::<String>().expect("it says how many");
            assert!(message.starts_with("1073741824 readers"), "{message}");
            assert_eq!(lock.state.load(Ordering::Relaxed), full);
        }
        lock.release_upgradable();
        lock.release_read();
        assert_eq!(lock.state.load(Ordering::Relaxed), FULL - ONE_READER);
    }
}
