//! The public names of the futures: the loop of `acquire`, and a guard at its end.

/// The futures that end with a guard: borrowed and over an `Arc`, without a deadline and with one. Each guard has
/// `unsafe fn new`, which is given the lock, or the `Arc` of it, that was acquired for it.
macro_rules! guard_futures {
    ($Lock:ident over $Raw:ty, $ask:expr;
        $Guard:ident: $Future:ident($of:literal), $Until:ident($until_of:literal);
        $OwnedGuard:ident: $Owned:ident($owned_of:literal), $OwnedUntil:ident($owned_until_of:literal);
    ) => {
        pin_project_lite::pin_project! {
            #[doc = concat!("The future of [`", stringify!($Lock), "::", $of, "`].")]
            #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
            pub struct $Future<'a, T: ?Sized, D = $crate::deadline::NoDeadline> {
                lock: &'a $Lock<T>,
                // Over the raw part alone, so that the code of the slow path is the same for every `T`.
                #[pin]
                acquire: $crate::acquire::AcquireAsync<&'a $Raw, D>,
            }
        }

        impl<'a, T: ?Sized, D: $crate::deadline::Deadline> $Future<'a, T, D> {
            #[inline]
            #[track_caller]
            pub(super) fn new(lock: &'a $Lock<T>, deadline: D) -> Self {
                Self { lock, acquire: $crate::acquire::AcquireAsync::new(&lock.raw, $ask, deadline) }
            }

            #[inline]
            fn poll_guard(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<$Guard<'a, T>, D::Error>> {
                let mut this = self.project();
                // Read before the poll, which is a fence for the compiler.
                let lock = *this.lock;
                let polled = this.acquire.as_mut().poll(cx);
                if polled.is_pending() {
                    $crate::handle::HasRaw::will_wait(lock);
                }
                // SAFETY: ready once with `Ok`, with the lock acquired as asked for (invariant 1).
                polled.map_ok(|Ok(_)| unsafe { $Guard::new(lock, this.acquire.hold()) })
            }
        }

        pin_project_lite::pin_project! {
            #[doc = concat!("The future of [`", stringify!($Lock), "::", $owned_of, "`].")]
            #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
            pub struct $Owned<T: ?Sized, D = $crate::deadline::NoDeadline> {
                #[pin]
                acquire: $crate::acquire::AcquireAsync<Arc<$Lock<T>>, D>,
            }
        }

        impl<T: ?Sized, D: $crate::deadline::Deadline> $Owned<T, D> {
            #[inline]
            #[track_caller]
            pub(super) fn new(lock: Arc<$Lock<T>>, deadline: D) -> Self {
                Self { acquire: $crate::acquire::AcquireAsync::new(lock, $ask, deadline) }
            }

            #[inline]
            fn poll_guard(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<$OwnedGuard<T>, D::Error>> {
                let mut acquire = self.project().acquire;
                // SAFETY: ready once with `Ok`, with the lock acquired as asked for (invariant 1).
                acquire.as_mut().poll(cx).map_ok(|Ok(lock)| unsafe { $OwnedGuard::new(lock, acquire.hold()) })
            }
        }

        $crate::acquire::with_and_without_deadline! {
            $Future, #[doc = concat!("The future of [`", stringify!($Lock), "::", $until_of, "`] and its sibling with a timeout.")] $Until,
            <'a, T> -> $Guard<'a, T>, Result<$Guard<'a, T>, $crate::LockError>
        }
        $crate::acquire::with_and_without_deadline! {
            $Owned, #[doc = concat!("The future of [`", stringify!($Lock), "::", $owned_until_of, "`] and its sibling with a timeout.")] $OwnedUntil,
            <T> -> $OwnedGuard<T>, Result<$OwnedGuard<T>, $crate::LockError>
        }
    };
}

/// What both forms of a future have that has a function `poll_guard`: their outputs, and the name of that with a deadline. Shows whether the
/// future is queued, and not the value, which another holder may have.
macro_rules! with_and_without_deadline {
    (
        $Future:ident, $(#[$doc:meta])* $Until:ident, <$($life:lifetime,)? T> -> $Output:ty, $UntilOutput:ty
    ) => {
        $(#[$doc])*
        pub type $Until<$($life,)? T> = $Future<$($life,)? T, $crate::deadline::Until>;

        impl<$($life,)? T: ?Sized> std::future::Future for $Future<$($life,)? T> {
            type Output = $Output;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                self.poll_guard(cx).map(|Ok(guard)| guard)
            }
        }

        impl<$($life,)? T: ?Sized> std::future::Future for $Future<$($life,)? T, $crate::deadline::Until> {
            type Output = $UntilOutput;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                self.poll_guard(cx).map_err(Into::into)
            }
        }

        impl<$($life,)? T: ?Sized, D: $crate::deadline::Deadline> std::fmt::Debug for $Future<$($life,)? T, D> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut shown = f.debug_struct(if D::IS_TIMED { stringify!($Until) } else { stringify!($Future) });
                shown.field("waiting", &self.acquire.is_waiting()).finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use {guard_futures, with_and_without_deadline};
