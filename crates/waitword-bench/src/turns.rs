//! Two parties that take turns. The turn is 0 or 1. A party waits while it is the other's turn, and then passes the turn back.

use std::future::Future;
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::executor::block_on;
use crate::locks::Semaphore;
use crate::queues::Queues;
use crate::words::{OnWord, Parking};
use crate::workload::Subject;

/// Takes turns, as a thread or as a task. A contender implements one of the two; the other has a default. The first turn is 0.
pub(crate) trait Turns: Subject {
    /// Blocks while the turn is `turn`.
    fn wait_while(&self, turn: u32) {
        block_on(self.wait_while_async(turn));
    }

    /// Waits while the turn is `turn`.
    fn wait_while_async(&self, turn: u32) -> impl Future<Output = ()> + Send {
        async move { self.wait_while(turn) }
    }

    /// Stores the turn and wakes the party that waits for it.
    fn set(&self, turn: u32);
}

/// The turn is the word.
impl<P: Parking> Turns for OnWord<P> {
    fn wait_while(&self, turn: u32) {
        self.sleep_while(turn);
    }

    async fn wait_while_async(&self, turn: u32) {
        while self.word.load(Ordering::SeqCst) == turn {
            let _ = P::wait_async(&self.word, turn).await;
        }
    }

    fn set(&self, turn: u32) {
        self.word.store(turn, Ordering::SeqCst);
        P::wake_one(&self.word);
    }
}

/// Two semaphores, one for each turn. Setting a turn adds the permit that the party of that turn acquires.
pub(crate) struct BySemaphores<S>([S; 2]);

impl<S: Semaphore> Subject for BySemaphores<S> {
    const NAME: &'static str = S::NAME;

    fn new() -> Self {
        Self([S::with_permits(0), S::with_permits(0)])
    }
}

impl<S: Semaphore> Turns for BySemaphores<S> {
    fn wait_while(&self, turn: u32) {
        mem::forget(self.0[1 - turn as usize].acquire());
    }

    async fn wait_while_async(&self, turn: u32) {
        mem::forget(self.0[1 - turn as usize].acquire_async().await);
    }

    fn set(&self, turn: u32) {
        self.0[turn as usize].add_permit();
    }
}

/// The turn is a flag beside two queues, one for each party, so that neither consumes the other's wake-up.
pub(crate) struct Flagged<Q> {
    turn: AtomicU32,
    queues: Q,
}

impl<Q: Queues> Flagged<Q> {
    fn is(&self, turn: u32) -> bool {
        self.turn.load(Ordering::SeqCst) == turn
    }
}

impl<Q: Queues> Subject for Flagged<Q> {
    const NAME: &'static str = Q::NAME;

    fn new() -> Self {
        Self { turn: AtomicU32::new(0), queues: Q::with_words(2) }
    }
}

impl<Q: Queues> Turns for Flagged<Q> {
    /// A notify that finds no waiter is stored, or the waiter is enqueued before the flag is rechecked (event-listener).
    async fn wait_while_async(&self, turn: u32) {
        while self.is(turn) {
            let wait = self.queues.wait(turn as usize);
            if self.is(turn) {
                wait.await;
            }
        }
    }

    fn set(&self, turn: u32) {
        self.turn.store(turn, Ordering::SeqCst);
        self.queues.notify_one(1 - turn as usize);
    }
}
