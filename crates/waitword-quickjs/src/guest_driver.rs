//! What takes the outcomes of a guest's `waitAsync` to its scripts.
//!
//! In an `AsyncRuntime` that is a future of the runtime's own, there for as long as a wait is pending. It sleeps at the agent's bell, a word:
//!
//! ```text
//!   the driver                                a notifier                    a script
//!   ─────────────────────────────────         ──────────────────────        ──────────────────────
//!   bell = 0                                  wait into the inbox           wait with a deadline
//!   take what is in the inbox, settle it      bell = 1, notify the bell     bell = 1, notify the bell
//!   sleep while bell is 0, or until the next deadline
//! ```
//! The bell is cleared before the inbox is looked at, and to sleep is one step with the question whether it is still 0: whatever
//! comes after the look ends the sleep. In a `Runtime` the program's own thread does the same (`InstalledAgent::finish`).

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Instant;

use waitword_core::{notify_all, wait, wait_async, wait_async_until, wait_until};

use crate::agent_state::AgentState;
use crate::ffi::{Exception, Realm};

/// A guest's driver, as its runtime keeps it.
pub(crate) struct Driver {
    /// 1 once the agent has something to look at.
    bell: Arc<AtomicI32>,
    /// Whether the runtime can run futures.
    is_async: bool,
    /// Whether one of them is the driver.
    is_running: Cell<bool>,
}

impl Driver {
    pub(crate) fn new(bell: Arc<AtomicI32>, is_async: bool) -> Self {
        Self { bell, is_async, is_running: Cell::new(false) }
    }
}

/// What the agent does when there is something to look at, on any thread.
pub(crate) fn ring(bell: &AtomicI32) {
    bell.store(1, Ordering::SeqCst);
    notify_all(bell);
}

/// Sees to it that a realm's `waitAsync` starts the driver, if the runtime can run it.
pub(crate) fn drive_waits(realm: &Realm) -> Result<(), Exception> {
    let Some(driver) = realm.state::<Driver>().filter(|driver| driver.is_async) else { return Ok(()) };
    let atomics = realm.get(&realm.global(), "Atomics")?;
    realm.replace(&atomics, "waitAsync", move |realm, call, wait_async| {
        let result = call.forward(wait_async)?;
        if driver.is_running.get() {
            // It may sleep until a later deadline than that of this wait.
            ring(&driver.bell);
        } else if AgentState::of(realm)?.agent.has_pending() {
            driver.is_running.set(true);
            realm.spawn(drive(realm.clone(), Rc::clone(&driver)));
        }
        Ok(result)
    })
}

/// The driver. When it returns, the next `waitAsync` starts another: so a runtime without pending waits is idle.
async fn drive(realm: Realm, driver: Rc<Driver>) {
    loop {
        driver.bell.store(0, Ordering::SeqCst);
        // What fails for lack of memory has nobody to be told to.
        let _ = settle(&realm);
        let Some(next) = next_deadline(&realm) else { break };
        let _ = match next {
            Some(deadline) => wait_async_until(&*driver.bell, 0, deadline).await,
            None => wait_async(&*driver.bell, 0).await,
        };
    }
    driver.is_running.set(false);
}

/// Settles the waits that are notified or due by now; each is a job of its own, so its microtasks come before the next. Whether
/// there was any.
pub(crate) fn settle(realm: &Realm) -> Result<bool, Exception> {
    let state = AgentState::of(realm)?;
    if state.agent.next_deadline().is_some() {
        state.agent.expire_due(Instant::now());
    }
    let mut any = false;
    while state.settle_one(realm)? {
        any = true;
        realm.run_microtasks();
    }
    Ok(any)
}

/// Settles what can be settled, and blocks the thread first if there is nothing yet. `false` if no wait is pending.
pub(crate) fn sleep(realm: &Realm) -> Result<bool, Exception> {
    let Some(driver) = realm.state::<Driver>() else { return Ok(false) };
    loop {
        driver.bell.store(0, Ordering::SeqCst);
        if settle(realm)? {
            return Ok(true);
        }
        let Some(next) = next_deadline(realm) else { return Ok(false) };
        let _ = match next {
            Some(deadline) => wait_until(&*driver.bell, 0, deadline),
            None => wait(&*driver.bell, 0),
        };
    }
}

/// When the next pending wait is due, if any of them has a deadline; `None` if no wait is pending.
fn next_deadline(realm: &Realm) -> Option<Option<Instant>> {
    let state = AgentState::of(realm).ok()?;
    state.agent.has_pending().then(|| state.agent.next_deadline())
}
