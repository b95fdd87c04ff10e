//! Listeners, and `enable`.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use waitword::*;

use crate::common::{Task, block_on, far};

#[test]
fn enable_enqueues_and_a_later_drop_forwards() {
    let event = Event::new();
    {
        let (mut one, mut two) = (pin!(event.wait_async()), pin!(event.wait_async().timeout(Duration::MAX)));
        assert!(!one.as_mut().enable() && !two.as_mut().enable());
        assert_eq!(event.waiters(), 2);
        event.notify_one();
        event.notify_one();
        assert!(one.as_mut().enable() && one.as_mut().enable(), "asked twice, it is so twice");
        assert!(two.as_mut().enable());
        assert!(!event.try_wait(), "both have theirs");
        block_on(one.as_mut());
    }
    assert!(event.try_wait(), "the second was dropped");
    let mut stored = Box::pin(event.wait_async());
    event.notify_one();
    assert!(stored.as_mut().enable());
    assert!(!event.try_wait());
    drop(stored);
    assert!(event.try_wait());
}

/// The loop that a thread could not have without one: notified between its check and its wait, each time.
#[test]
fn a_listener_misses_no_notify_all_between_its_waits() {
    let (event, number) = (Event::new(), AtomicUsize::new(0));
    let mut listener = pin!(event.listen());
    let mut seen = 0;
    while seen < 5 {
        // After the check, and before the wait.
        number.store(seen + 1, Ordering::Relaxed);
        event.notify_all();
        assert_eq!(listener.as_mut().wait_until(far()), Ok(()));
        seen = number.load(Ordering::Relaxed);
    }
    assert!(!listener.as_mut().try_wait(), "each once");
    event.notify_all();
    assert!(listener.as_mut().try_wait() && !listener.try_wait());
}

#[test]
fn a_listener_keeps_its_position_when_its_time_is_up() {
    let event = Event::new();
    let mut listener = pin!(event.listen());
    let start = Instant::now();
    assert_eq!(listener.as_mut().wait_for(Duration::from_millis(5)), Err(LockError::TimedOut));
    assert!(start.elapsed() >= Duration::from_millis(5));
    let mut second = Task::queued(event.wait_async());
    {
        let _must_not = forbid_blocking();
        let refused = listener.as_mut().wait_until(far());
        assert_eq!(refused, Err(LockError::BlockingForbidden));
    }
    assert_eq!(event.waiters(), 2);
    event.notify_one();
    assert!(!second.is_woken(), "behind it");
    listener.as_mut().wait();
    assert_eq!(event.waiters(), 1, "it listens, and is not queued");
    event.notify_one();
    assert!(second.poll().is_ready() && !listener.try_wait());
}

#[test]
fn a_listener_that_is_dropped_forwards_its_wakeup() {
    let event = Event::new();
    for ends in 0..3 {
        let mut next = Task::new(event.wait_async());
        {
            let mut listener = pin!(event.listen());
            match ends {
                0 => assert!(!listener.as_mut().enable()),
                1 => assert!(!listener.as_mut().try_wait()),
                _ => assert!(listener.as_mut().wait_for(Duration::ZERO).is_err()),
            }
            assert!(next.poll().is_pending());
            event.notify_one();
            assert!(listener.as_mut().enable() && listener.enable(), "asked twice, it is so twice");
            assert!(!next.is_woken());
        }
        assert!(next.poll().is_ready());
    }
    drop(event.listen());
    assert_eq!(event.waiters(), 0);
    assert!(!event.try_wait());
}
