//! The barrier.

pub use waitword::BarrierWaitResult;

/// The future of [`Barrier::wait`].
pub type BarrierWait<'a> = waitword::future::BarrierWait<&'a waitword::Barrier>;

/// A point at which `n` tasks and threads wait until all have arrived, again and again.
///
/// ```
/// assert!(async_lock::Barrier::new(1).wait_blocking().is_leader());
/// ```
#[derive(Debug)]
pub struct Barrier(waitword::Barrier);

impl Barrier {
    /// A barrier for `n`.
    ///
    /// # Panics
    /// If they are more than 2²⁸ − 1.
    #[track_caller]
    pub const fn new(n: usize) -> Self {
        Self(waitword::Barrier::new(n))
    }

    /// Arrives at the first poll, and waits for the others. A future that is dropped has not arrived.
    #[track_caller]
    pub fn wait(&self) -> BarrierWait<'_> {
        waitword_observe::init();
        self.0.wait_async()
    }

    /// Arrives, and waits for the others, blocking this thread.
    #[track_caller]
    pub fn wait_blocking(&self) -> BarrierWaitResult {
        waitword_observe::init();
        self.0.wait()
    }
}
