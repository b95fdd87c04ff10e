//! Ours: the table of the process finds the queue of a word.

use std::sync::atomic::AtomicU32;

use waitword_core::{WaitAsync, notify_all, notify_one, wait_async};

use super::Queues;

pub(crate) struct Waitword(Box<[AtomicU32]>);

impl Queues for Waitword {
    const NAME: &'static str = "waitword";

    type Wait<'a> = WaitAsync<&'a AtomicU32>;

    fn with_words(words: usize) -> Self {
        Self((0..words).map(|_| AtomicU32::new(0)).collect())
    }

    fn wait(&self, word: usize) -> Self::Wait<'_> {
        wait_async(&self.0[word], 0)
    }

    fn notify_one(&self, word: usize) {
        notify_one(&self.0[word]);
    }

    fn notify_all(&self, word: usize) {
        notify_all(&self.0[word]);
    }
}
