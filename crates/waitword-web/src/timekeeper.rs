//! The timekeeper: the agent that wakes futures whose deadlines have passed.
//!
//! It is the agent that was started first, with `setTimeout` and its doorbell; or a worker that does nothing else ([`run_timer`]), which is
//! more exact: an event loop that is busy, or a page in the background, is late.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(target_feature = "atomics")]
use std::thread;
use std::thread::Thread;

use js_sys::Function;
use waitword_core::OnceLock;
use waitword_core::host::expire_due;
use waitword_core::time::Instant;
use wasm_bindgen::prelude::*;

use crate::bell::{self, Bell};
use crate::engine;

/// The first agent that was started.
static EVENT_LOOP: OnceLock<&Bell> = OnceLock::new();
/// The worker that keeps the deadlines in its place.
static WORKER: OnceLock<Thread> = OnceLock::new();
/// Whether the event loop was rung for a deadline.
static IS_RUNG: AtomicBool = AtomicBool::new(false);

/// There is an earlier deadline.
pub(crate) fn ring() {
    if let Some(worker) = WORKER.get() {
        worker.unpark();
    } else if let Some(bell) = EVENT_LOOP.get() {
        IS_RUNG.store(true, Ordering::SeqCst);
        bell.ring();
    }
}

/// Makes this agent the timekeeper, if there is none.
pub(crate) fn volunteer() {
    if EVENT_LOOP.get().is_none() {
        let bell = bell::with_turn(turn);
        EVENT_LOOP.get_or_init(|| bell);
    }
}

/// Fires the deadlines of futures on this worker, instead of the event loop of the agent that was started first. Blocks for ever; if another
/// worker runs it already, returns at once.
///
/// Without it, deadlines depend on that event loop: they fire late while it is busy, and up to a second late on a page in the background.
///
/// ```ignore
/// waitword_web::spawn(waitword_web::run_timer);
/// ```
///
/// # Panics
/// If this agent must not block.
#[cfg(target_feature = "atomics")]
pub fn run_timer() {
    assert!(waitword::may_block(), "`run_timer` blocks this agent, which must not block");
    let me = thread::current();
    if WORKER.get_or_init(|| me.clone()).id() != me.id() {
        return;
    }
    loop {
        // A ring that came meanwhile has left a token.
        match expire_due() {
            Some(at) => thread::park_timeout(at.saturating_duration_since(Instant::now())),
            None => thread::park(),
        }
    }
}

thread_local! {
    /// The next time that the event loop checks, and what calls it then.
    static NEXT: RefCell<Option<(Instant, JsValue)>> = const { RefCell::new(None) };
    static ON_TIME: Function = {
        let on_time = Closure::<dyn Fn()>::new(|| { NEXT.take(); check() });
        on_time.into_js_value().unchecked_into()
    };
}

fn turn() {
    if IS_RUNG.load(Ordering::SeqCst) && EVENT_LOOP.get().is_some_and(|bell| bell.is_mine()) {
        IS_RUNG.store(false, Ordering::SeqCst);
        check();
    }
}

fn check() {
    // The agent that rang this one did not know of the worker.
    if let Some(worker) = WORKER.get() {
        return worker.unpark();
    }
    let next = expire_due();
    NEXT.with_borrow_mut(|set| {
        if set.as_ref().map(|(at, _)| *at) == next {
            return;
        }
        if let Some((_, timeout)) = set.take() {
            engine::clear_timeout(&timeout);
        }
        // The engine's timers are whole milliseconds, and the longest is 24 days.
        *set = next.map(|at| {
            let milliseconds = at.saturating_duration_since(Instant::now()).as_secs_f64() * 1e3;
            (at, ON_TIME.with(|on_time| engine::set_timeout(on_time, milliseconds.ceil().min(2e9))))
        });
    });
}
