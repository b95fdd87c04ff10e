//! Wakers that use the queue, the timer or their own task from within, and locations that use the queue.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::time::Duration;

use waitword_core::*;

use crate::common::{poll, poll_with, queued, queued_with, until};

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

/// tokio #4129, #5429: the last clone of a waker owns what re-enters the queue when it is dropped.
#[test]
fn a_waker_that_re_enters_the_queue_from_wake_and_from_drop() {
    let word = Arc::new(AtomicI32::new(0));
    let times = Arc::new(AtomicUsize::new(0));
    let re_enters = || {
        let (word, other) = (Arc::clone(&word), Mutex::new(Some(queued(Arc::clone(&word), 0))));
        let everything = move || {
            let wait = queued(&*word, 0);
            assert!(notify_one(&word) <= 1);
            drop(wait);
            drop(other.lock().unwrap().take());
        };
        Waker::from(Arc::new(ReEnters(everything, Arc::clone(&times))))
    };
    // By wake, and then the drop; by a change of the waker; by the drop of the wait.
    for way in 0..3 {
        let mut wait = queued_with(&*word, 0, &re_enters());
        match way {
            0 => assert!(notify_all(&word) >= 1),
            1 => drop(poll(wait.as_mut())),
            _ => (),
        }
        drop(wait);
        assert_eq!(times.load(Ordering::SeqCst), way + 2);
    }
    assert_eq!(Table::global().waiters(&*word), 0);
}

/// The same on the thread that keeps the deadlines, which has a lock of its own.
#[test]
fn a_waker_that_re_enters_the_timer_from_wake_and_from_drop() {
    let word = Arc::new(AtomicI32::new(0));
    let times = Arc::new(AtomicUsize::new(0));
    let re_enters = || {
        let mut other = Box::pin(wait_async_for(Arc::clone(&word), 0, Duration::from_secs(3600)));
        assert!(poll(other.as_mut()).is_pending());
        let (word, other) = (Arc::clone(&word), Mutex::new(Some(other)));
        let everything = move || {
            for timeout in [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(3600)] {
                let _ = poll(pin!(wait_async_for(&*word, 0, timeout)));
            }
            drop(other.lock().unwrap().take());
        };
        Waker::from(Arc::new(ReEnters(everything, Arc::clone(&times))))
    };
    // By the deadline, which wakes; by a change of the waker; by the drop of the wait.
    let mut timeout = Duration::from_millis(1);
    let (timed, before) = loop {
        let before = times.load(Ordering::SeqCst);
        let mut timed = Box::pin(wait_async_for(&*word, 0, timeout));
        if poll_with(timed.as_mut(), &re_enters()).is_pending() {
            until(|| times.load(Ordering::SeqCst) > before);
            break (timed, before);
        }
        // A slow machine: it was over before it was first polled.
        timeout *= 2;
    };
    assert_eq!(smol::future::block_on(timed), Outcome::TimedOut);
    // The timer may hold the last clone, and drop it a little after it has woken.
    let so_far = before + 2;
    until(|| times.load(Ordering::SeqCst) == so_far);
    for way in 1..=2 {
        let mut wait = Box::pin(wait_async_for(&*word, 0, Duration::from_secs(3600)));
        assert!(poll_with(wait.as_mut(), &re_enters()).is_pending());
        if way == 1 {
            assert!(poll(wait.as_mut()).is_pending());
        }
        drop(wait);
        assert_eq!(times.load(Ordering::SeqCst), so_far + way);
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
