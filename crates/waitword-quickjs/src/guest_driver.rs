//! What takes the outcomes of a guest's `waitAsync` to its scripts.
//!
//! In an `AsyncRuntime` these are two: a future of the runtime's own, there for as long as a wait is pending, which settles; and the driver, a
//! task of the program's, which polls the runtime. The first alone would do, if rquickjs woke all who have polled the runtime; it wakes the last
//! one, which may have ended since. The future sleeps at the agent's bell, a word, and who wakes it rings the driver's afterwards:
//!
//! ```text
//!   the future                                a notifier                    a script
//!   ─────────────────────────────────         ──────────────────────        ──────────────────────
//!   bell = 0                                  wait into the inbox           wait with a deadline
//!   take what is in the inbox, settle it      bell = 1, notify the bell     bell = 1, notify the bell
//!   sleep while bell is 0, or until the         → the future can be polled
//!     next deadline                             → the driver's bell = 1, notify it
//! ```
//! The bell is cleared before the inbox is looked at, and to sleep is one step with the question whether it is still 0: whatever
//! comes after the look ends the sleep. The driver's bell is cleared before it polls. In a `Runtime` the program's own thread does the same
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

/// When the engine has refused to settle a wait, and nothing else happens, it is asked again so much later.
const RETRY: Duration = Duration::from_millis(10);

/// A guest's driver, as its runtime keeps it.
pub(crate) struct Driver {
    /// 1 once the agent has something to look at.
    bell: Arc<AtomicI32>,
    /// 1 once the runtime has something to poll. `None` if it cannot run futures.
    runtimes_bell: Option<Arc<AtomicI32>>,
    /// Whether the runtime has the future that settles.
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

/// What the agent does when there is something to look at, on any thread.
pub(crate) fn ring(bell: &AtomicI32) {
    bell.store(1, Ordering::SeqCst);
    notify_all(bell);
}

/// Sees to it that a realm's `waitAsync` starts the future that settles, if the runtime can run it.
pub(crate) fn drive_waits(realm: &Realm) -> Result<(), Exception> {
    let Some(driver) = realm.state::<Driver>() else { return Ok(()) };
    let Some(runtimes_bell) = driver.runtimes_bell.clone() else { return Ok(()) };
    let atomics = realm.get(&realm.global(), "Atomics")?;
    realm.replace(&atomics, "waitAsync", move |realm, call, wait_async| {
        // It may fail after it has queued a wait, when it catches up with memory that was grown: that wait has to end too.
        let result = call.forward(wait_async);
        if driver.is_running.get() {
            // It may sleep until a later deadline than that of this wait.
            ring(&driver.bell);
        } else if AgentState::of(realm)?.has_pending() {
            driver.is_running.set(true);
            // The driver listens for it.
            realm.spawn(settle_all(realm.clone(), Rc::clone(&driver), Arc::clone(&runtimes_bell)));
        }
        result
    })
}

/// The driver: the program's task. Polls the runtime whenever it is woken, by its bell or by another future of the runtime, for rquickjs
/// takes it for the one to wake from its first poll on.
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
        // There may be something to poll by now: the bell was rung, or a future yields.
        let mut polls_again = false;
        {
            // What a job throws is dropped, as rquickjs's own drivers drop it.
            let mut jobs = pin!(async { while !matches!(runtime.execute_pending_job().await, Ok(false)) {} });
            // While another has the runtime, `jobs` and `listens` wait for it: each has to be polled when its turn comes.
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
            // Others have their turn: they may wait for the runtime.
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

/// Wakes a task, and notes it.
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

/// Woken when a future is spawned in the runtime. rquickjs adds who listens at every poll of its own driver and forgets nobody before the
/// next spawn: so that is polled only to listen again. A future that wakes itself within such a poll is taken for a spawn: while it does so, each
/// poll adds one more.
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

/// The future in the runtime. When it returns, the next `waitAsync` starts another: so a runtime without pending waits is idle.
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

/// Awaits a future that rings a bell after it has woken its task.
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
pub(crate) fn next_deadline(realm: &Realm) -> Option<Option<Instant>> {
    let state = AgentState::of(realm).ok()?;
    state.has_pending().then(|| state.agent.next_deadline())
}
