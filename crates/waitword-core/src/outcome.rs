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

/// A blocking wait was ended by its [`Interrupt`](crate::Interrupt); no notify had counted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the wait was interrupted before anything notified it")
    }
}

impl Error for Interrupted {}
