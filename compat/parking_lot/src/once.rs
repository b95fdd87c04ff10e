//! `Once`: waitword's `OnceLock`, and a word for the state, because a `OnceLock` cannot be poisoned. The `OnceLock` hands out the turn to run a
//! closure, and the observer knows who holds that turn.
//!
//! Only the holder of the turn writes the state. A `call_once` that holds the turn and finds the state poisoned releases the turn, and leaves the
//! state as it is.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use waitword::OnceLock;

use crate::observe::observe;

const NEW: u32 = 0;
const POISONED: u32 = 1;
const IN_PROGRESS: u32 = 2;
const DONE: u32 = 3;

const PANICKED: &str =
    "poisoned: the last closure of this `Once` panicked (`call_once_force` runs another one)";

/// The state of a [`Once`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceState {
    /// No closure has been executed yet.
    New,
    /// The last closure panicked.
    Poisoned,
    /// A thread is executing a closure.
    InProgress,
    /// A closure has been executed to its end.
    Done,
}

impl OnceState {
    /// Returns `true` if the last closure panicked.
    pub const fn poisoned(self) -> bool {
        matches!(self, Self::Poisoned)
    }

    /// Returns `true` if the last closure panicked. parking_lot 0.13 added this name for [`poisoned`](Self::poisoned).
    pub const fn is_poisoned(self) -> bool {
        self.poisoned()
    }

    /// Returns `true` if a closure has been executed to its end.
    pub const fn done(self) -> bool {
        matches!(self, Self::Done)
    }

    /// Returns `true` if a closure has been executed to its end. parking_lot 0.13 added this name for [`done`](Self::done).
    pub const fn is_completed(self) -> bool {
        self.done()
    }
}

/// A synchronization primitive that runs a one-time initialization.
///
/// ```
/// use parking_lot::Once;
///
/// static START: Once = Once::new();
/// START.call_once(|| println!("once"));
/// START.call_once(|| unreachable!("it is done"));
/// ```
pub struct Once {
    turn: OnceLock<()>,
    state: AtomicU32,
}

impl Once {
    /// Creates a `Once` that has not executed a closure.
    pub const fn new() -> Self {
        Self { turn: OnceLock::new(), state: AtomicU32::new(NEW) }
    }

    /// Creates a `Once` that is already done.
    ///
    /// parking_lot has this, `is_completed`, `wait` and `wait_force` since 0.13.
    pub const fn new_completed() -> Self {
        Self { turn: OnceLock::with_value(()), state: AtomicU32::new(DONE) }
    }

    /// Returns the state at this moment.
    pub fn state(&self) -> OnceState {
        match self.state.load(Ordering::Acquire) {
            NEW => OnceState::New,
            POISONED => OnceState::Poisoned,
            IN_PROGRESS => OnceState::InProgress,
            _ => OnceState::Done,
        }
    }

    /// Returns `true` if a closure has been executed to its end.
    pub fn is_completed(&self) -> bool {
        self.state().done()
    }

    /// Blocks this thread until a closure has been executed to its end.
    ///
    /// # Panics
    /// - If the last closure panicked, before the call or during the wait.
    /// - If the wait would block, and blocking is forbidden on this thread (`waitword::forbid_blocking`).
    #[track_caller]
    pub fn wait(&self) {
        observe();
        loop {
            // The state has changed, or a notify has woken this thread: check again.
            let _ = match self.state.load(Ordering::Acquire) {
                DONE => return,
                POISONED => panic!("{PANICKED}"),
                state => waitword::wait(&self.state, state),
            };
        }
    }

    /// Blocks this thread until a closure has been executed to its end, even if closures panic before.
    ///
    /// # Panics
    /// If the wait would block, and blocking is forbidden on this thread (`waitword::forbid_blocking`).
    #[track_caller]
    pub fn wait_force(&self) {
        observe();
        self.turn.wait();
    }

    /// Executes `f` if no closure has been executed to its end yet. Blocks this thread while another closure runs.
    ///
    /// # Panics
    /// - If `f` panics. This poisons the `Once`, and every later call of this method panics, until a closure of
    ///   [`call_once_force`](Self::call_once_force) succeeds.
    /// - If the call would block, and blocking is forbidden on this thread (`waitword::forbid_blocking`).
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        observe();
        self.turn.get_or_init(|| {
            assert!(!self.state().poisoned(), "{PANICKED}");
            self.run(|_| f());
        });
    }

    /// Executes `f` if no closure has been executed to its end yet, even if one has panicked. Blocks this thread while another closure runs.
    ///
    /// `f` receives the state before the call, which tells whether the last closure panicked.
    ///
    /// # Panics
    /// - If `f` panics. This poisons the `Once`.
    /// - If the call would block, and blocking is forbidden on this thread (`waitword::forbid_blocking`).
    #[inline]
    #[track_caller]
    pub fn call_once_force<F: FnOnce(OnceState)>(&self, f: F) {
        observe();
        self.turn.get_or_init(|| self.run(f));
    }

    /// Executes `f`. The caller holds the turn.
    fn run(&self, f: impl FnOnce(OnceState)) {
        /// Sets the state when dropped, so also if the closure unwinds.
        struct Becomes<'a>(&'a Once, u32);

        impl Drop for Becomes<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }

        let before = self.state();
        self.set(IN_PROGRESS);
        let mut becomes = Becomes(self, POISONED);
        f(before);
        becomes.1 = DONE;
    }

    fn set(&self, state: u32) {
        self.state.store(state, Ordering::Release);
        waitword::notify_all(&self.state);
    }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("state", &self.state()).finish()
    }
}
