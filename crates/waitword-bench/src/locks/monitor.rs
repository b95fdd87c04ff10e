//! Monitors: a mutex and the condition variables that belong to it.

use std::collections::VecDeque;
use std::future::Future;
use std::ops::DerefMut;

/// What the mutex protects: a queue, and the number of waiters that wait for it to change.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) items: VecDeque<u64>,
    /// How many items were taken out of it.
    pub(crate) taken: u64,
    pub(crate) closed: bool,
    /// How many wait for the next generation, and which is the present one.
    pub(crate) waiting: usize,
    pub(crate) generation: u64,
}

/// What one can wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition {
    /// There is something to take, or something to see.
    Something,
    /// There is room.
    Room,
}

pub(crate) trait Monitor: Default + Send + Sync + 'static {
    /// Its name in the tables.
    const NAME: &'static str;

    /// Unlocks when dropped.
    type Guard<'a>: DerefMut<Target = State>;

    fn notify_one(&self, condition: Condition);
    fn notify_all(&self, condition: Condition);
}

/// A monitor for threads.
pub(crate) trait BlockingMonitor: Monitor {
    fn lock(&self) -> Self::Guard<'_>;

    /// Unlocks, waits for a notify (or for nothing), and locks again.
    fn wait<'a>(&'a self, condition: Condition, guard: Self::Guard<'a>) -> Self::Guard<'a>;
}

/// A monitor for tasks.
pub(crate) trait AsyncMonitor: Monitor {
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send;

    /// As [`BlockingMonitor::wait`].
    fn wait_async<'a>(
        &'a self,
        condition: Condition,
        guard: Self::Guard<'a>,
    ) -> impl Future<Output = Self::Guard<'a>> + Send;
}
