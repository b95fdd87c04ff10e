//! The public names of the futures: the loop of `acquire`, and a guard at its end.

/// Four futures that end with a guard: borrowed and over an `Arc`, without a deadline and with one. Each guard has
/// `unsafe fn new`, which is given the lock, or the `Arc` of it, that was acquired for it.
macro_rules! guard_futures {
    ($Lock:ident over $Raw:ty, $ask:expr => $guard:ident, $owned_guard:ident:
        $future:ident($of:literal), $until:ident($until_of:literal),
        $owned:ident($owned_of:literal), $owned_until:ident($owned_until_of:literal)
    ) => {
        pin_project_lite::pin_project! {
            #[doc = concat!("The future of [`", stringify!($Lock), "::", $of, "`].")]
            #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
            pub struct $future<'a, T: ?Sized> {
                lock: &'a $Lock<T>,
                // Over the raw part alone, so that the code of the slow path is the same for every `T`.
                #[pin]
                acquire: crate::acquire::AcquireAsync<&'a $Raw>,
            }
        }

        impl<'a, T: ?Sized> $future<'a, T> {
            #[inline]
            #[track_caller]
            pub(super) fn new(lock: &'a $Lock<T>) -> Self {
                Self { lock, acquire: crate::acquire::AcquireAsync::new(&lock.raw, $ask) }
            }
        }

        impl<'a, T: ?Sized> Future for $future<'a, T> {
            type Output = $guard<'a, T>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                let mut this = self.project();
                // Read before the poll, which is a fence for the compiler.
                let lock = *this.lock;
                let polled = this.acquire.as_mut().poll(cx);
                if polled.is_pending() {
                    crate::acquire::waits_for(lock);
                }
                // SAFETY: ready once, with the lock acquired as asked for (invariant 1).
                polled.map(|Ok(_)| unsafe { $guard::new(lock, this.acquire.hold()) })
            }
        }

        pin_project_lite::pin_project! {
            #[doc = concat!("The future of [`", stringify!($Lock), "::", $until_of, "`] and its sibling with a timeout.")]
            #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
            pub struct $until<'a, T: ?Sized> {
                lock: &'a $Lock<T>,
                #[pin]
                acquire: crate::acquire::AcquireAsyncUntil<&'a $Raw>,
            }
        }

        impl<'a, T: ?Sized> $until<'a, T> {
            #[track_caller]
            pub(super) fn new(lock: &'a $Lock<T>, deadline: Option<Instant>) -> Self {
                Self { lock, acquire: crate::acquire::AcquireAsyncUntil::new(&lock.raw, $ask, deadline) }
            }
        }

        impl<'a, T: ?Sized> Future for $until<'a, T> {
            type Output = Result<$guard<'a, T>, LockError>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                let mut this = self.project();
                let polled = this.acquire.as_mut().poll(cx);
                if polled.is_pending() {
                    crate::acquire::waits_for(*this.lock);
                }
                // SAFETY: ready once with `Ok`, with the lock acquired as asked for (invariant 1).
                polled.map_ok(|Ok(_)| unsafe { $guard::new(*this.lock, this.acquire.hold()) })
            }
        }

        pin_project_lite::pin_project! {
            #[doc = concat!("The future of [`", stringify!($Lock), "::", $owned_of, "`].")]
            #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
            pub struct $owned<T: ?Sized> {
                #[pin]
                acquire: crate::acquire::AcquireAsync<Arc<$Lock<T>>>,
            }
        }

        impl<T: ?Sized> $owned<T> {
            #[inline]
            #[track_caller]
            pub(super) fn new(lock: Arc<$Lock<T>>) -> Self {
                Self { acquire: crate::acquire::AcquireAsync::new(lock, $ask) }
            }
        }

        impl<T: ?Sized> Future for $owned<T> {
            type Output = $owned_guard<T>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                let mut acquire = self.project().acquire;
                // SAFETY: ready once, with the lock acquired as asked for (invariant 1).
                acquire.as_mut().poll(cx).map(|Ok(lock)| unsafe { $owned_guard::new(lock, acquire.hold()) })
            }
        }

        pin_project_lite::pin_project! {
            #[doc = concat!("The future of [`", stringify!($Lock), "::", $owned_until_of, "`] and its sibling with a timeout.")]
            #[must_use = "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread"]
            pub struct $owned_until<T: ?Sized> {
                #[pin]
                acquire: crate::acquire::AcquireAsyncUntil<Arc<$Lock<T>>>,
            }
        }

        impl<T: ?Sized> $owned_until<T> {
            #[track_caller]
            pub(super) fn new(lock: Arc<$Lock<T>>, deadline: Option<Instant>) -> Self {
                Self { acquire: crate::acquire::AcquireAsyncUntil::new(lock, $ask, deadline) }
            }
        }

        impl<T: ?Sized> Future for $owned_until<T> {
            type Output = Result<$owned_guard<T>, LockError>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                let mut acquire = self.project().acquire;
                // SAFETY: ready once with `Ok`, with the lock acquired as asked for (invariant 1).
                acquire.as_mut().poll(cx).map_ok(|Ok(lock)| unsafe { $owned_guard::new(lock, acquire.hold()) })
            }
        }

        crate::acquire::shows_whether_it_waits! { $future<'a, T>, $until<'a, T>, $owned<T>, $owned_until<T> }
    };
}

pub(crate) use guard_futures;

/// Shows whether the future is queued, and not the value, which another holder may have.
macro_rules! shows_whether_it_waits {
    ($($future:ident<$($life:lifetime,)? T>),*) => {$(
        impl<$($life,)? T: ?Sized> std::fmt::Debug for $future<$($life,)? T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut shown = f.debug_struct(stringify!($future));
                shown.field("waiting", &self.acquire.is_waiting()).finish_non_exhaustive()
            }
        }
    )*};
}

pub(crate) use shows_whether_it_waits;
