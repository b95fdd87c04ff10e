//! The token of a thread: that it was woken; or how it sleeps, and so what a notifier has to do to wake it.
//!
//! ```text
//!                  sleeps                                 wakes
//!          EMPTY ──────────► ALONE, or its seat ──────────────────────► NOTIFIED
//!            ▲                                     by a system call        │
//!            └─────────────────────────────────────────────────────────────┘
//!                                  the thread runs
//! ```
//! A thread that was woken before it sleeps does not sleep. So a wake is never lost, and may come too early: then it ends the next sleep.
//!
//! What the notifier wrote before the wake, the thread sees after its sleep. All steps are read-modify-writes, so that it sees what any of
//! several notifiers wrote. The other way round, a notifier that finds the thread on a seat sees what it did before (`room.rs`).

use super::room::Seat;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{mutant, order};

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
/// In the standard library's parking.
const ALONE: u32 = 2;
/// On the seat of the number that is added to this.
const SEATED: u32 = 3;

/// How a thread sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sleep {
    /// In the standard library's parking.
    Alone,
    /// In a room (`room.rs`).
    Seated(Seat),
}

#[derive(Debug)]
pub(super) struct Token {
    state: AtomicU32,
}

impl Token {
    pub(super) fn new() -> Self {
        Self { state: AtomicU32::new(EMPTY) }
    }

    /// Whether the thread was woken since it slept last. It need not sleep then.
    pub(super) fn take(&self) -> bool {
        let was_woken = self.state.load(Ordering::Relaxed) == NOTIFIED;
        if was_woken {
            self.end();
        }
        was_woken
    }

    /// The thread is about to sleep like this (`room.rs`, B). `false`: it was woken already.
    pub(super) fn begin(&self, sleep: Sleep) -> bool {
        let state = match sleep {
            Sleep::Alone => ALONE,
            Sleep::Seated(seat) => SEATED + seat.number(),
        };
        // Acquires nothing: `EMPTY` is what this thread has stored itself.
        let order = order!(Release, "token-begin");
        let begins = self.state.compare_exchange(EMPTY, state, order, Ordering::Relaxed).is_ok();
        if !begins {
            self.end();
        }
        begins
    }

    /// The thread runs.
    pub(super) fn end(&self) {
        self.state.swap(EMPTY, order!(Acquire, "token-acquire"));
    }

    /// Wakes the thread (`room.rs`, C). Returns how it sleeps, if it does: the caller ends that.
    pub(super) fn notify(&self) -> Option<Sleep> {
        mutant!("token-notify" => return sleep(self.state.swap(NOTIFIED, Ordering::Release)));
        sleep(self.state.swap(NOTIFIED, order!(AcqRel, "token-release" => Acquire)))
    }

    /// How the thread sleeps, or is about to, or has slept until now. A hint.
    pub(super) fn sleep(&self) -> Option<Sleep> {
        sleep(self.state.load(Ordering::Relaxed))
    }
}

fn sleep(state: u32) -> Option<Sleep> {
    match state {
        EMPTY | NOTIFIED => None,
        ALONE => Some(Sleep::Alone),
        seated => Some(Sleep::Seated(Seat::from_number(seated - SEATED))),
    }
}
