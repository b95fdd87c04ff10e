//! What a herd waits on.

use std::time::Duration;

/// A generation, and the threads that wait for the next one.
pub(crate) trait Herd: Send + Sync + 'static {
    const NAME: &'static str;

    fn new() -> Self;

    /// Waits until the generation is not `generation` any more.
    fn wait_while(&self, generation: u32);

    /// Waits once, for `timeout`; the generation does not change.
    fn time_out(&self, timeout: Duration);

    /// Begins the next generation, and wakes all that wait for it.
    fn advance(&self);
}
