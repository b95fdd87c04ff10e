//! The last work of threads when the process ends by itself: when `main` returns, or by `process::exit`.
//!
//! The C library then calls the functions registered by `atexit`, on the thread that ends the process. That thread's thread-locals may be
//! destroyed, and it may hold any lock. So our function only notifies other threads, and waits for them for a while. A child of a `fork`
//! inherits the registration, but none of these threads, so there the function does nothing.
//!
//! The function is not called in a process that is aborted (a panic that must not unwind) or ended by a signal, that calls `_exit`, or that
//! exits on Windows by `process::exit`.
//!
//! Invariant X1: `ends` is a function of this program that captures nothing and does not unwind. If this code is part of a library that is
//! unloaded, the library's `atexit` handlers run before that.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use waitword_core::lock;

/// How long the process waits at most.
const LONGEST: Duration = Duration::from_secs(10);

/// The process in which threads wait for the end; 0: none does yet. An atomic, because a fork copies a mutex that another thread holds.
static PROCESS: AtomicU32 = AtomicU32::new(0);

struct Exit {
    is_there: bool,
    /// How many threads have something to do at the end.
    threads: usize,
}

static EXIT: Mutex<Exit> = Mutex::new(Exit { is_there: false, threads: 0 });
static CHANGED: Condvar = Condvar::new();

/// While this exists, the end of the process waits for it. Its thread drops it after its last work.
pub(super) struct AtExit(());

impl AtExit {
    pub(super) fn new() -> Self {
        let mut exit = lock(&EXIT);
        let process = std::process::id();
        if PROCESS.swap(process, Ordering::Relaxed) != process {
            exit.threads = 0;
            register();
        }
        exit.threads += 1;
        Self(())
    }

    /// Waits for the end, for `timeout` at most. Returns whether the end has come.
    pub(super) fn wait(&self, timeout: Duration) -> bool {
        let waited = CHANGED.wait_timeout_while(lock(&EXIT), timeout, |exit| !exit.is_there);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_there
    }
}

impl Drop for AtExit {
    fn drop(&mut self) {
        lock(&EXIT).threads -= 1;
        CHANGED.notify_all();
    }
}

/// If there is no memory for this, the process ends without waiting.
#[cfg(any(unix, windows))]
fn register() {
    unsafe extern "C" {
        fn atexit(call: extern "C" fn()) -> std::ffi::c_int;
    }
    // SAFETY: `ends` may be called at the end of the process, on any thread (X1).
    let _ = unsafe { atexit(ends) };
}

#[cfg(not(any(unix, windows)))]
fn register() {}

#[cfg_attr(not(any(unix, windows)), allow(dead_code))]
extern "C" fn ends() {
    if PROCESS.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    let mut exit = lock(&EXIT);
    exit.is_there = true;
    CHANGED.notify_all();
    let _ = CHANGED.wait_timeout_while(exit, LONGEST, |exit| exit.threads > 0);
}
