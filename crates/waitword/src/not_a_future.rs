//! The compiler error for awaiting a blocking method.
//!
//! `mutex.lock().await` is what one writes to lock a mutex of tokio's. Here it blocks a thread of the runtime and then awaits a guard; the
//! compiler's advice for that is to remove the `.await`, so that the program compiles and blocks. So each guard implements [`Future`] under
//! a condition that does not hold: that a task awaits this method. The compiler checks the condition, and says "expected `lock_async`,
//! found `a_method_that_blocks`". It adds no advice of its own: it does so for a missing trait, and here an associated type differs. (The
//! condition is on another type than the guard, and has a parameter of the guard's, so that it is not evaluated before there is an
//! `.await`.)
//!
//! Such an impl changes nothing else: a guard is no future, and the methods of futures do not hide those of the value. It is possible only for
//! types of this crate (the orphan rule): `Semaphore::acquire` returns a `Result`, `OnceLock::get_or_init` a reference, `AsyncLock::lock` and
//! `Event::wait` nothing. Clippy's list (`docs/clippy.toml`) has those too.
#![allow(nonstandard_style, reason = "types named after methods: the message shows them")]

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::barrier::BarrierWaitResult;
use crate::mutex::guard::{MutexGuard, OwnedMutexGuard};
use crate::rwlock::guard::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};

pub trait InATask {
    type Await;
}

/// What is found where the asynchronous method is expected.
pub struct a_method_that_blocks;

macro_rules! not_a_future {
    ($method:ident, $awaited:ident: [$($generic:tt)*] $guard:ty as $value:ty $(; $life:lifetime)?) => {
        #[doc(hidden)]
        impl<$($generic)*> Future for $guard
        where
            $(for<$life>)? $method<$value>: InATask<Await = $awaited>,
        {
            type Output = Self;

            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self> {
                unreachable!("the condition does not hold")
            }
        }

        pub struct $method<T: ?Sized>(PhantomData<T>);
        pub struct $awaited;

        impl<T: ?Sized> InATask for $method<T> {
            type Await = a_method_that_blocks;
        }
    };
}

not_a_future!(lock, lock_async: ['a, T: ?Sized] MutexGuard<'a, T> as T);
not_a_future!(lock_owned, lock_owned_async: [T: ?Sized] OwnedMutexGuard<T> as T);
not_a_future!(read, read_async: ['a, T: ?Sized] RwLockReadGuard<'a, T> as T);
not_a_future!(read_owned, read_owned_async: [T: ?Sized] OwnedRwLockReadGuard<T> as T);
not_a_future!(write, write_async: ['a, T: ?Sized] RwLockWriteGuard<'a, T> as T);
not_a_future!(write_owned, write_owned_async: [T: ?Sized] OwnedRwLockWriteGuard<T> as T);
not_a_future!(upgradable_read, upgradable_read_async: ['a, T: ?Sized] RwLockUpgradableReadGuard<'a, T> as T);
not_a_future!(upgradable_read_owned, upgradable_read_owned_async: [T: ?Sized] OwnedRwLockUpgradableReadGuard<T> as T);
not_a_future!(wait, wait_async: [] BarrierWaitResult as &'a (); 'a);
