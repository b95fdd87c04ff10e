//! A model has no clock: its deadlines never come. There a timeout is another thread that cancels.

use crate::time::Instant;
use std::pin::Pin;
use std::task::Waker;

/// An alarm that never rings.
#[derive(Debug, Default)]
pub struct Alarm(());

impl Alarm {
    /// An alarm that is not set.
    pub const fn new() -> Self {
        Self(())
    }

    /// Does nothing.
    pub fn set(self: Pin<&mut Self>, _deadline: Instant, _waker: &Waker) {}

    /// Does nothing.
    pub(crate) fn set_at(self: Pin<&mut Self>, _now: Instant, _deadline: Instant, _waker: &Waker) {}

    /// Does nothing.
    pub fn clear(self: Pin<&mut Self>) {}
}
