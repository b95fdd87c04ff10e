//! How a wait ends.

use std::error::Error;
use std::fmt;

/// How a wait ended.
#[must_use = "a wait may end without a notify"]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A notify counted this waiter and woke it. There are no spurious wakeups.
    Notified,
    /// The word did not hold the expected value. Nothing was enqueued.
    NotEqual,
    /// The deadline passed, and no notify had counted this waiter.
    TimedOut,
}

impl Outcome {
    /// Returns the string that ECMA-262 uses for this outcome (DoWait): `"ok"`, `"not-equal"` or `"timed-out"`.
    pub const fn as_js(self) -> &'static str {
        match self {
            Self::Notified => "ok",
            Self::NotEqual => "not-equal",
            Self::TimedOut => "timed-out",
        }
    }
}

/// What had happened to a waiter before its wait was cancelled.
#[must_use = "if a notify had counted the waiter, the caller has to use the wakeup or forward it"]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cancelled {
    /// The waiter was not notified: it left by itself, or never waited.
    BeforeNotify,
    /// As [`BeforeNotify`](Self::BeforeNotify), but it was signalled ([`signal_one`](crate::signal_one)) and had not acknowledged that. A
    /// lock that is built on the queue has to signal another waiter now.
    AfterSignal,
    /// As [`BeforeNotify`](Self::BeforeNotify), but it had been moved to another word's queue (`requeue_while_equal`), and was not
    /// signalled there. Only [`cancel_requeueable`](crate::WaitAsync::cancel_requeueable) returns this.
    AfterRequeue,
    /// A notify had counted this waiter, but the wait had not returned [`Notified`](Outcome::Notified) yet. A lock that is built on the
    /// queue has to forward the wakeup now, for instance with [`notify_one`](crate::notify_one).
    AfterNotify,
}

/// The error of a blocking wait that its [`Interrupt`](crate::Interrupt) ended before a notify counted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted before a notify")
    }
}

impl Error for Interrupted {}
