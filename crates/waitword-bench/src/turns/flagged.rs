//! Queues that know nothing of a word: the turn is a flag beside them, and each party has a queue of its own, so that
//! neither takes the other's wake.

use std::sync::atomic::{AtomicU32, Ordering};

use event_listener::{Event, Listener as _};

use super::{AsyncTurns, Turns};
use crate::block_on::block_on;
use crate::queues::Queues;

/// With a queue that stores a notify that finds no waiter, so that checking the flag before the wait is enough.
pub(crate) struct Flagged<Q> {
    turn: AtomicU32,
    queues: Q,
}

impl<Q: Queues> Turns for Flagged<Q> {
    const NAME: &'static str = Q::NAME;

    fn new() -> Self {
        Self { turn: AtomicU32::new(0), queues: Q::with_words(2) }
    }

    fn wait_while(&self, turn: u32) {
        block_on(self.wait_while_async(turn));
    }

    fn set(&self, turn: u32) {
        self.turn.store(turn, Ordering::SeqCst);
        self.queues.notify_one(1 - turn as usize);
    }
}

impl<Q: Queues> AsyncTurns for Flagged<Q> {
    async fn wait_while_async(&self, turn: u32) {
        while self.turn.load(Ordering::SeqCst) == turn {
            self.queues.wait(turn as usize).await;
        }
    }
}

/// With event-listener, which does not store it: listen, recheck the flag, wait.
pub(crate) struct Events {
    turn: AtomicU32,
    events: [Event; 2],
}

impl Events {
    fn is(&self, turn: u32) -> bool {
        self.turn.load(Ordering::SeqCst) == turn
    }
}

impl Turns for Events {
    const NAME: &'static str = "event-listener";

    fn new() -> Self {
        Self { turn: AtomicU32::new(0), events: [Event::new(), Event::new()] }
    }

    fn wait_while(&self, turn: u32) {
        while self.is(turn) {
            let listener = self.events[turn as usize].listen();
            if self.is(turn) {
                listener.wait();
            }
        }
    }

    fn set(&self, turn: u32) {
        self.turn.store(turn, Ordering::SeqCst);
        self.events[1 - turn as usize].notify(1);
    }
}

impl AsyncTurns for Events {
    async fn wait_while_async(&self, turn: u32) {
        while self.is(turn) {
            let listener = self.events[turn as usize].listen();
            if self.is(turn) {
                listener.await;
            }
        }
    }
}
