//! Locations of one's own: foreign code too.

mod common;

use std::future::Future;
use std::sync::atomic::AtomicI32;
use std::task::{Context, Waker};
use std::time::Duration;

use common::until;
use waitword_core::*;

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
        let mut task = Box::pin(wait_async(&at, 0));
        for _ in 0..2 {
            assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
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
