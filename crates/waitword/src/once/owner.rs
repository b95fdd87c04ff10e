//! The methods of the exclusive owner of the cell: no initialiser runs meanwhile, so none has to be waited for.
//!
//! An initialiser may await, so each method that takes one has an async twin. There are no forms with a deadline, because
//! there is no wait to give up.

use crate::once::OnceLock;

impl<T> OnceLock<T> {
    /// The value, for the exclusive owner.
    ///
    /// ```
    /// let mut cell = waitword::OnceLock::from(1);
    /// *cell.get_mut().unwrap() += 1;
    /// assert_eq!(cell.into_inner(), Some(2));
    /// ```
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.slot.get_mut()
    }

    /// The value, for the exclusive owner. If there is none, `initialiser` makes it.
    ///
    /// ```
    /// let mut cell = waitword::OnceLock::new();
    /// *cell.get_mut_or_init(|| 1) += 1;
    /// *cell.get_mut_or_init(|| unreachable!("it is set")) += 1;
    /// assert_eq!(cell.get(), Some(&3));
    /// ```
    ///
    /// # Panics
    /// When `initialiser` does; the cell is not set then.
    #[inline]
    pub fn get_mut_or_init(&mut self, initialiser: impl FnOnce() -> T) -> &mut T {
        if self.get().is_none() {
            *self = Self::from(initialiser());
        }
        self.slot.get_mut().expect(SET)
    }

    /// As [`get_mut_or_init`](Self::get_mut_or_init), with an initialiser that may fail.
    ///
    /// ```
    /// let mut cell = waitword::OnceLock::new();
    /// assert!(cell.get_mut_or_try_init(|| "x".parse::<i32>()).is_err());
    /// assert_eq!(cell.get_mut_or_try_init(|| "7".parse::<i32>()), Ok(&mut 7));
    /// ```
    ///
    /// # Errors
    /// That of `initialiser`; the cell is not set then.
    ///
    /// # Panics
    /// As [`get_mut_or_init`](Self::get_mut_or_init).
    #[inline]
    pub fn get_mut_or_try_init<E>(
        &mut self,
        initialiser: impl FnOnce() -> Result<T, E>,
    ) -> Result<&mut T, E> {
        if self.get().is_none() {
            *self = Self::from(initialiser()?);
        }
        Ok(self.slot.get_mut().expect(SET))
    }

    /// As [`get_mut_or_init`](Self::get_mut_or_init), with an initialiser that awaits.
    ///
    /// ```
    /// # smol::block_on(async {
    /// let mut cell = waitword::OnceLock::new();
    /// *cell.get_mut_or_init_async(async || 1).await += 1;
    /// assert_eq!(cell.get(), Some(&2));
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// If the future is dropped while `initialiser` awaits, `initialiser` is dropped, too, and the cell is not set.
    ///
    /// # Panics
    /// As [`get_mut_or_init`](Self::get_mut_or_init); and when polled again after it was ready.
    pub async fn get_mut_or_init_async(&mut self, initialiser: impl AsyncFnOnce() -> T) -> &mut T {
        if self.get().is_none() {
            *self = Self::from(initialiser().await);
        }
        self.slot.get_mut().expect(SET)
    }

    /// As [`get_mut_or_init_async`](Self::get_mut_or_init_async), with an initialiser that may fail.
    ///
    /// # Errors
    /// That of `initialiser`; the cell is not set then.
    ///
    /// # Cancellation
    /// As [`get_mut_or_init_async`](Self::get_mut_or_init_async).
    ///
    /// # Panics
    /// As [`get_mut_or_init_async`](Self::get_mut_or_init_async).
    pub async fn get_mut_or_try_init_async<E>(
        &mut self,
        initialiser: impl AsyncFnOnce() -> Result<T, E>,
    ) -> Result<&mut T, E> {
        if self.get().is_none() {
            *self = Self::from(initialiser().await?);
        }
        Ok(self.slot.get_mut().expect(SET))
    }

    /// Takes the value out; the cell can be set again.
    ///
    /// ```
    /// let mut cell = waitword::OnceLock::from(1);
    /// assert_eq!((cell.take(), cell.take()), (Some(1), None));
    /// assert_eq!(cell.set(2), Ok(()));
    /// ```
    pub fn take(&mut self) -> Option<T> {
        self.slot.take()
    }

    /// The value, if the cell was set.
    pub fn into_inner(mut self) -> Option<T> {
        self.slot.take()
    }
}

const SET: &str = "it was set just now, if not before";
