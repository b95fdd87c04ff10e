//! Queues of async waiters behind one trait: ours and its peers.
//!
//! Ours finds the queue of a word by its address. The peers are queues themselves, and get one per word, so they need no look-up, which a
//! caller with a key and no queue would have to add.

use std::future::Future;
use std::sync::atomic::AtomicU32;

use event_listener::{Event, IntoNotification as _};
use futures_intrusive::buffer::GrowingHeapBuf;
use futures_intrusive::channel::{ChannelReceiveFuture, GenericChannel};
use maitake_sync::{WaitQueue, wait_queue};
use parking_lot_0_12::RawMutex;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use waitword_core::{WaitAsync, notify_all, notify_one, wait_async};

/// Wait queues of a number of words, each known by its index.
pub(crate) trait Queues: Send + Sync + Sized + 'static {
    /// The name in the tables.
    const NAME: &'static str;
    /// Whether `notify_all` wakes more than one.
    const NOTIFIES_ALL: bool = true;

    /// The future of a wait. It is queued after its first poll at the latest, and dequeued when dropped.
    type Wait<'a>: Future + Send;

    /// Creates queues for this number of words.
    fn with_words(words: usize) -> Self;

    /// Waits for a notify of `word`.
    fn wait(&self, word: usize) -> Self::Wait<'_>;

    /// Wakes the head waiter of `word`.
    fn notify_one(&self, word: usize);

    /// Wakes all waiters that are queued on `word`, or the head waiter if [`NOTIFIES_ALL`](Self::NOTIFIES_ALL) is false.
    fn notify_all(&self, word: usize);
}

/// One row per contender: its name here and in the tables; the type of an array element per word, and how to create it; its future,
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

    /// Its queue that can wake one waiter is that of a channel's receivers. The items have no size, so the buffer is only a counter.
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

    /// Its waiters are enqueued by `listen`, before they are polled. A plain `notify(1)` does nothing while an earlier notified waiter
    /// has not been polled.
    EventListener, "event-listener", Event, Event::new(), event_listener::EventListener {
        wait |event| event.listen();
        notify_one |event| event.notify(1.additional());
        notify_all |event| event.notify(usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::Crowd;

    /// A notify ends a wait on its own word, and a cancelled wait consumes none.
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
    }
}
