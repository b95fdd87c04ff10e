//! Queues of async waiters behind one trait: ours and its peers.
//!
//! Ours and the hand-made map find the queue of a word by its address or key. The others are a queue, and are given one per word:
//! those need no look-up, which a caller with a key and no queue would have to add.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use event_listener::{Event, IntoNotification as _};
use futures_intrusive::buffer::GrowingHeapBuf;
use futures_intrusive::channel::{ChannelReceiveFuture, GenericChannel};
use maitake_sync::{WaitQueue, wait_queue};
use parking_lot_0_12::RawMutex;
use tokio::sync::Notify;
use tokio::sync::futures::{Notified, OwnedNotified};
use waitword_core::{WaitAsync, notify_all, notify_one, wait_async};

/// Wait queues of a number of words, each known by its index.
pub(crate) trait Queues: Send + Sync + Sized + 'static {
    /// Its name in the tables.
    const NAME: &'static str;
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

/// One row per contender: its name here and in the tables; what it has for each word, in an array, and how to make that; its future,
/// and how to wait and notify.
macro_rules! queues {
    ($($(#[$doc:meta])* $Name:ident, $name:expr, $queue:ty, $new:expr, $wait_type:ty {
        wait |$w:ident| $wait:expr;
        notify_one |$o:ident| $one:expr;
        notify_all |$a:ident| $all:expr $(, $notifies_all:literal)?;
    })+) => {$(
        $(#[$doc])*
        pub(crate) struct $Name(Box<[$queue]>);

        impl Queues for $Name {
            const NAME: &'static str = $name;
            $(const NOTIFIES_ALL: bool = $notifies_all;)?

            type Wait<'a> = $wait_type;

            fn with_words(words: usize) -> Self {
                Self((0..words).map(|_| $new).collect())
            }

            fn wait(&self, word: usize) -> Self::Wait<'_> {
                let $w = &self.0[word];
                $wait
            }

            fn notify_one(&self, word: usize) {
                let $o = &self.0[word];
                $one;
            }

            fn notify_all(&self, word: usize) {
                let $a = &self.0[word];
                $all;
            }
        }
    )+};
}

type Units = GenericChannel<RawMutex, (), GrowingHeapBuf<()>>;

queues! {
    Waitword, "waitword", AtomicU32, AtomicU32::new(0), WaitAsync<&'a AtomicU32> {
        wait |word| wait_async(word, 0);
        notify_one |word| notify_one(word);
        notify_all |word| notify_all(word);
    }

    TokioNotify, "tokio Notify", Notify, Notify::new(), Notified<'a> {
        wait |notify| notify.notified();
        notify_one |notify| notify.notify_one();
        notify_all |notify| notify.notify_waiters();
    }

    /// Its queue with a "wake one" is that of a channel's receivers; what is sent has no size, so the buffer costs a counter.
    FuturesIntrusive, "futures-intrusive", Units, Units::with_capacity(usize::MAX), ChannelReceiveFuture<'a, RawMutex, ()> {
        wait |channel| channel.receive();
        notify_one |channel| channel.try_send(()).expect("the buffer has no end");
        notify_all |channel| channel.try_send(()).expect("the buffer has no end"), false;
    }

    MaitakeQueue, "maitake WaitQueue", WaitQueue, WaitQueue::new(), wait_queue::Wait<'a> {
        wait |queue| queue.wait();
        notify_one |queue| queue.wake();
        notify_all |queue| queue.wake_all();
    }

    /// Its waiters are queued by `listen`, before they are polled. A plain `notify(1)` does nothing while an earlier notified waiter
    /// has not been polled.
    EventListener, "event-listener", Event, Event::new(), event_listener::EventListener {
        wait |event| event.listen();
        notify_one |event| event.notify(1.additional());
        notify_all |event| event.notify(usize::MAX);
    }
}

/// What users write that need queues by key: a map of tokio's `Notify` under one lock, entries removed with their last waiter.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::Crowd;

    /// A notify ends the wait of its own word, and a cancelled wait takes none.
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

    fn works<Q: Queues>() {
        keeps_words_apart::<Q>();
        wakes_in_order::<Q>();
    }

    #[test]
    fn what_is_measured_works() {
        works::<Waitword>();
        works::<TokioNotify>();
        works::<FuturesIntrusive>();
        works::<MaitakeQueue>();
        works::<EventListener>();
        works::<HandMade>();
    }
}
