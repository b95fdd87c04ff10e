//! The deadlines on `wasm32-unknown-unknown`: one agent, the **timekeeper**, turns the wheel and calls the wakers that are due.
//!
//! The threads of `callers.rs` are the standard library's, which cannot start one here. The host chooses the timekeeper: a worker that
//! blocks until the next deadline, or the page with `setTimeout`. It calls [`expire_due`] when it is rung, and at the time that the last
//! call has returned.
//!
//! ```text
//!   timekeeper                               another agent
//!   ───────────────────────────────          ───────────────────────────────
//!   expire_due: turns the wheel;
//!   wakes_at := the next deadline
//!                                            sets an earlier one: wakes_at := that; rings
//!   sleeps until what expire_due returned,
//!   but the bell has been rung: expire_due
//! ```
//! A ring may come before the timekeeper sleeps, so the host's bell has to remember it.
//!
//! There is no stand-by, so a waker that blocks delays all deadlines. On a page no waker blocks.

use std::collections::VecDeque;
use std::task::Waker;

use super::deadlines::{Clock, DEADLINES, expire};
use crate::sync::{Mutex, OnceLock, Timekeeper};
use crate::time::Instant;
use crate::wake::{BATCH, Wake, WakeBatch};

static CLOCK: OnceLock<Clock> = OnceLock::new();

/// Wakes that were taken out of the wheel, or queued by a waker behind it.
static QUEUE: Mutex<VecDeque<Wake>> = Mutex::new(VecDeque::new());

/// The clock of the deadlines.
pub(crate) fn clock_of_callers() -> Option<Clock> {
    Some(clock())
}

fn clock() -> Clock {
    *CLOCK.get_or_init(|| {
        // Room for a batch, and for a batch of a watchdog's pass with its continuation.
        QUEUE.lock().reserve(2 * BATCH + 1);
        DEADLINES.lock().leader = Some(Timekeeper);
        Clock { epoch: Instant::now() }
    })
}

/// Has all wakes of `batch` called by the timekeeper, and `then` after them. Called by one of its wakers.
pub(crate) fn wake_by_timer(batch: &mut WakeBatch, then: Option<Waker>) {
    QUEUE.lock().extend(batch.drain().chain(then.map(Wake::Task)));
}

/// Calls the wakers whose deadlines have passed. Returns when the next one is due, if there is one.
///
/// The agent that calls this is the timekeeper. It calls it again at that time, and after each ring.
pub fn expire_due() -> Option<Instant> {
    expire(clock(), |with| with(&mut QUEUE.lock()))
}
