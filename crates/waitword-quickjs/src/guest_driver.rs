//! Delivers the outcomes of a guest's `waitAsync` to its scripts.
//!
//! In an `AsyncRuntime` this takes two futures:
//! - a future in the runtime, which exists while a wait is pending, and settles promises;
//! - the driver, a task of the program, which polls the runtime.
//!
//! The first alone would suffice if rquickjs woke all tasks that have polled the runtime. But it wakes only the last one, which may have
//! ended. The future sleeps at the agent's bell, a word. Whoever wakes it rings the driver's bell afterwards:
//!
//! ```text
//!   the future                                a notifier                    a script
//!   ─────────────────────────────────         ──────────────────────        ──────────────────────
//!   bell = 0                                  wait into the inbox           wait with a deadline
//!   take what is in the inbox, settle it      bell = 1, notify the bell     bell = 1, notify the bell
//!   sleep while bell is 0, or until the         → the future can be polled
//!     next deadline                             → the driver's bell = 1, notify it
//! ```
//! The bell is cleared before the inbox is checked, and checking that it is still 0 is one step with falling asleep. So anything that comes
//! after the check ends the sleep. The driver's bell is cleared before it polls. In a `Runtime`, the program's own thread does the same
//! (`InstalledAgent::finish`).

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use rquickjs::runtime::AsyncWeakRuntime;
use waitword_core::{notify_all, wait, wait_async, wait_async_until, wait_until};

use crate::agent_state::AgentState;
use crate::ffi::{Exception, Realm};

/// If the engine failed to settle a wait, and nothing else happens, it is tried again after this time.
const RETRY: Duration = Duration::from_millis(10);

/// The state of a guest's driver, stored in its runtime.
pub(crate) struct Driver {
    /// The agent's bell: 1 when the agent has work.
    bell: Arc<AtomicI32>,
    /// The driver's bell: 1 when the runtime has something to poll. `None` if the runtime cannot run futures.
    runtimes_bell: Option<Arc<AtomicI32>>,
    /// Whether the future that settles promises is in the runtime.
    is_running: Cell<bool>,
}

impl Driver {
    pub(crate) fn new(bell: Arc<AtomicI32>, runtimes_bell: Option<Arc<AtomicI32>>) -> Self {
        Self { bell, runtimes_bell, is_running: Cell::new(false) }
    }
}

impl Drop for Driver {
    /// Ends the program's task.
    fn drop(&mut self) {
        self.runtimes_bell.as_deref().inspect(|bell| ring(bell));
    }
}

/// Sets a bell to 1 and wakes its waiters, on any thread.
pub(crate) fn ring(bell: &AtomicI32) {
    bell.store(1, Ordering::SeqCst);
    notify_all(bell);
}

/// Makes a realm's `waitAsync` start the future that settles promises, if the runtime can run futures.
pub(crate) fn drive_waits(realm: &Realm) -> Result<(), Exception> {
    let Some(driver) = realm.state::<Driver>() else { return Ok(()) };
    let Some(runtimes_bell) = driver.runtimes_bell.clone() else { return Ok(()) };
    let atomics = realm.get(&realm.global(), "Atomics")?;
    realm.replace(&atomics, "waitAsync", move |realm, call, wait_async| {
        // The call may fail after it enqueued a wait, while it updates the lengths of grown memory. That wait has to be settled, too.
        let result = call.forward(wait_async);
        if driver.is_running.get() {
            // The future may sleep until a later deadline than that of this wait.
            ring(&driver.bell);
        } else if AgentState::of(realm)?.has_pending() {
            driver.is_running.set(true);
            // The driver is woken by the spawn.
            realm.spawn(settle_all(realm.clone(), Rc::clone(&driver), Arc::clone(&runtimes_bell)));
        }
        result
    })
}

/// The driver, a task of the program. Polls the runtime whenever it is woken: by its bell, or by another future of the runtime, because
/// from its first poll on rquickjs wakes this task.
pub(crate) async fn drive(runtime: AsyncWeakRuntime, bell: Arc<AtomicI32>) {
    let Some(begins) = runtime.try_ref() else { return };
    let mut listens = pin!(begins.drive());
    drop(begins);
    let spawned = Arc::new(Spawned { bell, must_listen: AtomicBool::new(true) });
    let listener = Waker::from(Arc::clone(&spawned));
    loop {
        spawned.bell.store(0, Ordering::SeqCst);
        let Some(runtime) = runtime.try_ref() else { return };
        let mut rung = pin!(wait_async(&*spawned.bell, 0));
        // There is something to poll already if the bell was rung or a future yields.
        let mut polls_again = false;
        {
            // What a job throws is ignored, as by rquickjs's own drivers.
            let mut jobs = pin!(async { while !matches!(runtime.execute_pending_job().await, Ok(false)) {} });
            // While another task has the runtime, `jobs` and `listens` wait for its lock. Each has to be polled when it gets the lock.
            poll_fn(|cx| {
                while rung.as_mut().poll(cx).is_ready() {
                    polls_again = true;
                    spawned.bell.store(0, Ordering::SeqCst);
                    rung.set(wait_async(&*spawned.bell, 0));
                }
                if spawned.must_listen.swap(false, Ordering::SeqCst) {
                    let _ = listens.as_mut().poll(&mut Context::from_waker(&listener));
                }
                let noting = Arc::new(Noting { task: cx.waker().clone(), is_woken: AtomicBool::new(false) });
                let polled = jobs.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(&noting))));
                // When a future yields, `jobs` keeps the runtime's lock until it is polled again, or dropped.
                let yields = polled.is_pending() && noting.is_woken.load(Ordering::SeqCst);
                polls_again |= yields;
                if yields { Poll::Ready(()) } else { polled }
            })
            .await;
        }
        drop(runtime);
        let mut is_polled = false;
        poll_fn(|cx| {
            if mem::replace(&mut is_polled, true) {
                return Poll::Ready(());
            }
            if !polls_again {
                return rung.as_mut().poll(cx).map(drop);
            }
            // Yields, because other tasks may wait for the runtime.
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

/// A waker that wakes a task, and records that it did.
struct Noting {
    task: Waker,
    is_woken: AtomicBool,
}

impl Wake for Noting {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        self.task.wake_by_ref();
    }
}

/// A waker that is woken when a future is spawned in the runtime. rquickjs adds a waker at every poll of its own driver, and removes none
/// before the next spawn. So its driver is polled only to register again. A future that wakes itself within such a poll looks like a spawn;
/// while it does so, each poll adds another waker.
struct Spawned {
    bell: Arc<AtomicI32>,
    must_listen: AtomicBool,
}

impl Wake for Spawned {
    fn wake(self: Arc<Self>) {
        self.must_listen.store(true, Ordering::SeqCst);
        ring(&self.bell);
    }
}

/// The future in the runtime. It returns when no wait is pending, so that the runtime is idle then. The next `waitAsync` starts another.
async fn settle_all(realm: Realm, driver: Rc<Driver>, runtimes_bell: Arc<AtomicI32>) {
    loop {
        driver.bell.store(0, Ordering::SeqCst);
        let is_refused = settle(&realm).is_err();
        let Some(next) = next_deadline(&realm) else { break };
        let next = if is_refused { Some(Instant::now() + RETRY) } else { next };
        match next {
            Some(deadline) => {
                ringing(wait_async_until(&*driver.bell, 0, deadline), &runtimes_bell).await;
            }
            None => ringing(wait_async(&*driver.bell, 0), &runtimes_bell).await,
        }
    }
    driver.is_running.set(false);
}

/// Awaits a future, whose waker also rings a bell after it has woken the task.
async fn ringing(future: impl Future, bell: &Arc<AtomicI32>) {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let waker = Waker::from(Arc::new(Ringing { task: cx.waker().clone(), bell: Arc::clone(bell) }));
        future.as_mut().poll(&mut Context::from_waker(&waker)).map(drop)
    })
    .await;
}

struct Ringing {
    task: Waker,
    bell: Arc<AtomicI32>,
}

impl Wake for Ringing {
    fn wake(self: Arc<Self>) {
        self.task.wake_by_ref();
        ring(&self.bell);
    }
}

/// Settles the waits that are notified or due by now. Each is a job of its own, so its microtasks run before the next is settled. Returns
/// whether there was any.
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

/// Settles what can be settled. If nothing can be settled yet, blocks the thread first. Returns `false` if no wait is pending.
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

/// The earliest deadline of a pending wait, if any has one; `None` if no wait is pending.
pub(crate) fn next_deadline(realm: &Realm) -> Option<Option<Instant>> {
    let state = AgentState::of(realm).ok()?;
    state.has_pending().then(|| state.agent.next_deadline())
}
