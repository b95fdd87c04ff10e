//! The cell that is set once.

use std::fmt;

use waitword::OnceLock;

/// A value that is set once, by a task or a thread. Those that find another's initialiser at work wait for it.
///
/// ```
/// let cell = async_lock::OnceCell::new();
/// assert_eq!(cell.get_or_init_blocking(|| 1), &1);
/// assert_eq!(cell.set_blocking(2), Err(2));
/// ```
pub struct OnceCell<T>(OnceLock<T>);

impl<T> OnceCell<T> {
    /// A cell without a value.
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Whether there is a value.
    pub fn is_initialized(&self) -> bool {
        self.0.is_set()
    }

    /// The value, if there is one. Never waits.
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// The value, if there is one.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.get_mut()
    }

    /// Takes the value out, if there is one.
    pub fn take(&mut self) -> Option<T> {
        self.0.take()
    }

    /// The value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.0.into_inner()
    }

    /// The value.
    ///
    /// # Safety
    /// There is one.
    pub unsafe fn get_unchecked(&self) -> &T {
        // SAFETY: the contract is the caller's.
        unsafe { self.get().unwrap_unchecked() }
    }

    /// Waits until there is a value.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> {
        self.inside().wait_async()
    }

    /// As [`wait`](Self::wait), blocking this thread.
    #[track_caller]
    pub fn wait_blocking(&self) -> &T {
        self.inside().wait()
    }

    /// The value. If there is none, `closure` makes it; if it fails, is dropped or panics, another's turn comes.
    ///
    /// # Errors
    /// That of `closure`.
    #[track_caller]
    pub fn get_or_try_init<E, F: Future<Output = Result<T, E>>>(
        &self,
        closure: impl FnOnce() -> F,
    ) -> impl Future<Output = Result<&T, E>> {
        self.inside().get_or_try_init_async(async move || closure().await)
    }

    /// As [`get_or_try_init`](Self::get_or_try_init), blocking this thread.
    ///
    /// # Errors
    /// That of `closure`.
    #[track_caller]
    pub fn get_or_try_init_blocking<E>(&self, closure: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        self.inside().get_or_try_init(closure)
    }

    /// The value. If there is none, `closure` makes it; if it is dropped or panics, another's turn comes.
    #[track_caller]
    pub fn get_or_init<F: Future<Output = T>>(
        &self,
        closure: impl FnOnce() -> F,
    ) -> impl Future<Output = &T> {
        self.inside().get_or_init_async(async move || closure().await)
    }

    /// As [`get_or_init`](Self::get_or_init), blocking this thread.
    #[track_caller]
    pub fn get_or_init_blocking(&self, closure: impl FnOnce() -> T + Unpin) -> &T {
        self.inside().get_or_init(closure)
    }

    /// Sets the value, unless there is one when it is this caller's turn.
    ///
    /// # Errors
    /// `value`, if there is one.
    pub async fn set(&self, value: T) -> Result<&T, T> {
        let mut value = Some(value);
        let stored = self.inside().get_or_init_async(async || value.take().expect(ONCE)).await;
        value.map_or(Ok(stored), Err)
    }

    /// As [`set`](Self::set), blocking this thread.
    ///
    /// # Errors
    /// `value`, if there is one.
    #[track_caller]
    pub fn set_blocking(&self, value: T) -> Result<&T, T> {
        let mut value = Some(value);
        let stored = self.inside().get_or_init(|| value.take().expect(ONCE));
        value.map_or(Ok(stored), Err)
    }

    /// Sets the value, if there is none and no initialiser runs. Never waits.
    ///
    /// # Errors
    /// `value`, otherwise.
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
