//! How a wait ends.

use std::error::Error;
use std::fmt;

/// How a wait ended.
#[must_use = "a wait may end without a notify"]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A notify counted this waiter, and woke it for that reason alone.
    Notified,
    /// The word did not hold the expected value. Nothing was enqueued.
    NotEqual,
    /// The deadline passed, and no notify had counted this waiter.
    TimedOut,
}

impl Outcome {
    /// The string that ECMA-262 has for it (DoWait): `"ok"`, `"not-equal"` or `"timed-out"`.
    pub const fn as_js(self) -> &'static str {
        match self {
            Self::Notified => "ok",
            Self::NotEqual => "not-equal",
            Self::TimedOut => "timed-out",
        }
    }
}

/// What leaving a queue found. Returned when a wait is given up.
#[must_use = "after a notify the wakeup is this caller's to use or to forward"]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cancelled {
    /// The waiter was not notified: it left by itself, or never waited.
    BeforeNotify,
    /// As [`BeforeNotify`](Self::BeforeNotify), but it was signalled ([`signal_one`](crate::signal_one)) and had not
    /// acknowledged that. A lock that is built on the queue signals another waiter now.
    AfterSignal,
    /// As [`BeforeNotify`](Self::BeforeNotify), but it had been moved to another word's queue
    /// (`requeue_while_equal`), and was not signalled there. Only
    /// [`cancel_requeueable`](crate::WaitAsync::cancel_requeueable) asks for that.
    AfterRequeue,
    /// A notify had counted this waiter, and the wait had not returned that yet. A lock that is built on the queue
    /// forwards the wakeup now, for instance with [`notify_one`](crate::notify_one).
    AfterNotify,
}

/// A blocking wait was ended by its [`Interrupt`](crate::Interrupt); no notify had counted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the wait was interrupted before anything notified it")
    }
}

impl Error for Interrupted {}
