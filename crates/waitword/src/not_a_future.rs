//! The compiler error for awaiting a blocking method.
//!
//! `mutex.lock().await` is what one writes to lock a mutex of tokio's. Here it blocks a thread of the runtime and then awaits a
//! guard, for which the compiler has one piece of advice: to remove the `.await`, so that the program compiles and blocks.
//! So each guard has an impl of [`Future`] under a condition that nothing meets. The compiler follows it, and reports the
//! condition in the words of its trait. (It does so because the condition is on another type than the guard; and it goes on
//! to give its advice, which comes last now.)
//!
//! Such an impl changes nothing else: a guard is no future, and the methods of futures do not hide those of the value.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::mutex::{MutexGuard, OwnedMutexGuard};
use crate::rwlock::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};

/// Stands for a blocking method that has returned; `T` keeps the compiler from deciding the condition before there is an
/// `.await`.
pub struct BlockingMethod<T: ?Sized>(PhantomData<T>);

macro_rules! not_a_future {
    ($awaited:ident, $message:literal: $($guard:ident<$($life:lifetime,)? $value:ident>),+) => {
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "the method has blocked this thread, and what it returns is not a future",
            note = "a task that blocks keeps all tasks of its thread waiting; to remove the `.await` does not help them"
        )]
        pub trait $awaited {}

        $(#[doc(hidden)]
        impl<$($life,)? $value: ?Sized> Future for $guard<$($life,)? $value>
        where
            BlockingMethod<$value>: $awaited,
        {
            type Output = Self;

            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self> {
                unreachable!("nothing implements the trait of the condition")
            }
        })+
    };
}

not_a_future! {
    AwaitLockAsync, "to lock without blocking, await `lock_async()`, or `lock_owned_async()`":
    MutexGuard<'a, T>, OwnedMutexGuard<T>
}

not_a_future! {
    AwaitReadAsync, "to read without blocking, await `read_async()`, or `read_owned_async()`":
    RwLockReadGuard<'a, T>, OwnedRwLockReadGuard<T>
}

not_a_future! {
    AwaitWriteAsync, "to write without blocking, await `write_async()`, or `write_owned_async()`":
    RwLockWriteGuard<'a, T>, OwnedRwLockWriteGuard<T>
}

not_a_future! {
    AwaitUpgradableReadAsync,
    "to read without blocking, await `upgradable_read_async()`, or `upgradable_read_owned_async()`":
    RwLockUpgradableReadGuard<'a, T>, OwnedRwLockUpgradableReadGuard<T>
}
