//! A value that is made at its first use.
//!
//! Threads and tasks that use the value while it is being made wait in one queue; the race is that of the cell's turn
//! (`raw.rs`):
//!
//! ```text
//!   A (first)                                B
//!   ───────────────────────────────          ───────────────────────────────
//!   has the turn; runs the initialiser       RUNNING + WAITERS; queued
//!   SET; wake all                            woken: the value
//! ```
//! The initialiser is stored beside the cell and belongs to the holder of the turn. It is in a lock of its own, which is therefore always
//! free. That costs a few bytes, and needs no unsafe code.

use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use waitword_core::observe::{Caller, WaitsFor};

use crate::condition::{Condition, WaitFor, block};
use crate::holders::LockType;
use crate::once::OnceLock;
use crate::once::slot::{SlotTurn, Turn};
use crate::sync::atomic::AtomicU32;
use crate::sync::const_fn;

/// A value that is initialised by the first thread or task that uses it.
///
/// ```
/// use waitword::LazyLock;
///
/// static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| "a few words".split(' ').collect());
///
/// assert_eq!(WORDS.len(), 3);
/// # smol::block_on(async {
/// assert_eq!(LazyLock::force_async(&WORDS).await[0], "a");
/// # });
/// ```
///
/// The initialiser is not async, because a dereference cannot await. A task uses [`force_async`](Self::force_async), which does not block
/// while *another* thread or task runs the initialiser. For an async initialiser, write a function around an [`OnceLock`]:
///
/// ```
/// use waitword::OnceLock;
///
/// async fn config() -> &'static String {
///     static CONFIG: OnceLock<String> = OnceLock::new();
///     CONFIG.get_or_init_async(async || "loaded".to_owned()).await
/// }
/// # smol::block_on(async { assert_eq!(config().await, "loaded") });
/// ```
///
/// # Panics
/// If the initialiser panics, the call that ran it panics, and so does every later call, because an initialiser can run only once. (For
/// one that may fail and be tried again, use [`OnceLock::get_or_try_init`].) A dereference panics as [`force`](Self::force) does.
///
/// # Deadlocks
/// An initialiser that uses the value which it initialises waits for itself.
#[doc(alias("Lazy", "AsyncLazy", "LazyCell", "lazy_static"))]
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    /// `Some` until it has been run.
    initialiser: Mutex<Option<F>>,
}

impl<T, F> LazyLock<T, F> {
    const_fn! {
        /// Creates a lazy value with this initialiser, which runs at the first use.
        pub const fn new(initialiser: F) -> Self {
            Self { cell: OnceLock::new(), initialiser: Mutex::new(Some(initialiser)) }
        }
    }

    /// Returns the value if it is initialised, and `None` otherwise. Never waits.
    ///
    /// ```
    /// use waitword::LazyLock;
    ///
    /// let lazy = LazyLock::new(|| 1);
    /// assert_eq!(LazyLock::get(&lazy), None);
    /// assert_eq!((*lazy, LazyLock::get(&lazy)), (1, Some(&1)));
    /// ```
    #[doc(alias = "try_force")]
    #[inline]
    pub fn get(this: &Self) -> Option<&T> {
        this.cell.get()
    }

    /// Returns a mutable reference to the value if it is initialised. Never waits, because the `&mut` excludes all others.
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.cell.get_mut()
    }

    /// Consumes the lazy value, and returns the value if it is initialised. Never waits.
    ///
    /// # Errors
    /// `Some` with the initialiser if it has not run, `None` if it has panicked.
    pub fn into_inner(this: Self) -> Result<T, Option<F>> {
        let Self { cell, initialiser } = this;
        cell.into_inner().ok_or_else(|| initialiser.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Returns the value, and runs the initialiser first if it has not run. Blocks this thread while another runs it.
    ///
    /// # Panics
    /// - If the initialiser panics, or has panicked before.
    /// - If another thread or task runs the initialiser and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
    ///   [`force_async`](Self::force_async) there.
    #[inline]
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        match this.cell.get() {
            Some(value) => value,
            None => this.force_slow(),
        }
    }

    /// Returns the value, and runs the initialiser at the first poll if it has not run. Waits while another runs it, without blocking this
    /// thread.
    ///
    /// # Cancellation
    /// Dropping the future dequeues it. No other waiter is affected. The initialiser runs within one poll, so it is never interrupted.
    ///
    /// # Panics
    /// If the initialiser panics, or has panicked before. When polled again after it was ready.
    #[track_caller]
    pub fn force_async(this: &Self) -> impl Future<Output = &T> {
        let wait = WaitFor::new(Forcing(this, Caller::here()));
        async move {
            let Ok(value) = wait.await;
            value
        }
    }

    /// Returns a mutable reference to the value, and runs the initialiser first if it has not run. Never waits, because the `&mut` excludes all
    /// others.
    ///
    /// A mutable dereference does the same.
    ///
    /// ```
    /// use waitword::LazyLock;
    ///
    /// let mut lazy = LazyLock::new(|| vec![1]);
    /// LazyLock::force_mut(&mut lazy).push(2);
    /// lazy.push(3);
    /// assert_eq!(*lazy, [1, 2, 3]);
    /// ```
    ///
    /// # Panics
    /// If the initialiser panics, or has panicked before.
    pub fn force_mut(this: &mut Self) -> &mut T {
        let Self { cell, initialiser } = this;
        let initialiser = initialiser.get_mut().unwrap_or_else(PoisonError::into_inner);
        cell.get_mut_or_init(|| initialiser.take().unwrap_or_else(|| has_panicked())())
    }

    #[cold]
    #[track_caller]
    fn force_slow(&self) -> &T {
        block(&mut Forcing(self, Caller::here()), "LazyLock::force_async")
    }

    /// Runs the initialiser, which belongs to the holder of the turn.
    fn make<'a>(&'a self, turn: Turn<'a, T>) -> &'a T {
        let initialiser = self.initialiser.lock().unwrap_or_else(PoisonError::into_inner).take();
        match initialiser {
            Some(initialiser) => turn.fill(initialiser()),
            None => has_panicked(),
        }
    }
}

#[cold]
fn has_panicked() -> ! {
    panic!(
        "the initialiser of this `LazyLock` panicked, and can run only once: use `OnceLock` if it may fail"
    )
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        Self::force_mut(self)
    }
}

/// Creates a lazy value that is initialised.
impl<T, F> From<T> for LazyLock<T, F> {
    fn from(value: T) -> Self {
        Self { cell: OnceLock::with_value(value), initialiser: Mutex::new(None) }
    }
}

/// Creates a lazy value that is initialised to the default of its type.
impl<T: Default> Default for LazyLock<T> {
    fn default() -> Self {
        Self::new(T::default)
    }
}

/// Shows the value, if it is initialised. Never waits.
impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_tuple("LazyLock");
        match Self::get(self) {
            Some(value) => debug.field(value),
            None => debug.field(&format_args!("<uninit>")),
        };
        debug.finish()
    }
}

/// A waiter for the value, which makes it if it gets the turn.
pub(crate) struct Forcing<'a, T, F>(&'a LazyLock<T, F>, Caller);

impl<'a, T, F: FnOnce() -> T> Condition for Forcing<'a, T, F> {
    type At = &'a AtomicU32;
    type Output = &'a T;

    const WAITS_FOR: WaitsFor = WaitsFor::OnceLock;

    fn lock_type(&self) -> Option<&'static LockType> {
        Some(const { &LockType::new::<T>("LazyLock") })
    }

    fn at(&self) -> &'a AtomicU32 {
        SlotTurn(&self.0.cell.slot).at()
    }

    fn check(&mut self) -> Result<&'a T, u32> {
        Ok(match SlotTurn(&self.0.cell.slot).check()? {
            Ok(value) => value,
            Err(turn) => self.0.make(turn.runs_in_thread(self.1)),
        })
    }
}
