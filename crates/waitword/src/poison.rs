//! A value that remembers that a change was left incomplete.

use std::error::Error;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::thread::{self, Thread};

/// A value that can be poisoned: after a change that was left incomplete, accesses return an error.
///
/// The locks of this crate do not poison; where you need that, put the value into a `Poison`. It is independent of locks, so a
/// `RwLock<Poison<T>>` works like a `Mutex<Poison<T>>`. The error says where the change began, and on which thread;
/// [`clear_poison`](Self::clear_poison) returns the value for repair.
///
/// | | poisoned by |
/// |---|---|
/// | [`begin`](Self::begin) … [`done`](Self::done) | whatever ends the hold in between: a panic, a `?`, an early return, a task that is dropped at an `.await` |
/// | [`change`](Self::change), [`change_async`](Self::change_async) | a closure that panics, returns an error, or is dropped at an `.await` |
/// | [`get_mut`](Self::get_mut) | only a panic while its guard lives |
///
/// ```
/// use waitword::{Mutex, Poison};
///
/// let accounts = Mutex::new(Poison::new((100, 0)));
/// # smol::block_on(async {
/// let mut locked = accounts.lock_async().await;
/// locked.begin().unwrap().0 -= 30;
/// // If the task is dropped here, 30 are missing, and the next holder receives an error.
/// smol::future::yield_now().await;
/// locked.value_mut().1 += 30;
/// locked.done();
/// drop(locked);
///
/// let mut locked = accounts.lock_async().await;
/// locked.begin().unwrap().0 -= 30;
/// drop(locked);
///
/// let mut locked = accounts.lock_async().await;
/// let left = locked.begin().unwrap_err();
/// println!("{left}");
/// // The caller knows how to repair the value.
/// *locked.clear_poison() = (70, 30);
/// assert_eq!(locked.get(), Ok(&(70, 30)));
/// # });
/// ```
#[doc(alias("PoisonError", "PoisonLock"))]
#[derive(Debug, Default)]
pub struct Poison<T: ?Sized> {
    /// A change has begun, and is not done.
    begun: Option<Poisoned>,
    value: T,
}

impl<T> Poison<T> {
    /// Creates a value that is not poisoned.
    pub const fn new(value: T) -> Self {
        Self { begun: None, value }
    }

    /// Consumes the `Poison` and returns the value, poisoned or not (see [`is_poisoned`](Self::is_poisoned)).
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: ?Sized> Poison<T> {
    /// Returns a reference to the value.
    ///
    /// # Errors
    /// [`Poisoned`] if a change was left incomplete.
    pub fn get(&self) -> Result<&T, Poisoned> {
        match &self.begun {
            None => Ok(&self.value),
            Some(begun) => Err(begun.clone()),
        }
    }

    /// Returns a guard to change the value. If a panic begins while the guard is alive and unwinds through it, the value is poisoned.
    ///
    /// # Errors
    /// [`Poisoned`] if a change was left incomplete.
    #[track_caller]
    pub fn get_mut(&mut self) -> Result<PoisonGuard<'_, T>, Poisoned> {
        self.get()?;
        Ok(PoisonGuard { poison: self, at: Location::caller(), panicking_before: thread::panicking() })
    }

    /// Begins a change in several steps, and returns the value. The value is poisoned from now on until [`done`](Self::done).
    ///
    /// The mark is stored in the `Poison`, so it stays whatever ends the hold. [`value_mut`](Self::value_mut) returns the value
    /// for the next steps.
    ///
    /// # Errors
    /// [`Poisoned`] if an earlier change was left incomplete.
    #[track_caller]
    pub fn begin(&mut self) -> Result<&mut T, Poisoned> {
        self.get()?;
        self.begun = Some(Poisoned { at: Location::caller(), thread: thread::current() });
        Ok(&mut self.value)
    }

    /// Ends the change that [`begin`](Self::begin) began.
    ///
    /// # Panics
    /// If this guard has not begun a change. So a `done` by mistake cannot clear the poison of a change that an earlier holder left incomplete.
    #[track_caller]
    pub fn done(&mut self) {
        assert!(self.begun.take().is_some(), "`done` without `begin`");
    }

    /// Changes the value with `change`. If that returns an error or panics, the value is poisoned.
    ///
    /// # Errors
    /// The error of `change`, or [`Poisoned`] if an earlier change was left incomplete.
    ///
    /// ```
    /// use waitword::{Poison, Poisoned};
    ///
    /// let mut numbers = Poison::new(vec![1]);
    /// numbers.change(|numbers| Ok::<_, Poisoned>(numbers.push(2))).unwrap();
    /// assert_eq!(numbers.into_inner(), [1, 2]);
    /// ```
    #[track_caller]
    pub fn change<R, E: From<Poisoned>>(
        &mut self,
        change: impl FnOnce(&mut T) -> Result<R, E>,
    ) -> Result<R, E> {
        let changed = change(self.begin()?)?;
        self.done();
        Ok(changed)
    }

    /// Changes the value with the async `change`. If that returns an error, panics or is dropped, the value is poisoned.
    ///
    /// # Errors
    /// As with [`change`](Self::change).
    ///
    /// # Cancellation
    /// A future that was polled and is dropped before it is ready leaves the value poisoned.
    pub async fn change_async<R, E: From<Poisoned>>(
        &mut self,
        change: impl AsyncFnOnce(&mut T) -> Result<R, E>,
    ) -> Result<R, E> {
        let changed = change(self.begin()?).await?;
        self.done();
        Ok(changed)
    }

    /// Returns a mutable reference to the value, poisoned or not: for the steps between [`begin`](Self::begin) and [`done`](Self::done).
    pub fn value_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Returns `true` if a change has begun and is not done.
    pub fn is_poisoned(&self) -> bool {
        self.begun.is_some()
    }

    /// Clears the poison, and returns a mutable reference to the value, for repair.
    pub fn clear_poison(&mut self) -> &mut T {
        self.begun = None;
        &mut self.value
    }
}

impl<T> From<T> for Poison<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// A guard to change the value in a [`Poison`]. Returned by [`Poison::get_mut`].
///
/// If a panic begins while the guard is alive and unwinds through it, the value is poisoned.
#[derive(Debug)]
#[must_use = "a panic poisons the value only while the guard lives: keep it with `let guard = ...`"]
pub struct PoisonGuard<'a, T: ?Sized> {
    poison: &'a mut Poison<T>,
    at: &'static Location<'static>,
    /// Whether a panic was under way before: a destructor that runs then may change the value completely.
    panicking_before: bool,
}

impl<T: ?Sized> Deref for PoisonGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.poison.value
    }
}

impl<T: ?Sized> DerefMut for PoisonGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.poison.value
    }
}

impl<T: ?Sized> Drop for PoisonGuard<'_, T> {
    fn drop(&mut self) {
        if thread::panicking() && !self.panicking_before {
            self.poison.begun = Some(Poisoned { at: self.at, thread: thread::current() });
        }
    }
}

/// The error of an access to a [`Poison`] in which a change was left incomplete. See [`Poison::clear_poison`].
#[derive(Clone, Debug)]
pub struct Poisoned {
    at: &'static Location<'static>,
    thread: Thread,
}

impl Poisoned {
    /// Returns the source location at which the change began.
    pub fn begun_at(&self) -> &'static Location<'static> {
        self.at
    }

    /// Returns the thread on which the change began. If a task began it, this thread polled the task.
    pub fn begun_by(&self) -> &Thread {
        &self.thread
    }
}

/// Equal if the change began at the same source location on the same thread.
impl PartialEq for Poisoned {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at && self.thread.id() == other.thread.id()
    }
}

impl Eq for Poisoned {}

impl fmt::Display for Poisoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.thread.name().unwrap_or("without a name");
        write!(f, "poisoned by an incomplete change, which thread {name} began at {}: ", self.at)?;
        f.write_str("repair the value and call `clear_poison`, or discard it")
    }
}

impl Error for Poisoned {}
