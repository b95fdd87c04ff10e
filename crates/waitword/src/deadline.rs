//! Whether a future gives up: each future of this crate is one type with a parameter, [`NoDeadline`] or [`Until`]. The methods `timeout` and
//! `deadline` make the second of the first, before its first poll: a future that was polled is pinned, and cannot be passed to them.
//!
//! # The clock
//! A deadline is one of the system's clock, and the process's timer wakes the task. With the feature `tokio`, a future that is given its
//! deadline in a runtime whose clock is not the system's (it is paused, in a test) has a `tokio::time::Sleep` instead. Whether it is, is asked
//! between two looks at the system's clock: tokio has no function that says so, and a `Sleep` panics in a runtime without a timer.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::Waker;

use pin_project_lite::pin_project;
use waitword_core::Alarm;
use waitword_core::time::{Duration, Instant};

use crate::error::LockError;

/// Whether a future has a deadline: [`NoDeadline`] or [`Until`]. The trait is sealed.
pub trait Deadline: sealed::Sealed {
    /// The error of a wait that fails: a [`LockError`], or [`Infallible`] without a deadline.
    type Error;

    /// Whether this is [`Until`].
    const IS_TIMED: bool;

    /// The deadline, if there is one.
    #[doc(hidden)]
    fn at(&self) -> Option<Instant>;

    /// Makes the task be polled at this time.
    #[doc(hidden)]
    fn wake_at(self: Pin<&mut Self>, time: Instant, waker: &Waker);

    /// The task need not be polled any more. Drops its waker.
    #[doc(hidden)]
    fn clear(self: Pin<&mut Self>);

    #[doc(hidden)]
    fn error(error: LockError) -> Self::Error;
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::NoDeadline {}

    impl Sealed for super::Until {}
}

/// Marks a future without a deadline.
#[derive(Clone, Copy, Debug)]
pub struct NoDeadline;

impl Deadline for NoDeadline {
    type Error = Infallible;

    const IS_TIMED: bool = false;

    #[inline(always)]
    fn at(&self) -> Option<Instant> {
        None
    }

    fn wake_at(self: Pin<&mut Self>, _time: Instant, _waker: &Waker) {
        debug_assert!(false, "no alarm wakes this future");
    }

    fn clear(self: Pin<&mut Self>) {}

    fn error(_error: LockError) -> Infallible {
        unreachable!("there is no deadline to miss, and a future does not block")
    }
}

pin_project! {
    /// Marks a future with a deadline, and contains its alarm. It needs no timer of the executor.
    pub struct Until {
        // `None`: beyond what `Instant` can hold.
        deadline: Option<Instant>,
        // Wakes the task to give up, or to recheck.
        #[pin]
        alarm: Alarm,
        // In place of both, in a runtime whose clock is paused.
        paused: Paused,
    }
}

impl Until {
    /// At this time; on tokio's clock, if that is paused.
    #[inline]
    pub(crate) fn new(deadline: Instant) -> Self {
        Self { deadline: Some(deadline), alarm: Alarm::new(), paused: Paused::new(|_| Some(deadline)) }
    }

    /// So long after this call.
    #[inline]
    pub(crate) fn after(timeout: Duration) -> Self {
        let after = |now: Instant| now.checked_add(timeout);
        Self { deadline: after(Instant::now()), alarm: Alarm::new(), paused: Paused::new(after) }
    }

    /// There is an alarm, and no deadline.
    pub(crate) fn never() -> Self {
        Self { deadline: None, alarm: Alarm::new(), paused: Paused::new(|_| None) }
    }
}

impl Deadline for Until {
    type Error = LockError;

    const IS_TIMED: bool = true;

    #[inline]
    fn at(&self) -> Option<Instant> {
        self.paused.at().or(self.deadline)
    }

    fn wake_at(self: Pin<&mut Self>, time: Instant, waker: &Waker) {
        let this = self.project();
        if !this.paused.wake(waker) {
            this.alarm.set(time, waker);
        }
    }

    fn clear(self: Pin<&mut Self>) {
        let this = self.project();
        this.alarm.clear();
        this.paused.clear();
    }

    #[inline]
    fn error(error: LockError) -> LockError {
        error
    }
}

#[cfg(all(feature = "tokio", not(any(waitword_loom, target_family = "wasm"))))]
use self::tokio_clock::Paused;

#[cfg(all(feature = "tokio", not(any(waitword_loom, target_family = "wasm"))))]
mod tokio_clock {
    use std::panic::{RefUnwindSafe, UnwindSafe};
    use std::pin::Pin;
    use std::task::{Context, Waker};
    use std::time::{Duration, Instant};

    use tokio::runtime::Handle;
    use tokio::time::{self, Sleep};

    /// A deadline on tokio's clock, if that was not the system's when the future got its deadline.
    pub(super) struct Paused {
        at: Option<time::Instant>,
        // Allocated, because only tests have one.
        sleep: Option<Pin<Box<Sleep>>>,
    }

    // As a deadline without a `Sleep`.
    impl UnwindSafe for Paused {}
    impl RefUnwindSafe for Paused {}

    impl Paused {
        /// At the time that `deadline` makes of that on tokio's clock. `None`: beyond what `Instant` can hold.
        pub(super) fn new(deadline: impl FnOnce(Instant) -> Option<Instant>) -> Self {
            let (before, now, after) = (Instant::now(), time::Instant::now().into_std(), Instant::now());
            let is_paused = !(before..=after).contains(&now);
            Self { at: if is_paused { deadline(now).map(Into::into) } else { None }, sleep: None }
        }

        /// The deadline, if there is one and this thread is in a runtime, which has the clock.
        fn here(&self) -> Option<time::Instant> {
            self.at.filter(|_| Handle::try_current().is_ok())
        }

        /// A time on the system's clock that is past if and only if the deadline is, if there is one.
        pub(super) fn at(&self) -> Option<Instant> {
            let left = self.here()?.saturating_duration_since(time::Instant::now());
            // Virtual time may pass in a moment.
            Some(Instant::now() + if left.is_zero() { left } else { LONG })
        }

        /// Makes the task be woken at the deadline. `false`: there is none here.
        pub(super) fn wake(&mut self, waker: &Waker) -> bool {
            let Some(at) = self.here() else { return false };
            let sleep = self.sleep.get_or_insert_with(|| Box::pin(time::sleep_until(at)));
            if Future::poll(sleep.as_mut(), &mut Context::from_waker(waker)).is_ready() {
                waker.wake_by_ref();
            }
            true
        }

        /// Drops the waker.
        pub(super) fn clear(&mut self) {
            self.sleep = None;
        }
    }

    const LONG: Duration = Duration::from_secs(1 << 20);
}

/// Without tokio there is one clock.
#[cfg(not(all(feature = "tokio", not(any(waitword_loom, target_family = "wasm")))))]
struct Paused;

#[cfg(not(all(feature = "tokio", not(any(waitword_loom, target_family = "wasm")))))]
impl Paused {
    #[inline(always)]
    fn new(_: impl FnOnce(Instant) -> Option<Instant>) -> Self {
        Self
    }

    fn at(&self) -> Option<Instant> {
        None
    }

    fn wake(&mut self, _: &Waker) -> bool {
        false
    }

    fn clear(&mut self) {}
}

/// The output of a future, or the result of a method that blocks, without the errors that it cannot have.
pub(crate) trait Output<R> {
    fn of(result: R) -> Self;
}

impl<T> Output<Result<T, Infallible>> for T {
    #[inline(always)]
    fn of(result: Result<T, Infallible>) -> T {
        let Ok(output) = result;
        output
    }
}

impl<T> Output<Result<T, LockError>> for Result<T, LockError> {
    #[inline(always)]
    fn of(result: Self) -> Self {
        result
    }
}

/// `timeout` and `deadline` of a future, by its function `until`, and `Debug`, which shows whether the future is queued (not the value, which
/// another holder may have), by its function `is_waiting`.
macro_rules! gives_up {
    ([$($generic:tt)*] $Future:ident[$($arg:tt),*], $Output:expr $(, shows $shown:ident)?) => {
        impl<$($generic)*> $Future<$($arg),*> {
            /// Returns this future with a timeout, counted from this call. A timeout beyond what [`Instant`](crate::time::Instant) can hold never
            /// expires.
            ///
            #[doc = concat!("The output becomes ", $Output)]
            /// which is never returned before the deadline. A poll that need not wait succeeds even after the deadline.
            ///
            /// It needs no timer of the executor. With the feature `tokio`, it uses tokio's clock if that is paused at this call.
            ///
            /// # Panics
            /// In a poll that has to wait,
            /// - if this is the first deadline in the process and the system cannot start the timer thread;
            /// - with the feature `tokio`, if tokio's clock is paused in a runtime without a timer.
            #[doc(alias("lock_timeout_async", "wait_timeout_async", "try_lock_for_async"))]
            #[inline]
            pub fn timeout(self, timeout: waitword_core::time::Duration) -> $Future<$($arg,)* $crate::deadline::Until> {
                self.until($crate::deadline::Until::after(timeout))
            }

            /// Returns this future with a deadline: a time on the system's clock, or on tokio's if that is paused.
            ///
            /// Otherwise it is like [`timeout`](Self::timeout).
            #[inline]
            pub fn deadline(self, deadline: waitword_core::time::Instant) -> $Future<$($arg,)* $crate::deadline::Until> {
                self.until($crate::deadline::Until::new(deadline))
            }
        }

        impl<$($generic)* D> std::fmt::Debug for $Future<$($arg,)* D> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut debug = f.debug_struct(stringify!($Future));
                $(debug.field(stringify!($shown), &self.$shown());)?
                debug.field("waiting", &self.is_waiting()).finish_non_exhaustive()
            }
        }
    };
}

/// Both forms of a future, which is polled by its function `poll_either`.
macro_rules! polls_either {
    ([$($generic:tt)*] $Future:ident[$($arg:tt)+]: $Output:ty, $UntilOutput:ty) => {
        impl<$($generic)*> std::future::Future for $Future<$($arg)+> {
            $crate::deadline::polls_either!($Output);
        }

        impl<$($generic)*> std::future::Future for $Future<$($arg)+, $crate::deadline::Until> {
            $crate::deadline::polls_either!($UntilOutput);
        }
    };
    ($Output:ty) => {
        type Output = $Output;

        #[inline]
        fn poll(
            self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Self::Output> {
            self.poll_either(cx).map($crate::deadline::Output::of)
        }
    };
}

pub(crate) use {gives_up, polls_either};
