//! Whether a future gives up: each future of this crate is one type with a parameter, [`NoDeadline`] or [`Until`].

use std::convert::Infallible;
use std::pin::Pin;
use std::task::Waker;

use pin_project_lite::pin_project;
use waitword_core::Alarm;
use waitword_core::time::{Duration, Instant};

use crate::error::LockError;

/// When a future gives up: never ([`NoDeadline`]), or at a deadline ([`Until`]). The trait is sealed.
pub trait Deadline: sealed::Sealed {
    /// Why there is no result: a [`LockError`], or without a deadline nothing.
    type Error;

    /// Whether there can be a deadline.
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

/// The future never gives up.
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
    /// The future gives up at a deadline. Needs no timer of the executor.
    pub struct Until {
        // `None`: beyond what `Instant` can hold.
        deadline: Option<Instant>,
        // Wakes the task to give up, or to recheck.
        #[pin]
        alarm: Alarm,
    }
}

impl Until {
    #[inline]
    pub(crate) fn new(deadline: Option<Instant>) -> Self {
        Self { deadline, alarm: Alarm::new() }
    }

    /// The deadline of a future that is made now.
    #[inline]
    pub(crate) fn after(timeout: Duration) -> Self {
        Self::new(Instant::now().checked_add(timeout))
    }
}

impl Deadline for Until {
    type Error = LockError;

    const IS_TIMED: bool = true;

    #[inline]
    fn at(&self) -> Option<Instant> {
        self.deadline
    }

    fn wake_at(self: Pin<&mut Self>, time: Instant, waker: &Waker) {
        self.project().alarm.set(time, waker);
    }

    fn clear(self: Pin<&mut Self>) {
        self.project().alarm.clear();
    }

    #[inline]
    fn error(error: LockError) -> LockError {
        error
    }
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

/// What both forms of a future need beside its function `poll_either`: the name of the form with a deadline, their outputs, and `Debug`,
/// which shows whether the future is queued (not the value, which another holder may have). `$inner` is the field that knows that.
macro_rules! with_and_without_deadline {
    (
        [$($generic:tt)*] $Future:ident[$($arg:tt),*] $(where $bounded:ident: $bound:path)?;
        $(#[$until_doc:meta])*
        $Until:ident[$($parameter:tt)*];
        $Output:ty, $UntilOutput:ty; waits by $inner:ident $(, shows $shown:ident: $of_inner:ident)?
    ) => {
        $(#[$until_doc])*
        pub type $Until<$($parameter)*> = $Future<$($arg,)* $crate::deadline::Until>;

        impl<$($generic)*> std::future::Future for $Future<$($arg),*>
        $(where $bounded: $bound)?
        {
            $crate::deadline::polls_either!($Output);
        }

        impl<$($generic)*> std::future::Future for $Future<$($arg,)* $crate::deadline::Until>
        $(where $bounded: $bound)?
        {
            $crate::deadline::polls_either!($UntilOutput);
        }

        impl<$($generic)* D: $crate::deadline::Deadline> std::fmt::Debug for $Future<$($arg,)* D>
        $(where $bounded: $bound)?
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut shown = f.debug_struct(if D::IS_TIMED { stringify!($Until) } else { stringify!($Future) });
                $(shown.field(stringify!($shown), &self.$inner.$of_inner());)?
                shown.field("waiting", &self.$inner.is_waiting()).finish_non_exhaustive()
            }
        }
    };
}

/// The items of a `Future` that is polled by its function `poll_either`.
macro_rules! polls_either {
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

pub(crate) use {polls_either, with_and_without_deadline};
