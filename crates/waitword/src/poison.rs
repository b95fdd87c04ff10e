//! A value that remembers that it was left in the middle of a change.

use std::error::Error;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::thread::{self, Thread};

/// A value that can be poisoned: if it is left in the middle of a change, later accesses return an error.
///
/// The locks of this crate do not poison; where that matters, put this into them. It is a value like any other, independent
/// of locks, so a `RwLock<Poison<T>>` works as a `Mutex<Poison<T>>` does. The error says where the change began, and on which thread;
/// [`clear_poison`](Self::clear_poison) gives the value to whoever can repair it.
///
/// | | poisoned by |
/// |---|---|
/// | [`begin`](Self::begin) … [`done`](Self::done) | whatever ends the hold in between: a panic, a `?`, an early return, a task that is dropped at an `.await` |
/// | [`change`](Self::change), [`change_async`](Self::change_async) | a closure that panics, returns an error, or is dropped at an `.await` |
/// | [`get_mut`](Self::get_mut) | a panic while its guard lives, and nothing else |
///
/// ```
/// use waitword::{Mutex, Poison};
///
/// let accounts = Mutex::new(Poison::new((100, 0)));
/// # smol::block_on(async {
/// let mut locked = accounts.lock_async().await;
/// locked.begin().unwrap().0 -= 30;
/// // If the task is dropped here, 30 are missing, and the next holder is told.
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

    /// Returns the value, poisoned or not. [`is_poisoned`](Self::is_poisoned) says which.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: ?Sized> Poison<T> {
    /// Returns the value, to be read.
    ///
    /// # Errors
    /// [`Poisoned`] if it was left in the middle of a change.
    pub fn get(&self) -> Result<&T, Poisoned> {
        match &self.begun {
            None => Ok(&self.value),
            Some(begun) => Err(begun.clone()),
        }
    }

    /// Returns the value, to be changed. A panic that begins while the guard lives, and unwinds through it, poisons the value.
    ///
    /// # Errors
    /// [`Poisoned`] if it was left in the middle of a change.
    #[track_caller]
    pub fn get_mut(&mut self) -> Result<PoisonGuard<'_, T>, Poisoned> {
        self.get()?;
        Ok(PoisonGuard { poison: self, at: Location::caller(), panicking_before: thread::panicking() })
    }

    /// Begins a change in several steps, and returns the value. From now on it counts as left in the middle, until [`done`](Self::done).
    ///
    /// The mark is in the value: nothing has to run for it to stay, whatever ends the hold. [`value_mut`](Self::value_mut) returns the value
    /// for the next steps.
    ///
    /// # Errors
    /// [`Poisoned`] if it was left in the middle of a change already.
    #[track_caller]
    pub fn begin(&mut self) -> Result<&mut T, Poisoned> {
        self.get()?;
        self.begun = Some(Poisoned { at: Location::caller(), thread: thread::current() });
        Ok(&mut self.value)
    }

    /// Ends the change that [`begin`](Self::begin) began.
    ///
    /// # Panics
    /// If none has begun: a poison that another holder has left must not be cleared by mistake.
    #[track_caller]
    pub fn done(&mut self) {
        assert!(self.begun.take().is_some(), "`done` without `begin`");
    }

    /// Changes the value. An error and a panic leave it poisoned.
    ///
    /// # Errors
    /// That of `change`; [`Poisoned`] if the value was left in the middle of a change.
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

    /// As [`change`](Self::change), in a task.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready leaves the value poisoned, once it was polled.
    pub async fn change_async<R, E: From<Poisoned>>(
        &mut self,
        change: impl AsyncFnOnce(&mut T) -> Result<R, E>,
    ) -> Result<R, E> {
        let changed = change(self.begin()?).await?;
        self.done();
        Ok(changed)
    }

    /// Returns the value, poisoned or not, and leaves it so: for the steps between [`begin`](Self::begin) and [`done`](Self::done).
    pub fn value_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Returns whether the value was left in the middle of a change, or is in one.
    pub fn is_poisoned(&self) -> bool {
        self.begun.is_some()
    }

    /// Clears the poison, and returns the value, to be repaired.
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

/// The way to change what is in a [`Poison`] in one go.
#[derive(Debug)]
#[must_use = "nothing can be poisoned once the guard is dropped, which is at once if nobody keeps it"]
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

/// A value was left in the middle of a change: see [`Poison::clear_poison`].
#[derive(Clone, Debug)]
pub struct Poisoned {
    at: &'static Location<'static>,
    thread: Thread,
}

impl Poisoned {
    /// Returns where the change began.
    pub fn begun_at(&self) -> &'static Location<'static> {
        self.at
    }

    /// Returns the thread on which the change began. If a task began it, this thread polled the task.
    pub fn begun_by(&self) -> &Thread {
        &self.thread
    }
}

/// The same change: begun at the same place on the same thread.
impl PartialEq for Poisoned {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at && self.thread.id() == other.thread.id()
    }
}

impl Eq for Poisoned {}

impl fmt::Display for Poisoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.thread.name().unwrap_or("without a name");
        write!(f, "left in the middle of a change, which thread {name} began at {}: ", self.at)?;
        f.write_str("repair the value and call `clear_poison`, or give it up")
    }
}

impl Error for Poisoned {}
