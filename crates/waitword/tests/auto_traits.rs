//! What may cross threads, checked by the compiler.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;

use waitword::{
    AcquireError, AsyncLock, Closed, LockAsync, LockAsyncUntil, LockError, NotLocked, OwnedSemaphorePermit,
    Semaphore, SemaphoreAcquire, SemaphoreAcquireOwned, SemaphoreAcquireOwnedUntil, SemaphoreAcquireUntil,
    SemaphorePermit, TryAcquireError,
};

fn send<T: Send>(_: &T) {}
fn send_and_sync<T: Send + Sync>() {}
fn error<T: std::error::Error + Send + Sync + Copy + 'static>() {}

#[test]
fn locks_and_their_futures_cross_threads() {
    send_and_sync::<AsyncLock>();
    send_and_sync::<AsyncLock<Arc<AtomicI32>>>();
    send_and_sync::<AsyncLock<&'static AtomicI32>>();
    send_and_sync::<LockAsync<'static, AtomicI32>>();
    send_and_sync::<LockAsyncUntil<'static, AtomicI32>>();
    error::<LockError>();
    error::<NotLocked>();
}

#[test]
fn semaphores_their_permits_and_futures_cross_threads() {
    send_and_sync::<Semaphore>();
    send_and_sync::<SemaphorePermit<'static>>();
    send_and_sync::<OwnedSemaphorePermit>();
    send_and_sync::<SemaphoreAcquire<'static>>();
    send_and_sync::<SemaphoreAcquireUntil<'static>>();
    send_and_sync::<SemaphoreAcquireOwned>();
    send_and_sync::<SemaphoreAcquireOwnedUntil>();
    error::<AcquireError>();
    error::<TryAcquireError>();
    error::<Closed>();
}

/// A permit of a semaphore that lives long is one of a semaphore that lives shorter.
#[test]
fn permits_are_covariant() {
    fn shorten<'a>(permit: SemaphorePermit<'static>, _to: &'a Semaphore) -> SemaphorePermit<'a> {
        permit
    }
    static LONG: Semaphore = Semaphore::new(1);
    let short = Semaphore::new(0);
    drop(shorten(LONG.try_acquire().unwrap(), &short));
}

/// They stand in a queue that knows their address.
#[test]
fn futures_that_wait_do_not_move() {
    trait NotUnpin<Ambiguous> {
        fn check() {}
    }
    struct IfUnpin;
    impl<T> NotUnpin<()> for T {}
    impl<T: Unpin> NotUnpin<IfUnpin> for T {}
    // For a type that is `Unpin` the compiler could not tell which of the two is meant.
    LockAsync::<'static, AtomicI32>::check();
    LockAsyncUntil::<'static, AtomicI32>::check();
    SemaphoreAcquire::<'static>::check();
    SemaphoreAcquireUntil::<'static>::check();
    SemaphoreAcquireOwned::check();
    SemaphoreAcquireOwnedUntil::check();
}

#[test]
fn a_callback_under_the_lock_crosses_threads_if_it_can() {
    let lock = AsyncLock::new();
    send(&lock.execute_locked(|| 1));
    send(&lock.execute_locked_async(async || lock.is_locked()));
    // Not `Send`, and nobody asks it to be.
    let local = Cell::new(1);
    drop(lock.execute_locked(|| local.set(2)));
}

#[test]
fn a_lock_is_its_word() {
    assert_eq!(size_of::<AsyncLock>(), 4);
}
