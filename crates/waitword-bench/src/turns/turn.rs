//! What a contender has to be: a turn that is 0 or 1, with a party waiting on either side.

use std::future::Future;

/// Taking turns as a thread.
pub(crate) trait Turns: Send + Sync + Sized + 'static {
    /// Its name in the tables.
    const NAME: &'static str;

    /// The turn is 0.
    fn new() -> Self;

    /// Blocks while the turn is `turn`.
    fn wait_while(&self, turn: u32);

    /// Stores the turn and wakes the party that waits for it.
    fn set(&self, turn: u32);
}

/// Taking turns as a task.
pub(crate) trait AsyncTurns: Turns {
    /// Waits while the turn is `turn`.
    fn wait_while_async(&self, turn: u32) -> impl Future<Output = ()> + Send;
}
