//! Waits that own a share in their event: stored in structs, polled by hand, and dropped there.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker, ready};
use std::thread;

use futures_util::stream::{FuturesUnordered, StreamExt, select_all};
use futures_util::{FutureExt, Stream};
use pin_project_lite::pin_project;
use waitword::future::*;
use waitword::*;

use crate::common::{block_on, poll, until};

/// A number that others write, and an event for its changes.
#[derive(Default)]
struct Number {
    now: AtomicUsize,
    changed: Arc<Event>,
}

impl Number {
    fn set(&self, number: usize) {
        self.now.store(number, Ordering::Release);
        self.changed.notify_all();
    }
}

pin_project! {
    /// The numbers that are seen, up to the last.
    struct Numbers {
        number: Arc<Number>,
        seen: usize,
        last: usize,
        // Written by the stream itself, each between a check of the number and the wait for its change.
        races: std::ops::Range<usize>,
        // In the field: nothing is allocated for a wait.
        #[pin]
        changed: EventWait<Arc<Event>>,
    }
}

impl Numbers {
    fn new(number: &Arc<Number>, last: usize) -> Self {
        let changed = number.changed.wait_owned_async();
        Self { number: Arc::clone(number), seen: 0, last, races: 0..0, changed }
    }
}

impl Stream for Numbers {
    type Item = usize;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<usize>> {
        let mut this = self.project();
        if this.seen == this.last {
            return Poll::Ready(None);
        }
        loop {
            let now = this.number.now.load(Ordering::Acquire);
            if now != *this.seen {
                *this.seen = now;
                return Poll::Ready(Some(now));
            }
            this.races.next().into_iter().for_each(|next| this.number.set(next));
            ready!(this.changed.as_mut().poll(cx));
            // It waits for the next change before the number is checked again.
            this.changed.set(this.number.changed.wait_owned_async());
        }
    }
}

#[test]
fn a_stream_that_keeps_its_wait_misses_no_change_between_its_check_and_its_wait() {
    let number = Arc::new(Number::default());
    let mut numbers = pin!(Numbers { races: 1..6, ..Numbers::new(&number, 7) });
    let mut cx = Context::from_waker(Waker::noop());
    for next in 1..6 {
        assert_eq!(numbers.as_mut().poll_next(&mut cx), Poll::Ready(Some(next)));
    }
    assert!(numbers.as_mut().poll_next(&mut cx).is_pending());
    assert_eq!(number.changed.notify_all(), 1, "now it is in the queue");
    assert!(numbers.as_mut().poll_next(&mut cx).is_pending(), "and again: nothing has changed");
    number.set(7);
    assert_eq!(numbers.as_mut().poll_next(&mut cx), Poll::Ready(Some(7)));
    assert_eq!(numbers.poll_next(&mut cx), Poll::Ready(None));
}

/// Several streams on two executors, beside a thread that writes as fast as it can: all are woken, and all see the last.
#[test]
fn streams_that_keep_their_waits_end_on_every_executor() {
    const LAST: usize = 2_000;
    for _ in 0..5 {
        let number = Arc::new(Number::default());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let seen = [(); 3].map(|()| runtime.spawn(Numbers::new(&number, LAST).collect::<Vec<_>>()));
        let also_seen =
            smol::spawn(select_all([Numbers::new(&number, LAST)].map(Box::pin)).collect::<Vec<_>>());
        let writer = thread::spawn({
            let number = Arc::clone(&number);
            move || (1..=LAST).for_each(|next| number.set(next))
        });
        let mut all = vec![block_on(also_seen)];
        all.extend(seen.map(|seen| runtime.block_on(seen).unwrap()));
        for seen in all {
            assert!(seen.is_sorted() && seen.last() == Some(&LAST), "{seen:?}");
        }
        writer.join().unwrap();
        assert_eq!(number.changed.waiters(), 0);
    }
}

/// What a service with a `poll_ready` is: polled until there is a place.
struct Service {
    free: Arc<AtomicUsize>,
    is_free: Arc<Event>,
    freed: Pin<Box<EventWait<Arc<Event>>>>,
}

impl Service {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let take = |free: usize| free.checked_sub(1);
        while self.free.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_err() {
            ready!(self.freed.as_mut().poll(cx));
            // The next wait, in the place of the last.
            self.freed.set(self.is_free.wait_owned_async());
        }
        Poll::Ready(())
    }
}

/// A service that is dropped with a wakeup in the wait that it keeps.
#[test]
fn a_struct_that_is_dropped_while_its_wait_is_notified_forwards_the_wakeup() {
    let (free, event) = (Arc::new(AtomicUsize::new(0)), Arc::new(Event::new()));
    let mut services = [(); 3].map(|()| {
        let freed = Box::pin(event.wait_owned_async());
        Some(Service { free: Arc::clone(&free), is_free: Arc::clone(&event), freed })
    });
    let mut cx = Context::from_waker(Waker::noop());
    assert!(services.iter_mut().flatten().all(|service| service.poll_ready(&mut cx).is_pending()));
    free.fetch_add(1, Ordering::SeqCst);
    event.notify_one();
    for left in [2, 1, 0] {
        assert_eq!(event.waiters(), left, "the next is woken");
        if left > 0 {
            services[2 - left] = None;
        }
    }
    assert!(services[2].as_mut().unwrap().poll_ready(&mut cx).is_ready());
    assert!(!event.try_wait(), "it is in the stored wait, ...");
    drop(services);
    assert!(event.try_wait(), "... which was not asked, for there was a place");
}

#[test]
fn an_owned_wait_that_is_enabled_and_dropped_forwards_what_was_stored() {
    let event = Arc::new(Event::new());
    event.notify_one();
    let mut enabled = Box::pin(event.wait_owned_async());
    assert!(enabled.as_mut().enable() && !event.try_wait());
    drop(enabled);
    let mut listener = Box::pin(event.listen_owned());
    assert!(listener.as_mut().enable() && !event.try_wait());
    drop(listener);
    assert!(event.try_wait());
}

/// It is all that is left of the event; and what is over has no share.
#[test]
fn a_listener_keeps_its_event_until_it_has_left_the_queue() {
    let event = Arc::new(Event::new());
    let (mut ended, mut listener) = (Box::pin(event.wait_owned_async()), Box::pin(event.listen_owned()));
    assert!(poll(ended.as_mut()).is_pending() && !listener.as_mut().enable());
    let weak = Arc::downgrade(&event);
    assert_eq!((event.waiters(), event.notify_one()), (2, true));
    assert!(poll(ended.as_mut()).is_ready());
    assert_eq!(Arc::strong_count(&event), 3, "the share in the queue has gone");
    drop((event, ended));
    assert!(!listener.as_mut().enable() && weak.strong_count() > 0);
    drop(listener);
    assert!(weak.upgrade().is_none());
}

/// In a set, beside others, each on the thread that polls it first and dropped on another.
#[test]
fn owned_waits_go_from_thread_to_thread() {
    let event = Arc::new(Event::new());
    let waits: FuturesUnordered<_> = (0..20).map(|_| event.wait_owned_async()).collect();
    let waits = thread::spawn(move || {
        let mut waits = waits;
        assert!(waits.next().now_or_never().is_none());
        waits
    });
    let waits = waits.join().unwrap();
    assert_eq!(event.waiters(), 20);
    let notifier = thread::spawn({
        let event = Arc::clone(&event);
        move || (0..10).for_each(|_| assert!(event.notify_last()))
    });
    assert_eq!(block_on(waits.take(10).count()), 10);
    notifier.join().unwrap();
    until(|| event.waiters() == 0);
    assert!(!event.try_wait(), "ten were given, and ten had");
}
