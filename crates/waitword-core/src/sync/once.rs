//! A value that is made once.

use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// As the standard library's, but no thread waits until another has made the value. Threads that find none each make one, and the first
/// that is finished is kept. (In the child of a fork, the thread that was making the value may not exist; and a browser's page must not
/// sleep until it is made.)
///
/// Invariant O1: once it is not null, the pointer is that of a leaked box, which is freed only with the cell.
#[derive(Debug)]
#[doc(hidden)]
pub struct OnceLock<T> {
    value: AtomicPtr<T>,
    /// Shared between threads under the same conditions.
    _like: PhantomData<std::sync::OnceLock<T>>,
}

impl<T> OnceLock<T> {
    /// Creates a cell without a value.
    pub const fn new() -> Self {
        Self { value: AtomicPtr::new(ptr::null_mut()), _like: PhantomData }
    }

    /// Returns the value, if there is one.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: null, or a box that lives as long as `self` (O1); whoever stored it released its content.
        unsafe { self.value.load(Ordering::Acquire).as_ref() }
    }

    /// Returns the value. Makes it, if there is none.
    #[inline]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        match self.get() {
            Some(value) => value,
            None => self.offer(make()).0,
        }
    }

    /// Sets the value.
    ///
    /// # Errors
    /// If there is one already: gives `value` back.
    pub fn set(&self, value: T) -> Result<(), T> {
        self.offer(value).1.map_or(Ok(()), |value| Err(*value))
    }

    /// Stores `value` if there is none. Returns the stored value, and the offered one if that was not stored.
    #[cold]
    fn offer(&self, value: T) -> (&T, Option<Box<T>>) {
        let ours = Box::into_raw(Box::new(value));
        let stored = self.value.compare_exchange(ptr::null_mut(), ours, Ordering::AcqRel, Ordering::Acquire);
        // SAFETY: a box that lives as long as `self` (O1): ours from now on, or the one that was faster; if it is that, ours was shown to
        // nobody.
        unsafe {
            match stored {
                Ok(_) => (&*ours, None),
                Err(theirs) => (&*theirs, Some(Box::from_raw(ours))),
            }
        }
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        let value = *self.value.get_mut();
        if !value.is_null() {
            // SAFETY: nobody has a reference any more (O1).
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn all_get_the_same_value_and_no_other_is_kept() {
        let (kept, threads) = (std::sync::Arc::new(()), 8);
        let (cell, begin) = (OnceLock::new(), Barrier::new(threads));
        let seen = std::thread::scope(|scope| {
            let make = |me| {
                begin.wait();
                let (seen, _) = cell.get_or_init(|| (me, std::sync::Arc::clone(&kept)));
                *seen
            };
            let threads: Vec<_> = (0..threads).map(|me| scope.spawn(move || make(me))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<usize>>()
        });
        assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
        assert_eq!(std::sync::Arc::strong_count(&kept), 2);
        assert!(cell.set((9, std::sync::Arc::clone(&kept))).is_err());
        drop(cell);
        assert_eq!(std::sync::Arc::strong_count(&kept), 1);
    }

    /// In the child of a fork, no thread finishes what another thread of the parent was making.
    #[test]
    fn nobody_waits_for_who_makes_it() {
        let cell = OnceLock::new();
        let (stay, stays) = channel::<()>();
        let (begin, begun) = channel();
        std::thread::scope(|scope| {
            let cell = &cell;
            let slow = scope.spawn(move || {
                *cell.get_or_init(|| {
                    begin.send(()).unwrap();
                    stays.recv().unwrap();
                    1
                })
            });
            begun.recv().unwrap();
            assert_eq!(*cell.get_or_init(|| 2), 2);
            stay.send(()).unwrap();
            assert_eq!(slow.join().unwrap(), 2);
        });
    }
}
