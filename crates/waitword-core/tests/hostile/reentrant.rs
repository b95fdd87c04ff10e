//! Wakers that use the queue, the timer or their own task from within, and locations that use the queue.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::time::Duration;

use waitword_core::*;

use crate::common::{poll, poll_with, queued, until};

/// Does something when it is woken, and when its last clone is dropped; and counts how often it has.
struct ReEnters<F: Fn()>(F, Arc<AtomicUsize>);

impl<F: Fn()> ReEnters<F> {
    fn everything(&self) {
        (self.0)();
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

impl<F: Fn() + Send + Sync + 'static> Wake for ReEnters<F> {
    fn wake(self: Arc<Self>) {
        self.everything();
    }
}

impl<F: Fn()> Drop for ReEnters<F> {
    fn drop(&mut self) {
        self.everything();
    }
}

/// tokio #4129, #5429: the last clone of a waker owns what re-enters the queue when it is dropped. And the timer, which has a lock of its own.
#[test]
fn a_waker_that_re_enters_the_queue_or_the_timer_from_wake_and_from_drop() {
    const HOUR: Duration = Duration::from_secs(3600);
    let (word, times) = (Arc::new(AtomicI32::new(0)), Arc::new(AtomicUsize::new(0)));
    let waker = |everything: Box<dyn Fn() + Send + Sync>| {
        Waker::from(Arc::new(ReEnters(everything, Arc::clone(&times))))
    };
    let of_queue = || {
        let (word, other) = (Arc::clone(&word), Mutex::new(Some(queued(Arc::clone(&word), 0))));
        waker(Box::new(move || {
            let wait = queued(&*word, 0);
            assert!(notify_one(&word) <= 1);
            drop(wait);
            drop(other.lock().unwrap().take());
        }))
    };
    let of_timer = || {
        let mut other = Box::pin(wait_async_for(Arc::clone(&word), 0, HOUR));
        assert!(poll(other.as_mut()).is_pending());
        let (word, other) = (Arc::clone(&word), Mutex::new(Some(other)));
        waker(Box::new(move || {
            for timeout in [Duration::ZERO, Duration::from_nanos(1), HOUR] {
                let _ = poll(pin!(wait_async_for(&*word, 0, timeout)));
            }
            drop(other.lock().unwrap().take());
        }))
    };
    // By the deadline, which wakes. The timer may hold the last clone, and drop it a little after it has woken.
    let mut timeout = Duration::from_millis(1);
    loop {
        let before = times.load(Ordering::SeqCst);
        let mut timed = Box::pin(wait_async_for(&*word, 0, timeout));
        if poll_with(timed.as_mut(), &of_timer()).is_pending() {
            until(|| times.load(Ordering::SeqCst) > before);
            assert_eq!(smol::future::block_on(timed), Outcome::TimedOut);
            until(|| times.load(Ordering::SeqCst) == before + 2);
            break;
        }
        // A slow machine: it was over before it was first polled.
        timeout *= 2;
    }
    // By a notify, which wakes; by a change of the waker; by the drop of the wait.
    for (way, more) in [(0, 2), (1, 1), (2, 1)] {
        let ways = |mut wait: Pin<Box<dyn Future<Output = Outcome> + '_>>, waker: &dyn Fn() -> Waker| {
            let before = times.load(Ordering::SeqCst);
            assert!(poll_with(wait.as_mut(), &waker()).is_pending());
            match way {
                0 => assert!(notify_all(&word) >= 1),
                1 => drop(poll(wait.as_mut())),
                _ => (),
            }
            drop(wait);
            assert_eq!(times.load(Ordering::SeqCst), before + more);
        };
        ways(Box::pin(wait_async(&*word, 0)), &of_queue);
        ways(Box::pin(wait_async_for(&*word, 0, HOUR)), &of_timer);
    }
    assert_eq!(Table::global().waiters(&*word), 0);
}

/// An executor that polls inline from a wake deadlocks if the wake comes under a lock.
#[test]
fn a_task_that_is_polled_inside_its_wake() {
    type Task = Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>;
    struct Inline(Task);
    impl Wake for Inline {
        fn wake(self: Arc<Self>) {
            let waker = Waker::from(Arc::clone(&self));
            let mut task = self.0.lock().unwrap().take().unwrap();
            if poll_with(task.as_mut(), &waker).is_pending() {
                *self.0.lock().unwrap() = Some(task);
            }
        }
    }
    let word = Arc::new(AtomicI32::new(0));
    let rounds = Arc::new(AtomicUsize::new(0));
    let task = {
        let (word, rounds) = (Arc::clone(&word), Arc::clone(&rounds));
        async move {
            loop {
                assert_eq!(wait_async(&word, 0).await, Outcome::Notified);
                rounds.fetch_add(1, Ordering::SeqCst);
            }
        }
    };
    let inline = Arc::new(Inline(Mutex::new(Some(Box::pin(task)))));
    inline.clone().wake();
    for round in 1..=100 {
        assert_eq!(notify_all(&word), 1);
        assert_eq!(rounds.load(Ordering::SeqCst), round);
    }
    drop(inline.0.lock().unwrap().take());
    assert_eq!(notify_all(&word), 0);
}

/// Reads the queue itself whenever it is asked for its word: a deadlock if that is under the lock of its shard.
struct ReadsQueue {
    word: AtomicI32,
}

// SAFETY: the word is a field, and the global table lives for ever.
unsafe impl Location for ReadsQueue {
    type Word = AtomicI32;

    fn word(&self) -> &AtomicI32 {
        assert!(Table::global().waiters(&self.word) <= 1);
        &self.word
    }

    fn table(&self) -> &Table {
        Table::global()
    }
}

#[test]
fn a_location_is_not_asked_under_a_lock() {
    let thread = std::thread::spawn(|| {
        let at = ReadsQueue { word: AtomicI32::new(0) };
        assert_eq!(wait_for(&at, 1, Duration::ZERO), Outcome::NotEqual);
        assert_eq!(wait_for(&at, 1, Duration::from_secs(60)), Outcome::NotEqual);
        assert_eq!(wait_for(&at, 0, Duration::from_nanos(1)), Outcome::TimedOut);
        let mut task = queued(&at, 0);
        assert!(poll(task.as_mut()).is_pending());
        drop(task);
        let inbox = Inbox::new(|| {});
        let mut agent = Box::pin(InboxWait::new(&inbox, &at, 0));
        assert!(agent.as_mut().enqueue(0));
        assert!(agent.as_mut().expire());
        assert_eq!(inbox.pop().unwrap().1, Outcome::TimedOut);
        assert!(agent.as_mut().enqueue(0));
        assert_eq!(notify_all(&at), 1);
    });
    until(|| thread.is_finished());
    thread.join().unwrap();
}
