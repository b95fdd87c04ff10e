//! The condition variable: what you call, but for the ways to wait, which are in `grid.rs`, and over an `Arc` in `owned.rs`. Its word and the races are in `raw.rs`,
//! the futures in `futures.rs`, under the names of `named.rs`.

mod futures;
mod grid;
mod guard;
mod named;
mod owned;
mod raw;

use std::fmt;
use std::pin::pin;
use std::time::Instant;

use waitword_core::{Parker, may_block};

use crate::acquire::{Acquire, Handle, Step, block};
use crate::condition::{HasRaw, Waited};
use crate::error::LockError;
use crate::raw_mutex::RawMutex;
use crate::sync::const_fn;
use raw::{RawCondvar, Waiting};

pub use guard::CondvarGuard;
#[cfg(all(feature = "lock_api", not(waitword_loom)))]
pub(crate) use guard::sealed::Relock;
pub use named::{
    CondvarWait, CondvarWaitOwned, CondvarWaitOwnedUntil, CondvarWaitUntil, CondvarWaitWhile,
    CondvarWaitWhileOwned, CondvarWaitWhileOwnedUntil, CondvarWaitWhileUntil,
};

/// Waits, with a [`Mutex`](crate::Mutex) released meanwhile, until others have changed what is in it.
///
/// Threads and tasks wait in one line, first come first served, and whoever notifies them need not know which they are. A
/// wait takes the guard of the mutex, a [`MutexGuard`](crate::MutexGuard) or an [`OwnedMutexGuard`](crate::OwnedMutexGuard),
/// and gives it back: a thread lends it (`&mut guard`), a future has it by value.
///
/// There are no spurious wakeups: a wait ends because a notify counted it, or because its time is up. But between the notify
/// and the wait's end others may have had the mutex, and changed what is in it; so wait in a loop, or with
/// [`wait_while`](Self::wait_while) and its siblings, which are that loop.
///
/// ```
/// use std::thread;
/// use waitword::{Condvar, Mutex};
///
/// static FRAMES: Mutex<Vec<u32>> = Mutex::new(Vec::new());
/// static ARRIVED: Condvar = Condvar::new();
///
/// let decoder = thread::spawn(|| {
///     FRAMES.lock().push(7);
///     ARRIVED.notify_one();
/// });
/// // A task ...
/// let frame = smol::block_on(async {
///     let mut frames = ARRIVED.wait_while_async(FRAMES.lock_async().await, |frames| frames.is_empty()).await;
///     frames.pop()
/// });
/// assert_eq!(frame, Some(7));
/// decoder.join().unwrap();
/// // ... or a thread.
/// FRAMES.lock().push(8);
/// let mut frames = FRAMES.lock();
/// ARRIVED.wait_while(&mut frames, |frames| frames.is_empty());
/// assert_eq!(frames.pop(), Some(8));
/// ```
///
/// # No stampede
/// A notify wakes one at most. The others that it counted are moved, asleep, to the end of the mutex's line, and called one
/// by one as the mutex is released.
///
/// # No wakeup is missed
/// A wait is in line before it releases the mutex. So whoever changes what is in the mutex while holding it, and notifies
/// then or later, reaches every wait that was begun before the change.
///
/// # Fairness
/// Those who wait are notified in the order in which they came; and from then on they are in the mutex's line, and what holds
/// there holds for them ([`Mutex`](crate::Mutex)).
///
/// # One mutex at a time
/// While somebody waits, all who wait have to come with the same mutex. When nobody does, another may be used.
#[doc(alias("Condition", "Monitor", "condition_variable", "pthread_cond_t"))]
pub struct Condvar {
    raw: RawCondvar,
}

// SAFETY: it is a field, and the word is a field of that. Nothing panics (invariant 1 of `HasRaw`).
unsafe impl HasRaw for Condvar {
    type Raw = RawCondvar;

    fn raw(&self) -> &RawCondvar {
        &self.raw
    }
}

impl Condvar {
    const_fn! {
        /// A condition variable that nobody waits on.
        pub const fn new() -> Self {
            Self { raw: RawCondvar::new() }
        }
    }

    /// Notifies the one that has waited longest, if anybody waits. Returns how many it notified: 0 or 1.
    ///
    /// The mutex may be held or not. What was notified returns from its wait once it has the mutex; if its future is dropped
    /// before, the notify goes on to the next.
    ///
    /// ```
    /// assert_eq!(waitword::Condvar::new().notify_one(), 0);
    /// ```
    ///
    /// # Panics
    /// When the waker of a task does; it has been notified then.
    #[doc(alias("signal", "notify", "pthread_cond_signal"))]
    pub fn notify_one(&self) -> usize {
        self.raw.notify(1)
    }

    /// Notifies all who wait at this moment. Returns how many these were.
    ///
    /// One of them is woken at most; the others follow as the mutex is released.
    ///
    /// ```
    /// use waitword::{Condvar, Mutex};
    ///
    /// let (open, changed) = (Mutex::new(false), Condvar::new());
    /// std::thread::scope(|scope| {
    ///     for _ in 0..3 {
    ///         scope.spawn(|| changed.wait_while(&mut open.lock(), |open| !*open));
    ///     }
    ///     *open.lock() = true;
    ///     // Who waits by now; those who come later find it open.
    ///     assert!(changed.notify_all() <= 3);
    /// });
    /// ```
    ///
    /// # Panics
    /// As [`notify_one`](Self::notify_one).
    #[doc(alias("broadcast", "notify_waiters", "pthread_cond_broadcast"))]
    pub fn notify_all(&self) -> usize {
        self.raw.notify(usize::MAX)
    }

    #[track_caller]
    fn wait_while_with<G: CondvarGuard>(
        &self,
        guard: &mut G,
        deadline: Option<Instant>,
        mut condition: impl FnMut(&mut G::Target) -> bool,
    ) -> Result<(), LockError> {
        while condition(guard) {
            match self.wait_with(guard, deadline) {
                Ok(()) => {}
                // Others may have had the mutex before us.
                Err(LockError::TimedOut) if !condition(guard) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    #[track_caller]
    fn wait_with<G: CondvarGuard>(&self, guard: &mut G, deadline: Option<Instant>) -> Result<(), LockError> {
        if !may_block() {
            return Err(LockError::BlockingForbidden);
        }
        self.drive(guard, deadline)
    }

    /// The wait of a thread.
    #[track_caller]
    fn drive<G: CondvarGuard>(&self, guard: &mut G, deadline: Option<Instant>) -> Result<(), LockError> {
        let parker = Parker::current();
        let handle = guard.handle();
        let mutex = handle.raw();
        let mut waiting = pin!(Waiting::new(self.raw.at(), mutex));
        waiting.as_mut().enter(parker.waker());
        let released = Released::new(mutex);
        // Before the first sleep: notified, it is called as soon as the mutex is free.
        parker.spin(deadline, || waiting.is_signalled());
        let result = loop {
            match waiting.as_mut().step(parker.waker(), deadline) {
                Step::Ended(Ok((_, result))) => break result,
                Step::Ended(Err(error)) => break Err(error),
                Step::Wait(Some(until)) => parker.park_until(until),
                Step::Wait(None) => parker.park(),
            }
            if waiting.as_mut().spin().is_some() {
                break Ok(());
            }
        };
        released.locked_again();
        result
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

/// A mutex that was released while there is a guard of it. The guard must not go before it is locked again.
struct Released<'a>(&'a RawMutex);

impl<'a> Released<'a> {
    fn new(mutex: &'a RawMutex) -> Self {
        // First: the release calls somebody whose waker may panic, and then the mutex is free already.
        let released = Self(mutex);
        mutex.release();
        released
    }

    fn locked_again(self) {
        std::mem::forget(self);
    }
}

impl Drop for Released<'_> {
    /// Something on the way has panicked, and the guard goes next.
    fn drop(&mut self) {
        if !self.0.take(()) {
            block(self.0, (), "wait_async");
        }
    }
}
