//! The cell that is set once.

use std::fmt;

use waitword::OnceLock;

/// A cell that is set once, by a task or a thread. While an initialiser runs, others that would initialise the cell wait for it.
///
/// # Example
/// ```
/// let cell = async_lock::OnceCell::new();
/// assert_eq!(cell.get_or_init_blocking(|| 1), &1);
/// assert_eq!(cell.set_blocking(2), Err(2));
/// ```
pub struct OnceCell<T>(OnceLock<T>);

impl<T> OnceCell<T> {
    /// Creates an empty cell.
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Returns `true` if the cell is set. Never waits.
    pub fn is_initialized(&self) -> bool {
        self.0.is_set()
    }

    /// Returns a reference to the value, or `None` if the cell is empty. Never waits.
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// Returns a mutable reference to the value, or `None` if the cell is empty.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.get_mut()
    }

    /// Takes the value out of the cell, which is empty then. Returns `None` if it was empty.
    pub fn take(&mut self) -> Option<T> {
        self.0.take()
    }

    /// Consumes the cell, and returns the value. Returns `None` if the cell is empty.
    pub fn into_inner(self) -> Option<T> {
        self.0.into_inner()
    }

    /// Returns a reference to the value, without checking that the cell is set.
    ///
    /// # Safety
    /// The cell is set.
    pub unsafe fn get_unchecked(&self) -> &T {
        // SAFETY: the contract is the caller's.
        unsafe { self.get().unwrap_unchecked() }
    }

    /// Waits until the cell is set, without blocking this thread, and returns a reference to the value.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> {
        self.inside().wait_async()
    }

    /// Blocks this thread until the cell is set, and returns a reference to the value.
    ///
    /// # Panics
    /// If the call would block, and blocking is forbidden on this thread (`waitword::forbid_blocking`).
    #[track_caller]
    pub fn wait_blocking(&self) -> &T {
        self.inside().wait()
    }

    /// Returns the value, or sets the cell to the result of `closure`, which may fail, if it is empty. Waits while another initialiser runs.
    ///
    /// # Errors
    /// The error of `closure`. The cell stays empty, and the turn to initialise it is forwarded to a waiter.
    ///
    /// # Cancellation
    /// If the future is dropped, or `closure` panics, the turn is forwarded as well.
    #[track_caller]
    pub fn get_or_try_init<E, F: Future<Output = Result<T, E>>>(
        &self,
        closure: impl FnOnce() -> F,
    ) -> impl Future<Output = Result<&T, E>> {
        self.inside().get_or_try_init_async(async move || closure().await)
    }

    /// Returns the value, or sets the cell to the result of `closure`, which may fail, if it is empty. Blocks this thread while another
    /// initialiser runs.
    ///
    /// # Errors
    /// The error of `closure`. The cell stays empty, and the turn to initialise it is forwarded to a waiter.
    ///
    /// # Panics
    /// If the call would block, and blocking is forbidden on this thread (`waitword::forbid_blocking`).
    #[track_caller]
    pub fn get_or_try_init_blocking<E>(&self, closure: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        self.inside().get_or_try_init(closure)
    }

    /// Returns the value, or sets the cell to the result of `closure` if it is empty. Waits while another initialiser runs.
    ///
    /// # Cancellation
    /// If the future is dropped, or `closure` panics, the cell stays empty, and the turn to initialise it is forwarded to a waiter.
    #[track_caller]
    pub fn get_or_init<F: Future<Output = T>>(
        &self,
        closure: impl FnOnce() -> F,
    ) -> impl Future<Output = &T> {
        self.inside().get_or_init_async(async move || closure().await)
    }

    /// Returns the value, or sets the cell to the result of `closure` if it is empty. Blocks this thread while another initialiser runs.
    ///
    /// # Panics
    /// If the call would block, and blocking is forbidden on this thread (`waitword::forbid_blocking`).
    #[track_caller]
    pub fn get_or_init_blocking(&self, closure: impl FnOnce() -> T + Unpin) -> &T {
        self.inside().get_or_init(closure)
    }

    /// Sets the cell to `value`, and returns a reference to it. Waits while another initialiser runs.
    ///
    /// # Errors
    /// Returns `value` if the cell is already set, or another initialiser sets it first.
    pub async fn set(&self, value: T) -> Result<&T, T> {
        let mut value = Some(value);
        let stored = self.inside().get_or_init_async(async || value.take().expect(ONCE)).await;
        value.map_or(Ok(stored), Err)
    }

    /// Sets the cell to `value`, and returns a reference to it. Blocks this thread while another initialiser runs.
    ///
    /// # Errors
    /// Returns `value` if the cell is already set, or another initialiser sets it first.
    ///
    /// # Panics
    /// If the call would block, and blocking is forbidden on this thread (`waitword::forbid_blocking`).
    #[track_caller]
    pub fn set_blocking(&self, value: T) -> Result<&T, T> {
        let mut value = Some(value);
        let stored = self.inside().get_or_init(|| value.take().expect(ONCE));
        value.map_or(Ok(stored), Err)
    }

    /// Attempts to set the cell to `value` without waiting.
    ///
    /// # Errors
    /// Returns `value` if the cell is already set, or an initialiser runs at this moment.
    pub fn try_set(&self, value: T) -> Result<(), T> {
        self.0.set(value)
    }

    fn inside(&self) -> &OnceLock<T> {
        waitword_observe::init();
        &self.0
    }
}

const ONCE: &str = "an initialiser is called once";

impl<T> Default for OnceCell<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceCell<T> {
    fn from(value: T) -> Self {
        Self(value.into())
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.get().map(|value| value as &dyn fmt::Debug);
        f.debug_tuple("OnceCell").field(value.unwrap_or(&format_args!("<uninitialized>"))).finish()
    }
}
