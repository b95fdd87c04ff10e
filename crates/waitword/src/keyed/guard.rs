//! What holds a key, and the future that ends with it.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use waitword_core::observe::Caller;

use crate::acquire::future::AcquireAsync;
use crate::acquire::{Ask, held};
use crate::deadline::{Deadline, NoDeadline, Until, gives_up, polls_either};
use crate::error::LockError;
use crate::handle::HasRaw;
use crate::holders::HoldId;
use crate::kept::{Keeper as _, Kept};
use crate::keyed::uses::{Lead, Locks, Use};
use crate::raw_mutex::RawMutex;
use crate::raw_rwlock::{Mode, RawRwLock};

/// How a key is held: [`Exclusive`] or [`Shared`]. The trait is sealed.
pub trait Access<R: Locks> {
    #[doc(hidden)]
    const ASK: Ask<R>;
}

/// Exclusive access to a key.
#[derive(Clone, Copy, Debug)]
pub struct Exclusive;

/// Shared access to a key.
#[derive(Clone, Copy, Debug)]
pub struct Shared;

impl Access<RawMutex> for Exclusive {
    const ASK: () = ();
}

impl Access<RawRwLock> for Exclusive {
    const ASK: Mode = Mode::Write;
}

impl Access<RawRwLock> for Shared {
    const ASK: Mode = Mode::Read;
}

/// A guard of a key of a [`KeyedMutex`](super::KeyedMutex) or [`KeyedRwLock`](super::KeyedRwLock). Dropping the guard releases the key.
///
/// `P` is a reference to the lock or, in a guard that borrows nothing, an `Arc` of it; `A` is [`Exclusive`] or [`Shared`].
#[clippy::has_significant_drop]
#[must_use = "dropping the guard releases the key: keep it with `let guard = ...`"]
pub struct KeyedGuard<P: Lead<Value: Locks>, A: Access<P::Value>> {
    at: Use<P>,
    hold: HoldId,
    _access: PhantomData<A>,
}

impl<P: Lead<Value: Locks>, A: Access<P::Value>> KeyedGuard<P, A> {
    /// For the user `at`, which has acquired the key with this hold.
    pub(super) fn new(at: Use<P>, hold: HoldId) -> Self {
        Self { at, hold, _access: PhantomData }
    }

    /// Returns the key of the entry: of equal keys, the one that created the entry.
    pub fn key(&self) -> &P::Key {
        &self.at.entry().key
    }
}

impl<P: Lead<Value: Locks>, A: Access<P::Value>> Drop for KeyedGuard<P, A> {
    fn drop(&mut self) {
        held::release_by_ask(&self.at.entry().value, A::ASK, self.hold);
    }
}

impl<P: Lead<Key: fmt::Debug, Value: Locks>, A: Access<P::Value>> fmt::Debug for KeyedGuard<P, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyedGuard").field(self.key()).finish()
    }
}

pin_project_lite::pin_project! {
    /// The future returned by `lock_async`, `read_async`, `write_async` and their owned forms of [`KeyedMutex`](super::KeyedMutex) and
    /// [`KeyedRwLock`](super::KeyedRwLock). Its output is a [`KeyedGuard`] with the same `P` and `A`.
    #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
    pub struct KeyedAcquire<P, A, D = NoDeadline>
    where
        P: Lead,
        P::Value: Locks,
        A: Access<P::Value>,
    {
        #[pin]
        kept: Kept<Use<P>, AcquireAsync<'static, P::Value, D>>,
        _access: PhantomData<A>,
    }
}

impl<P: Lead<Value: Locks>, A: Access<P::Value>> KeyedAcquire<P, A> {
    #[track_caller]
    pub(super) fn new(at: Use<P>) -> Self {
        let caller = Caller::here();
        let acquire = |raw| AcquireAsync::from_caller(caller, raw, A::ASK);
        Self { kept: Kept::new(at, acquire), _access: PhantomData }
    }

    fn until(self, deadline: Until) -> KeyedAcquire<P, A, Until> {
        KeyedAcquire { kept: self.kept.map(|acquire| acquire.until(deadline)), _access: PhantomData }
    }
}

impl<P: Lead<Value: Locks>, A: Access<P::Value>, D> KeyedAcquire<P, A, D> {
    fn is_waiting(&self) -> bool {
        self.kept.get().is_waiting()
    }
}

impl<P: Lead<Value: Locks>, A: Access<P::Value>, D: Deadline> KeyedAcquire<P, A, D> {
    fn poll_either(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<KeyedGuard<P, A>, D::Error>> {
        let (mut acquire, at) = self.project().kept.split();
        let polled = acquire.as_mut().poll(cx);
        if let (Poll::Pending, Some(at)) = (&polled, &at) {
            at.target().will_wait();
        }
        // The acquisition has ended, and uses the borrow no more (K2 of `kept.rs`).
        polled.map_ok(|Ok(())| KeyedGuard::new(at.take().expect("it is ready once"), acquire.hold()))
    }
}

gives_up! {
    [P: Lead<Value: Locks>, A: Access<P::Value>,] KeyedAcquire[P, A],
    "a `Result` with [`LockError::TimedOut`](crate::LockError::TimedOut),"
}

polls_either! {
    [P: Lead<Value: Locks>, A: Access<P::Value>] KeyedAcquire[P, A]: KeyedGuard<P, A>, Result<KeyedGuard<P, A>, LockError>
}
