//! What users write that need queues by key: a map of tokio's `Notify` under one lock, entries removed with their
//! last waiter.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

use super::Queues;

pub(crate) struct HandMade(Mutex<HashMap<usize, Entry>>);

struct Entry {
    notify: Arc<Notify>,
    waiters: usize,
}

impl HandMade {
    fn entries(&self) -> MutexGuard<'_, HashMap<usize, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self, word: usize) {
        let mut entries = self.entries();
        if let Some(entry) = entries.get_mut(&word) {
            entry.waiters -= 1;
            if entry.waiters == 0 {
                entries.remove(&word);
            }
        }
    }
}

impl Queues for HandMade {
    const NAME: &'static str = "hand-made map";

    type Wait<'a> = Wait<'a>;

    fn with_words(_words: usize) -> Self {
        Self(Mutex::default())
    }

    fn wait(&self, word: usize) -> Wait<'_> {
        let mut entries = self.entries();
        let entry = entries.entry(word).or_insert_with(|| Entry { notify: Arc::default(), waiters: 0 });
        entry.waiters += 1;
        let notified = Arc::clone(&entry.notify).notified_owned();
        drop(entries);
        Wait { notified, _place: Place { map: self, word } }
    }

    fn notify_one(&self, word: usize) {
        let notify = self.entries().get(&word).map(|entry| Arc::clone(&entry.notify));
        if let Some(notify) = notify {
            notify.notify_one();
        }
    }

    fn notify_all(&self, word: usize) {
        let notify = self.entries().get(&word).map(|entry| Arc::clone(&entry.notify));
        if let Some(notify) = notify {
            notify.notify_waiters();
        }
    }
}

/// A wait, and its share in the entry of its word.
pub(crate) struct Wait<'a> {
    notified: OwnedNotified,
    _place: Place<'a>,
}

struct Place<'a> {
    map: &'a HandMade,
    word: usize,
}

impl Future for Wait<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: `notified` is pinned with the whole; it is not moved, here or by a `Drop` of the whole.
        let notified = unsafe { self.map_unchecked_mut(|wait| &mut wait.notified) };
        ready!(notified.poll(cx));
        Poll::Ready(())
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.map.leave(self.word);
    }
}
