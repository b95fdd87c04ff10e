//! The contenders: queues of async waiters behind one trait.
//!
//! Some find the queue of a word by its address or key, the others are a queue and are given one per word
//! ([`PerWord`]): those need no look-up, which somebody who has the key and not the queue would have to add.

mod bare_list;
mod event_listener;
mod futures_intrusive;
mod hand_made;
mod maitake;
mod tokio;
mod waitword;

use std::future::Future;

pub(crate) use bare_list::BareList;
pub(crate) use event_listener::EventListener;
pub(crate) use futures_intrusive::FuturesIntrusive;
pub(crate) use hand_made::HandMade;
pub(crate) use maitake::{MaitakeMap, MaitakeQueue};
pub(crate) use tokio::TokioNotify;
pub(crate) use waitword::Waitword;

/// Wait queues of a number of words, each known by its index.
pub(crate) trait Queues: Send + Sync + Sized + 'static {
    /// How the tables call it.
    const NAME: &'static str;
    /// The largest number of words that can be waited on in a time worth waiting for.
    const MOST_WORDS: usize = usize::MAX;
    /// Whether `notify_all` wakes more than one.
    const NOTIFIES_ALL: bool = true;

    /// The future of a wait. It is in line after its first poll at the latest, and leaves when dropped.
    type Wait<'a>: Future + Send;

    /// Queues for that many words.
    fn with_words(words: usize) -> Self;

    /// Waits for a notify of `word`.
    fn wait(&self, word: usize) -> Self::Wait<'_>;

    /// Wakes the first who waits on `word`.
    fn notify_one(&self, word: usize);

    /// Wakes all who wait on `word` now, or the first if [`NOTIFIES_ALL`](Self::NOTIFIES_ALL) is false.
    fn notify_all(&self, word: usize);
}

/// One queue of async waiters.
pub(crate) trait Queue: Send + Sync + Sized + 'static {
    const NAME: &'static str;
    const NOTIFIES_ALL: bool = true;

    type Wait<'a>: Future + Send;

    fn new() -> Self;
    fn wait(&self) -> Self::Wait<'_>;
    fn notify_one(&self);
    fn notify_all(&self);
}

/// A queue for each word, side by side in memory.
pub(crate) struct PerWord<Q>(Box<[Q]>);

impl<Q: Queue> Queues for PerWord<Q> {
    const NAME: &'static str = Q::NAME;
    const NOTIFIES_ALL: bool = Q::NOTIFIES_ALL;

    type Wait<'a> = Q::Wait<'a>;

    fn with_words(words: usize) -> Self {
        Self((0..words).map(|_| Q::new()).collect())
    }

    fn wait(&self, word: usize) -> Q::Wait<'_> {
        self.0[word].wait()
    }

    fn notify_one(&self, word: usize) {
        self.0[word].notify_one();
    }

    fn notify_all(&self, word: usize) {
        self.0[word].notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::Crowd;

    /// What is measured has to work: a notify ends the wait of its own word, and a cancelled wait takes none.
    fn keeps_words_apart<Q: Queues>() {
        let queues = Q::with_words(2);
        let mut crowd = Crowd::new(3);
        crowd.enter(0, queues.wait(0));
        crowd.enter(1, queues.wait(1));
        queues.notify_one(1);
        crowd.finish(1);
        crowd.cancel(0);
        crowd.enter(2, queues.wait(0));
        queues.notify_one(0);
        crowd.finish(2);
    }

    fn wakes_in_order<Q: Queues>() {
        let queues = Q::with_words(1);
        let mut crowd = Crowd::new(4);
        (0..4).for_each(|i| crowd.enter(i, queues.wait(0)));
        queues.notify_one(0);
        crowd.finish(0);
        queues.notify_one(0);
        crowd.finish(1);
        if Q::NOTIFIES_ALL {
            queues.notify_all(0);
            crowd.finish(3);
            crowd.finish(2);
        }
    }

    macro_rules! adapters {
        ($($name:ident: $queues:ty, $($property:ident)*;)*) => {$(
            #[test]
            fn $name() {
                $($property::<$queues>();)*
            }
        )*};
    }

    adapters! {
        bare_list: BareList, keeps_words_apart wakes_in_order;
        event_listener: EventListener, keeps_words_apart wakes_in_order;
        futures_intrusive: FuturesIntrusive, keeps_words_apart wakes_in_order;
        hand_made: HandMade, keeps_words_apart wakes_in_order;
        maitake_map: MaitakeMap, keeps_words_apart;
        maitake_queue: MaitakeQueue, keeps_words_apart wakes_in_order;
        tokio_notify: TokioNotify, keeps_words_apart wakes_in_order;
        waitword: Waitword, keeps_words_apart wakes_in_order;
    }
}
