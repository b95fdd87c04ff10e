//! maitake-sync: a queue, and a map of waiters by key.

use maitake_sync::{WaitMap, WaitQueue, wait_map, wait_queue};

use super::{PerWord, Queue, Queues};

pub(crate) type MaitakeQueue = PerWord<WaitQueue>;

impl Queue for WaitQueue {
    const NAME: &'static str = "maitake WaitQueue";

    type Wait<'a> = wait_queue::Wait<'a>;

    fn new() -> Self {
        WaitQueue::new()
    }

    fn wait(&self) -> wait_queue::Wait<'_> {
        self.wait()
    }

    fn notify_one(&self) {
        self.wake();
    }

    fn notify_all(&self) {
        self.wake_all();
    }
}

/// The only keyed queue of async waiters among the peers. One waiter per key.
pub(crate) struct MaitakeMap(WaitMap<usize, ()>);

impl Queues for MaitakeMap {
    const NAME: &'static str = "maitake WaitMap";
    // It is one list, searched from its end by every wait and every wake.
    const MOST_WORDS: usize = 10_000;
    const NOTIFIES_ALL: bool = false;

    type Wait<'a> = wait_map::Wait<'a, usize, ()>;

    fn with_words(_words: usize) -> Self {
        Self(WaitMap::new())
    }

    fn wait(&self, word: usize) -> Self::Wait<'_> {
        self.0.wait(word)
    }

    fn notify_one(&self, word: usize) {
        self.0.wake(&word, ());
    }

    fn notify_all(&self, word: usize) {
        self.notify_one(word);
    }
}
