//! Threads: workers that run a closure on the same memory, with a stack and thread-locals of their own.
//!
//! wasm-bindgen's `init` sets those up in a worker; what is left is to start one with the module, the memory and the closure
//! (`js/worker.js`). It is not `std::thread`, because only an event loop can start a worker.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use js_sys::JsString;
use waitword::{Mutex, MutexGuard, OnceLock};
use wasm_bindgen::prelude::*;

use crate::agent;

#[wasm_bindgen(module = "/js/worker.js")]
extern "C" {
    #[wasm_bindgen(js_name = startWorker)]
    fn start_worker(
        main: &JsString,
        module: &JsValue,
        memory: &JsValue,
        stack_size: u32,
        call: u32,
        ended: &JsValue,
    );

    #[wasm_bindgen(js_name = terminateWorker)]
    fn terminate_worker(call: u32);
}

#[wasm_bindgen]
extern "C" {
    /// The address of the module that wasm-bindgen makes.
    #[wasm_bindgen(thread_local_v2, js_namespace = ["import", "meta"], js_name = url)]
    static MAIN: JsString;
}

/// The stack of a thread, in bytes.
const STACK_SIZE: u32 = 1 << 20;

/// Starts a worker that calls `run` and ends when `run` returns. The worker may block. [`start`](crate::start) is called in it before `run`.
///
/// Start workers on the page. A worker begins to run only once the page has returned to its event loop, and so has the agent that called
/// `spawn`, if that is another worker. An agent that starts a worker and then blocks until that worker has done something waits for ever.
///
/// A panic in `run` is a trap. It ends the worker without unwinding, so locks that the worker held stay locked.
pub fn spawn<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let packet = Arc::new(Packet { value: Mutex::new(None), done: OnceLock::new() });
    let theirs = Arc::clone(&packet);
    let call: Call = Box::new(move || {
        *theirs.value.lock() = Some(run());
        let _ = theirs.done.set(());
    });
    // A number is all that JavaScript carries to the other side.
    static NUMBERS: AtomicU32 = AtomicU32::new(0);
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    calls().push((number, call));
    let theirs = Arc::clone(&packet);
    // When it has returned, that is done already.
    let ended = Closure::once_into_js(move || {
        let _ = theirs.done.set(());
    });
    MAIN.with(|main| {
        start_worker(main, &wasm_bindgen::module(), &wasm_bindgen::memory(), STACK_SIZE, number, &ended);
    });
    JoinHandle { packet, number }
}

type Call = Box<dyn FnOnce() + Send>;

/// The closures of the workers that have not begun, by their numbers.
static CALLS: Mutex<Vec<(u32, Call)>> = Mutex::new(Vec::new());

/// Held for no longer than a push, so that a page may spin for it.
fn calls() -> MutexGuard<'static, Vec<(u32, Call)>> {
    loop {
        if let Some(calls) = CALLS.try_lock() {
            return calls;
        }
        std::hint::spin_loop();
    }
}

/// What a worker runs once its instance is set up. For `js/worker.js`.
#[wasm_bindgen(js_name = __waitword_thread)]
#[allow(unreachable_pub)] // An export of the module, not of the crate.
pub fn run_thread(number: u32) {
    agent::start();
    let call = {
        let mut calls = calls();
        let place = calls.iter().position(|call| call.0 == number);
        place.map(|place| calls.swap_remove(place).1)
    };
    call.expect_throw("a thread runs once")();
}

struct Packet<T> {
    value: Mutex<Option<T>>,
    done: OnceLock<()>,
}

/// A handle to join the worker that [`spawn`] started. Dropping the handle detaches the worker, which keeps running.
pub struct JoinHandle<T> {
    packet: Arc<Packet<T>>,
    number: u32,
}

/// The error of a join: the worker ended before its closure returned. It trapped (by a panic), or could not be started.
///
/// The engine reports this to the event loop of the agent that called [`spawn`]. While that agent blocks, no join returns this error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminated;

impl fmt::Display for Terminated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the worker has ended before its closure returned")
    }
}

impl std::error::Error for Terminated {}

impl<T> JoinHandle<T> {
    /// Blocks until the worker's closure has returned, and returns its result.
    ///
    /// # Errors
    /// [`Terminated`] if the worker ended before its closure returned.
    ///
    /// # Panics
    /// If it would have to block and this agent must not block.
    #[track_caller]
    pub fn join(self) -> Result<T, Terminated> {
        self.packet.done.wait();
        self.packet.take()
    }

    /// Waits until the worker's closure has returned, and returns its result. Does not block this agent.
    ///
    /// # Errors
    /// [`Terminated`] if the worker ended before its closure returned.
    ///
    /// # Cancellation
    /// Dropping the future drops the handle. The worker keeps running.
    pub async fn join_async(self) -> Result<T, Terminated> {
        self.packet.done.wait_async().await;
        self.packet.take()
    }

    /// Terminates the worker at any point of its execution, as `worker.terminate()` does. Only the agent that called [`spawn`] can terminate the
    /// worker. In other agents the worker keeps running.
    ///
    /// Prefer to tell the worker to return, because termination has these effects:
    /// - Locks that the worker held stay locked, and its stack is not freed.
    /// - If it waited for a lock, the waiters behind it are delayed by [`STALL_TIMEOUT`](waitword::STALL_TIMEOUT).
    /// - If it held one of the library's own locks, which are held for tens of nanoseconds, other workers may wait for that lock for ever. A page
    ///   panics after 5 s.
    pub fn terminate(self) {
        terminate_worker(self.number);
        let _ = self.packet.done.set(());
    }
}

impl<T> Packet<T> {
    /// The worker releases the value before it says that it is done.
    fn take(&self) -> Result<T, Terminated> {
        self.value.try_lock().and_then(|mut value| value.take()).ok_or(Terminated)
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.packet.done.get().is_some()).finish()
    }
}
