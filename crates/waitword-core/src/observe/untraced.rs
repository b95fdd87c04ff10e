//! Nothing is traced: without the feature, and in a model, whose threads have no clock.

use super::origin::Origin;

pub(crate) const SIGNALLED: u64 = 2;
pub(crate) const NOTIFIED: u64 = 3;
pub(crate) const ACQUIRED: u64 = 4;
pub(crate) const ENDED: u64 = 5;
pub(crate) const GAVE_UP: u64 = 6;

pub(crate) const THREAD: u64 = 1;
pub(crate) const TASK: u64 = 2;
pub(crate) const AGENT: u64 = 3;

#[inline(always)]
pub(crate) fn is_on() -> bool {
    false
}

pub(crate) struct Begun;

impl Begun {
    #[inline(always)]
    pub(crate) fn now() -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn enqueued(self, _: usize, _: (u64, usize), _: Option<Origin>) {}
}

pub(crate) struct Waking;

impl Waking {
    #[inline(always)]
    pub(crate) fn now() -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn trace(self, _: u64, _: usize, _: impl IntoIterator<Item = usize>) {}
}

#[cfg(feature = "observe")]
#[inline(always)]
pub(crate) fn contended_release(_: usize, _: &super::release::Release) {}

#[inline(always)]
pub(crate) fn to_waiter(_: u64, _: usize, _: usize) {}
