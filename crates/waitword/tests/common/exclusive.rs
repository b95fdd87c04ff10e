//! The locks that one at a time can hold, as the tests that hold for all of them see them.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use waitword::word::AsyncLock;
use waitword::{Mutex, RwLock, Semaphore};

use super::far;

/// Whatever a lock gives to its holder. Dropping it releases the lock.
pub(crate) trait Guard {}

impl<T: ?Sized> Guard for T {}

pub(crate) type Held<'a> = Box<dyn Guard + Send + 'a>;

/// A future that waits for the lock.
pub(crate) type Waiting<'a> = Pin<Box<dyn Future<Output = Held<'a>> + Send + 'a>>;

/// The ways for a task to wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Borrowed,
    /// With a deadline that is not reached.
    Timed,
    Owned,
    OwnedTimed,
}

pub(crate) const WAYS: [Way; 4] = [Way::Borrowed, Way::Timed, Way::Owned, Way::OwnedTimed];

/// A lock that one at a time can hold: a mutex, a readers-writer lock with writers only, a semaphore of one permit.
pub(crate) trait Exclusive: Send + Sync + 'static {
    fn free() -> Arc<Self>;

    fn lock(&self) -> Held<'_>;

    fn lock_for(&self, timeout: Duration) -> Option<Held<'_>>;

    fn try_lock(&self) -> Option<Held<'_>>;

    /// Nothing happens before the first poll.
    fn wait(self: &Arc<Self>, way: Way) -> Waiting<'_>;

    /// How many are queued.
    fn waiters(&self) -> usize;

    fn is_free(&self) -> bool {
        self.try_lock().is_some()
    }

    /// A queued waiter.
    fn queued(self: &Arc<Self>, waker: &Waker) -> Waiting<'_> {
        let mut waiting = self.wait(Way::Owned);
        assert!(waiting.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
        waiting
    }
}

/// How many are queued for the words that a lock consists of.
macro_rules! waiters {
    ($lock:expr, $Lock:ty as [$Word:ty; $count:literal]) => {{
        const {
            assert!(size_of::<$Lock>() == size_of::<[$Word; $count]>());
            assert!(align_of::<$Lock>() == align_of::<$Word>());
        }
        // SAFETY: without a value it is its words, or as large. They are not even read, only their addresses.
        let words = unsafe { &*std::ptr::from_ref::<$Lock>($lock).cast::<[$Word; $count]>() };
        words.iter().map(|word| waitword::word::Table::global().waiters(word)).sum()
    }};
}
pub(crate) use waiters;

/// A lock with guards, by the names of its methods. `$unwrap` and `$ok` make a guard and an option of what they return,
/// if need be.
macro_rules! exclusive {
    (
        $Lock:ty as [$Word:ty; $count:literal] = $free:expr;
        $lock:ident, $async:ident, $owned_async:ident => $($unwrap:ident)?;
        $try:ident => $($ok:ident)?;
        $for:ident;
    ) => {
        impl Exclusive for $Lock {
            fn free() -> Arc<Self> {
                Arc::new($free)
            }

            fn lock(&self) -> Held<'_> {
                Box::new(self.$lock()$(.$unwrap())?)
            }

            fn lock_for(&self, timeout: Duration) -> Option<Held<'_>> {
                Some(Box::new(self.$for(timeout).ok()?))
            }

            fn try_lock(&self) -> Option<Held<'_>> {
                Some(Box::new(self.$try()$(.$ok())??))
            }

            fn wait(self: &Arc<Self>, way: Way) -> Waiting<'_> {
                Box::pin(async move {
                    match way {
                        Way::Borrowed => Box::new(self.$async().await$(.$unwrap())?) as Held<'_>,
                        Way::Timed => Box::new(self.$async().deadline(far()).await.unwrap()),
                        Way::Owned => Box::new(self.$owned_async().await$(.$unwrap())?),
                        Way::OwnedTimed => Box::new(self.$owned_async().deadline(far()).await.unwrap()),
                    }
                })
            }

            fn waiters(&self) -> usize {
                waiters!(self, $Lock as [$Word; $count])
            }
        }
    };
}

exclusive! {
    Mutex<()> as [AtomicU32; 1] = Mutex::new(());
    lock, lock_async, lock_owned_async => ;
    try_lock => ;
    lock_for;
}

// Its second word has the queue of the upgrading holder.
exclusive! {
    RwLock<()> as [AtomicU64; 2] = RwLock::new(());
    write, write_async, write_owned_async => ;
    try_write => ;
    write_for;
}

exclusive! {
    Semaphore as [AtomicU64; 2] = Semaphore::new(1);
    acquire, acquire_async, acquire_owned_async => unwrap;
    try_acquire => ok;
    acquire_for;
}

/// Has taken the lock without a guard.
pub(crate) struct Unlocks<'a>(pub(crate) &'a AsyncLock);

impl Drop for Unlocks<'_> {
    fn drop(&mut self) {
        self.0.unlock().unwrap();
    }
}

impl Exclusive for AsyncLock {
    fn free() -> Arc<Self> {
        Arc::default()
    }

    fn lock(&self) -> Held<'_> {
        self.lock();
        Box::new(Unlocks(self))
    }

    fn lock_for(&self, timeout: Duration) -> Option<Held<'_>> {
        self.lock_for(timeout).is_ok().then(|| Box::new(Unlocks(self)) as Held<'_>)
    }

    fn try_lock(&self) -> Option<Held<'_>> {
        self.try_lock().then(|| Box::new(Unlocks(self)) as Held<'_>)
    }

    /// There are no owned forms.
    fn wait(self: &Arc<Self>, way: Way) -> Waiting<'_> {
        Box::pin(async move {
            match way {
                Way::Borrowed | Way::Owned => self.lock_async().await,
                Way::Timed | Way::OwnedTimed => self.lock_async().deadline(far()).await.unwrap(),
            }
            Box::new(Unlocks(self)) as Held<'_>
        })
    }

    fn waiters(&self) -> usize {
        waiters!(self, AsyncLock as [AtomicI32; 1])
    }
}

/// A waker that panics when it is woken.
pub(crate) struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("the waker");
    }
}

impl Panics {
    pub(crate) fn waker() -> Waker {
        Waker::from(Arc::new(Self))
    }
}
