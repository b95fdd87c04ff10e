//! The cell that is set once: the public API. Its initialisers are in `init.rs`, the methods of its exclusive owner in
//! `owner.rs`, the value in `slot.rs` and `tagged.rs`, the word and lost turns in `raw.rs`. `lazy.rs` is a cell with its
//! initialiser.

// Before the other modules: rustdoc shows the methods of modules in their order, and a page begins with `new`.
mod new {
    use super::{OnceLock, Slot, const_fn};

    impl<T> OnceLock<T> {
        const_fn! {
            /// Creates an empty cell.
            #[doc(alias = "const_new")]
            pub const fn new() -> Self {
                Self { slot: Slot::new() }
            }
        }
    }
}

mod init;
pub(crate) mod lazy;
mod owner;
mod raw;
#[allow(unsafe_code)]
mod slot;
#[allow(unsafe_code)]
#[cfg_attr(waitword_loom, path = "tagged_model.rs")]
mod tagged;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use self::slot::{Slot, SlotValue};
use crate::condition::{WaitFor, block, blocking_waits};
use crate::deadline::{Deadline, NoDeadline, Until, gives_up, polls_either};
use crate::error::LockError;
use crate::sync::const_fn;

/// A cell that is set once, by a thread or a task, and can be read by all. Threads and tasks can wait for its value.
///
/// | | waits for the value | sets it |
/// |---|---|---|
/// | blocks the thread | [`wait`](Self::wait) | [`get_or_init`](Self::get_or_init), [`get_or_try_init`](Self::get_or_try_init) |
/// | never waits | [`get`](Self::get) | [`set`](Self::set), [`try_insert`](Self::try_insert) |
/// | a future | [`wait_async`](Self::wait_async) | [`get_or_init_async`](Self::get_or_init_async), [`get_or_try_init_async`](Self::get_or_try_init_async) |
/// | … with a timeout | `wait_async().timeout(d)` | – |
/// | blocks until a deadline | [`wait_for`](Self::wait_for), [`wait_until`](Self::wait_until) | – |
///
/// A read of a cell that is set costs one load. A cell takes 4 bytes besides the value. While an initialiser runs, other initialisers
/// wait, and so do readers that call [`wait`](Self::wait).
///
/// ```
/// use waitword::OnceLock;
///
/// static CONFIG: OnceLock<String> = OnceLock::new();
///
/// # smol::block_on(async {
/// let thread = std::thread::spawn(|| CONFIG.get_or_init(|| "from a thread".to_owned()));
/// let task = CONFIG.get_or_init_async(async || "from a task".to_owned()).await;
/// assert_eq!(thread.join().unwrap(), task);
/// # });
/// ```
///
/// # Initialisers that fail
/// If an initialiser panics or returns an error, or its future is dropped, the cell stays empty and the turn to initialise it is free:
/// the first waiter that runs takes the turn and runs its own initialiser. There is no poisoning.
///
/// # Fairness
/// When the turn becomes free, all waiters are woken in FIFO order, and whichever runs first takes it. A queued task that is not polled
/// delays nobody. But a task that holds the turn, and is not polled while its initialiser awaits, blocks the others.
///
/// # Deadlocks
/// An initialiser that initialises the same cell, or waits for its value, waits for itself.
#[doc(alias("OnceCell", "AsyncOnceCell", "SetOnce", "Once", "OnceBox", "pthread_once"))]
pub struct OnceLock<T> {
    pub(super) slot: Slot<T>,
}

impl<T> OnceLock<T> {
    const_fn! {
        /// Creates a cell that is set to `value`. Unlike [`From`], it can be used in a constant.
        ///
        /// ```
        /// static NAME: waitword::OnceLock<&str> = waitword::OnceLock::with_value("waitword");
        /// assert_eq!(NAME.get(), Some(&"waitword"));
        /// ```
        #[doc(alias("const_new_with", "new_with"))]
        pub const fn with_value(value: T) -> Self {
            Self { slot: Slot::set_to(value) }
        }
    }

    /// Returns the value if the cell is set, and `None` otherwise. Never waits.
    ///
    /// ```
    /// let cell = waitword::OnceLock::new();
    /// assert_eq!(cell.get(), None);
    /// cell.set(1).unwrap();
    /// assert_eq!(cell.get(), Some(&1));
    /// ```
    #[doc(alias = "try_wait")]
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.slot.get()
    }

    /// Sets the cell to `value`. Never waits.
    ///
    /// # Errors
    /// Returns `value` if the cell is set already, or an initialiser runs at this moment. (To wait for the value of that initialiser,
    /// use [`get_or_init`](Self::get_or_init).)
    ///
    /// ```
    /// let cell = waitword::OnceLock::new();
    /// assert_eq!(cell.set(1), Ok(()));
    /// assert_eq!(cell.set(2), Err(2));
    /// assert_eq!(cell.get(), Some(&1));
    /// ```
    pub fn set(&self, value: T) -> Result<(), T> {
        self.try_insert(value).map(drop).map_err(|(_, value)| value)
    }

    /// Sets the cell to `value`, and returns a reference to it. Never waits.
    ///
    /// # Errors
    /// Returns `value`, together with the present value if the cell is set already, or with `None` if an initialiser runs at this moment.
    /// (The `try_insert` of the standard library waits for that initialiser, as [`get_or_init`](Self::get_or_init) does here.)
    ///
    /// ```
    /// let cell = waitword::OnceLock::new();
    /// assert_eq!(cell.try_insert(1), Ok(&1));
    /// assert_eq!(cell.try_insert(2), Err((Some(&1), 2)));
    /// ```
    pub fn try_insert(&self, value: T) -> Result<&T, (Option<&T>, T)> {
        match self.slot.try_turn() {
            Some(turn) => Ok(turn.fill(value)),
            None => Err((self.get(), value)),
        }
    }

    /// Returns `true` if the cell is set. Never waits.
    #[doc(alias("initialized", "is_initialized"))]
    #[inline]
    pub fn is_set(&self) -> bool {
        self.get().is_some()
    }

    /// For tests: how many waiters are queued at this moment. Programs have snapshots ([`word::Table::snapshot`](crate::word::Table)).
    #[doc(hidden)]
    pub fn waiters(&self) -> usize {
        self.slot.waiters()
    }

    /// Blocks this thread until the cell is set, and returns the value.
    ///
    /// ```
    /// let cell = waitword::OnceLock::new();
    /// std::thread::scope(|scope| {
    ///     let waits = scope.spawn(|| *cell.wait());
    ///     cell.set(7).unwrap();
    ///     assert_eq!(waits.join().unwrap(), 7);
    /// });
    /// ```
    ///
    /// # Panics
    /// If the cell is not set and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
    /// [`wait_async`](Self::wait_async) there.
    #[inline]
    #[track_caller]
    pub fn wait(&self) -> &T {
        match self.get() {
            Some(value) => value,
            None => block(&mut SlotValue(&self.slot), "wait_async"),
        }
    }

    /// Waits until the cell is set, without blocking this thread, and returns the value.
    ///
    /// # Cancellation
    /// Dropping the future dequeues it. No other waiter is affected.
    ///
    /// # Panics
    /// When polled again after it was ready.
    ///
    /// ```
    /// # smol::block_on(async {
    /// let cell = waitword::OnceLock::new();
    /// let set = async { cell.set(7).unwrap() };
    /// let (value, ()) = smol::future::zip(cell.wait_async(), set).await;
    /// assert_eq!(*value, 7);
    /// # });
    /// ```
    #[track_caller]
    pub fn wait_async(&self) -> OnceWait<'_, T> {
        OnceWait { wait: WaitFor::new(SlotValue(&self.slot)) }
    }

    blocking_waits! {
        self: &Self => SlotValue(&self.slot);
        /// Blocks this thread until the cell is set, or until `timeout` has elapsed, and returns the value.
        #[doc(alias = "wait_timeout")]
        wait_for -> &T;
        /// Blocks this thread until the cell is set, or until `deadline`, and returns the value.
        ///
        /// A value that is present is returned even after the deadline.
        wait_until, "";
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Creates a cell that is set.
impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        Self::with_value(value)
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> Self {
        self.get().cloned().map_or_else(Self::new, Self::from)
    }
}

/// Compares the values at this moment. Never waits.
impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

/// Shows the value, if the cell is set. Never waits.
impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => debug.field(value),
            None => debug.field(&format_args!("<uninit>")),
        };
        debug.finish()
    }
}

pin_project! {
    /// The future returned by [`OnceLock::wait_async`].
    #[must_use = "nothing is waited for until this is awaited: add `.await`, or wait without `_async` in a thread"]
    pub struct OnceWait<'a, T, D = NoDeadline> {
        #[pin]
        wait: WaitFor<SlotValue<'a, T>, D>,
    }
}

impl<'a, T> OnceWait<'a, T> {
    fn until(self, deadline: Until) -> OnceWait<'a, T, Until> {
        OnceWait { wait: self.wait.until(deadline) }
    }
}

impl<T, D> OnceWait<'_, T, D> {
    fn is_waiting(&self) -> bool {
        self.wait.is_waiting()
    }
}

impl<'a, T, D: Deadline> OnceWait<'a, T, D> {
    fn poll_either(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<&'a T, D::Error>> {
        self.project().wait.poll(cx)
    }
}

gives_up! { ['a, T,] OnceWait['a, T], "a `Result` with [`LockError::TimedOut`](crate::LockError::TimedOut)," }
polls_either! { ['a, T] OnceWait['a, T]: &'a T, Result<&'a T, LockError> }
