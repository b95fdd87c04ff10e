//! `Once`: waitword's `OnceLock`, whose turn knows its holder, beside a word for what that has no name for: poison.
//!
//! The word is written by the holder of the turn alone. A thread that finds it poisoned, and is not to, gives the turn back as it was.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use waitword::OnceLock;

use crate::observe::observe;

const NEW: u32 = 0;
const POISONED: u32 = 1;
const IN_PROGRESS: u32 = 2;
const DONE: u32 = 3;

const PANICKED: &str = "the closure of this `Once` panicked: `call_once_force` tries again";

/// How far a [`Once`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceState {
    /// No closure has been called.
    New,
    /// The last closure panicked.
    Poisoned,
    /// A closure runs.
    InProgress,
    /// A closure has returned.
    Done,
}

impl OnceState {
    /// Whether the last closure panicked.
    pub const fn poisoned(self) -> bool {
        matches!(self, Self::Poisoned)
    }

    /// As [`poisoned`](Self::poisoned), by the name that came with 0.13.
    pub const fn is_poisoned(self) -> bool {
        self.poisoned()
    }

    /// Whether a closure has returned.
    pub const fn done(self) -> bool {
        matches!(self, Self::Done)
    }

    /// As [`done`](Self::done), by the name that came with 0.13.
    pub const fn is_completed(self) -> bool {
        self.done()
    }
}

/// Calls a closure once.
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
    /// One that has called nothing.
    pub const fn new() -> Self {
        Self { turn: OnceLock::new(), state: AtomicU32::new(NEW) }
    }

    /// One that is done. Since 0.13, as all below with a name of `is_completed` or `wait`.
    pub const fn new_completed() -> Self {
        Self { turn: OnceLock::with_value(()), state: AtomicU32::new(DONE) }
    }

    /// How far it is at this moment.
    pub fn state(&self) -> OnceState {
        match self.state.load(Ordering::Acquire) {
            NEW => OnceState::New,
            POISONED => OnceState::Poisoned,
            IN_PROGRESS => OnceState::InProgress,
            _ => OnceState::Done,
        }
    }

    /// Whether a closure has returned.
    pub fn is_completed(&self) -> bool {
        self.state().done()
    }

    /// Waits until a closure has returned.
    ///
    /// # Panics
    /// If the last closure panicked, before or meanwhile.
    #[track_caller]
    pub fn wait(&self) {
        observe();
        loop {
            // Another state, or a notify: asked again.
            let _ = match self.state.load(Ordering::Acquire) {
                DONE => return,
                POISONED => panic!("{PANICKED}"),
                state => waitword::wait(&self.state, state),
            };
        }
    }

    /// Waits until a closure has returned, however many panic.
    #[track_caller]
    pub fn wait_force(&self) {
        observe();
        self.turn.wait();
    }

    /// Calls `f` unless it is done; waits, if another closure runs.
    ///
    /// # Panics
    /// When `f` does, and from then on.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        observe();
        self.turn.get_or_init(|| {
            assert!(!self.state().poisoned(), "{PANICKED}");
            self.run(|_| f());
        });
    }

    /// As [`call_once`](Self::call_once), also if an earlier closure panicked. `f` is told so.
    ///
    /// # Panics
    /// When `f` does.
    #[inline]
    #[track_caller]
    pub fn call_once_force<F: FnOnce(OnceState)>(&self, f: F) {
        observe();
        self.turn.get_or_init(|| self.run(f));
    }

    /// The caller has the turn.
    fn run(&self, f: impl FnOnce(OnceState)) {
        /// What the state becomes, however the closure ends.
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
