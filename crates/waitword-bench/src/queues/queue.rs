//! What a contender has to be: queues of many words, or one queue, which [`PerWord`] makes many.

use std::future::Future;

/// Wait queues of a number of words, each known by its index.
pub(crate) trait Queues: Send + Sync + Sized + 'static {
    /// Its name in the tables.
    const NAME: &'static str;
    /// The largest number of words that can be waited on in a time worth waiting for.
    const MOST_WORDS: usize = usize::MAX;
    /// Whether `notify_all` wakes more than one.
    const NOTIFIES_ALL: bool = true;

    /// The future of a wait. It is queued after its first poll at the latest, and dequeued when dropped.
    type Wait<'a>: Future + Send;

    /// Queues for that many words.
    fn with_words(words: usize) -> Self;

    /// Waits for a notify of `word`.
    fn wait(&self, word: usize) -> Self::Wait<'_>;

    /// Wakes the head waiter of `word`.
    fn notify_one(&self, word: usize);

    /// Wakes all waiters that are queued on `word`, or the head waiter if [`NOTIFIES_ALL`](Self::NOTIFIES_ALL) is false.
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
