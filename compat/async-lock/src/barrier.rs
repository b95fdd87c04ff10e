//! The barrier.

pub use waitword::BarrierWaitResult;

/// The future returned by [`Barrier::wait`].
pub type BarrierWait<'a> = waitword::future::BarrierWait<&'a waitword::Barrier>;

/// A barrier: `n` tasks and threads wait until all of them have arrived. It can be used repeatedly.
///
/// ```
/// assert!(async_lock::Barrier::new(1).wait_blocking().is_leader());
/// ```
#[derive(Debug)]
pub struct Barrier(waitword::Barrier);

impl Barrier {
    /// Creates a barrier for `n` tasks and threads.
    ///
    /// # Panics
    /// If `n` is more than 2²⁸ − 1.
    #[track_caller]
    pub const fn new(n: usize) -> Self {
        Self(waitword::Barrier::new(n))
    }

    /// Waits until all tasks and threads have arrived, without blocking this thread. The future arrives at its first poll.
    ///
    /// # Cancellation
    /// A future that is dropped while it waits has not arrived: the others wait for one more.
    #[track_caller]
    pub fn wait(&self) -> BarrierWait<'_> {
        waitword_observe::init();
        self.0.wait_async()
    }

    /// Blocks this thread until all tasks and threads have arrived.
    ///
    /// # Panics
    /// If the call would block, and blocking is forbidden on this thread (`waitword::forbid_blocking`).
    #[track_caller]
    pub fn wait_blocking(&self) -> BarrierWaitResult {
        waitword_observe::init();
        self.0.wait()
    }
}
