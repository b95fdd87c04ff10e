//! The tasks of an agent that has an event loop.
//!
//! One stack of ready tasks and one doorbell for all (`ready.rs`, `bell.rs`). A turn polls what was ready when it began, in the order of
//! the wakes; what becomes ready meanwhile waits for the next one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use js_sys::Promise;
use wasm_bindgen::prelude::*;

use crate::bell::{self, Bell};
use crate::ready::{Ready, Wakeup};

/// The tasks of an agent, by their numbers. A task that is being polled is out.
struct Executor {
    bell: &'static Bell,
    ready: &'static Ready,
    tasks: RefCell<Tasks>,
}

#[derive(Default)]
struct Tasks {
    last: usize,
    by_number: HashMap<usize, Pin<Box<dyn Future<Output = ()>>>>,
}

thread_local! {
    static EXECUTOR: Executor = Executor {
        bell: bell::with_turn(|| EXECUTOR.with(Executor::turn)),
        ready: Box::leak(Box::default()),
        tasks: RefCell::default(),
    };
}

/// Spawns `future` as a task on this agent's event loop. The task is polled in a microtask first, then each time any agent wakes it.
///
/// All tasks of an agent share one `Atomics.waitAsync`, which is never abandoned. Where the engine has no `waitAsync`, wakeups are messages.
/// `wasm_bindgen_futures::spawn_local` runs the futures of `waitword` too, with one `waitAsync` per task.
///
/// Tasks are polled only while the agent is in its event loop: a worker that blocks polls none.
pub fn spawn_local(future: impl Future<Output = ()> + 'static) {
    EXECUTOR.with(|executor| {
        let mut tasks = executor.tasks.borrow_mut();
        tasks.last += 1;
        let number = tasks.last;
        tasks.by_number.insert(number, Box::pin(future));
        drop(tasks);
        Waker::from(Wakeup::new(number, executor.bell, executor.ready)).wake();
    });
}

/// Spawns `future` as [`spawn_local`] does, and returns a JavaScript promise of its result, for `lock().then(...)`. The future runs whether or
/// not the promise is awaited.
///
/// ```ignore
/// #[wasm_bindgen]
/// pub fn lock() -> js_sys::Promise {
///     waitword_web::promise(async {
///         LOCK.lock_async().await;
///         Ok(JsValue::UNDEFINED)
///     })
/// }
/// ```
///
/// # Cancellation
/// JavaScript cannot cancel a promise. Use a future with a deadline to limit the wait.
pub fn promise(future: impl Future<Output = Result<JsValue, JsValue>> + 'static) -> Promise {
    let mut future = Some(future);
    Promise::new(&mut |resolve, reject| {
        let future = future.take().expect_throw("called once");
        spawn_local(async move {
            let (settle, value) = match future.await {
                Ok(value) => (resolve, value),
                Err(error) => (reject, error),
            };
            // The functions of a promise do not throw.
            let _ = settle.call1(&JsValue::UNDEFINED, &value);
        });
    })
}

impl Executor {
    fn turn(&self) {
        for wakeup in self.ready.take() {
            let number = wakeup.task;
            wakeup.begin();
            // Over, or being polled further up this stack.
            let Some(mut task) = self.tasks.borrow_mut().by_number.remove(&number) else { continue };
            let waker = Waker::from(Arc::clone(&wakeup));
            if task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                self.tasks.borrow_mut().by_number.insert(number, task);
            }
        }
    }
}
