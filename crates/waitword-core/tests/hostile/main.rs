//! Foreign code that panics, re-enters or comes at the wrong time. Named after the bugs that others had. (What may be done
//! to the futures themselves is in `hostile_futures.rs`.)

#[path = "../common/mod.rs"]
mod common;
mod detached;
mod reentrant;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use common::{Bomb, Probe, poll, poll_with, queued, queued_with, until};
use waitword_core::*;

type TimedWait = Pin<Box<WaitAsync<Arc<AtomicI32>, Until>>>;
type Wait = Pin<Box<WaitAsync<Arc<AtomicI32>>>>;

/// A panic is dropped, and that may panic in its turn.
#[test]
fn a_waker_that_panics_does_not_keep_the_others_asleep() {
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            panic!("this payload panics on purpose");
        }
    }
    struct Panics(fn());
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            self.0();
        }
    }
    for panics in [|| panic!("this waker panics on purpose"), || std::panic::panic_any(Payload)] {
        let word = AtomicI32::new(0);
        let (panics, probe) = (Waker::from(Arc::new(Panics(panics))), Probe::new());
        let waker = |position| if position % 10 == 3 { panics.clone() } else { probe.waker() };
        let mut waits: Vec<_> = (0..100).map(|position| queued_with(&word, 0, &waker(position))).collect();
        assert_eq!(notify_all(&word), 100);
        assert_eq!(probe.wakes(), 90);
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()) == Poll::Ready(Outcome::Notified)));
        assert_eq!(notify_all(&word), 0);

        // The thread that keeps the deadlines survives it, too.
        let mut timeout = Duration::from_millis(1);
        let mut timed = loop {
            let mut timed = Box::pin(wait_async_for(&word, 0, timeout));
            if poll_with(timed.as_mut(), &panics).is_pending() {
                break timed;
            }
            // A slow machine: it was over before it was first polled.
            timeout *= 2;
        };
        let later = wait_async_for(&word, 0, 2 * timeout);
        assert_eq!(smol::future::block_on(later), Outcome::TimedOut);
        assert_eq!(poll(timed.as_mut()), Poll::Ready(Outcome::TimedOut));
    }
}

/// However many are asked for: woken waiters are counted, that with the waker too, and the others keep their positions.
#[test]
fn a_waker_that_panics_takes_its_own_notify_and_no_other() {
    static ARMED: AtomicUsize = AtomicUsize::new(Bomb::NEVER);
    let word = AtomicI32::new(0);
    let bomb = Bomb::waker(&ARMED);
    for woken in 1..=3 {
        let probe = Probe::new();
        let [first, others] = [&*bomb, &probe.waker()];
        let mut waits = [first, others, others].map(|waker| queued_with(&word, 0, waker));
        let notify = || if woken == 1 { notify_one(&word) } else { notify_many(&word, woken) };
        assert_eq!(Bomb::armed(&bomb, Bomb::WAKE, notify).unwrap(), woken);
        assert_eq!(probe.wakes(), woken - 1);
        assert_eq!(Table::global().waiters(&word), 3 - woken);
        for wait in &mut waits[..woken] {
            assert_eq!(poll(wait.as_mut()), Poll::Ready(Outcome::Notified));
        }
        assert_eq!(notify_all(&word), 3 - woken);
        assert!(waits[woken..].iter_mut().all(|wait| poll(wait.as_mut()) == Poll::Ready(Outcome::Notified)));
    }
}

#[test]
fn a_waker_that_panics_when_cloned_or_dropped_leaves_the_queue_whole() {
    static ARMED: AtomicUsize = AtomicUsize::new(Bomb::NEVER);
    for when in [Bomb::CLONE, Bomb::DROP] {
        let word = AtomicI32::new(0);
        let mut before = queued(&word, 0);
        let mut hit = Box::pin(wait_async(&word, 0));
        let bomb = Bomb::waker(&ARMED);
        if when == Bomb::DROP {
            assert!(poll_with(hit.as_mut(), &bomb).is_pending());
        }
        // Polled anew: the bomb is cloned, or the stored clone of it replaced and dropped.
        let other = Waker::noop();
        let waker = if when == Bomb::CLONE { &*bomb } else { other };
        assert!(Bomb::armed(&bomb, when, || poll_with(hit.as_mut(), waker)).is_err());
        let mut after = queued(&word, 0);
        drop(hit);
        assert_eq!(notify_all(&word), 2);
        assert_eq!(poll(before.as_mut()), Poll::Ready(Outcome::Notified));
        assert_eq!(poll(after.as_mut()), Poll::Ready(Outcome::Notified));
    }
}

/// A queued wait whose next waker cannot be cloned keeps its position and the waker that it has.
#[test]
fn a_waker_that_panics_when_cloned_does_not_take_the_place_of_another() {
    static ARMED: AtomicUsize = AtomicUsize::new(Bomb::NEVER);
    let word = AtomicI32::new(0);
    let (bomb, probe) = (Bomb::waker(&ARMED), Probe::new());
    let mut wait = queued_with(&word, 0, &probe.waker());
    let mut behind = queued(&word, 0);
    assert!(Bomb::armed(&bomb, Bomb::CLONE, || poll_with(wait.as_mut(), &bomb)).is_err());
    assert_eq!(notify_one(&word), 1);
    assert_eq!(probe.wakes(), 1);
    assert_eq!(poll(wait.as_mut()), Poll::Ready(Outcome::Notified));
    assert!(poll(behind.as_mut()).is_pending());
}

/// A wait with a deadline holds its waker twice: in the queue and in the timer.
#[test]
fn a_waker_that_panics_when_cloned_or_dropped_and_a_deadline() {
    static ARMED: AtomicUsize = AtomicUsize::new(Bomb::NEVER);
    let word = AtomicI32::new(0);
    let bomb = Bomb::waker(&ARMED);
    let an_hour = Duration::from_secs(3600);
    let poll_with = |wait: Pin<&mut WaitAsync<_, Until>>, waker: &Waker, when| {
        Bomb::armed(&bomb, when, || poll_with(wait, waker))
    };

    // Cloned for the queue, and for the timer.
    for (when, queued) in [(Bomb::CLONE, 0), (Bomb::SECOND_CLONE, 1)] {
        let mut wait = pin!(wait_async_for(&word, 0, an_hour));
        assert!(poll_with(wait.as_mut(), &bomb, when).is_err());
        assert_eq!(Table::global().waiters(&word), queued);
        assert!(poll(wait.as_mut()).is_pending());
        assert_eq!(notify_all(&word), 1);
        assert_eq!(poll(wait), Poll::Ready(Outcome::Notified));
    }

    let queued = || {
        let mut wait = Box::pin(wait_async_for(&word, 0, an_hour));
        assert!(poll_with(wait.as_mut(), &bomb, Bomb::NEVER).unwrap().is_pending());
        wait
    };

    // Replaced.
    let mut wait = queued();
    assert!(poll_with(wait.as_mut(), Waker::noop(), Bomb::DROP).is_err());
    assert!(poll(wait.as_mut()).is_pending());
    assert_eq!(notify_all(&word), 1);
    assert_eq!(poll(wait.as_mut()), Poll::Ready(Outcome::Notified));

    // Dropped by the timer, in the poll that finds the notify: the next poll finds it all the same.
    let mut wait = queued();
    assert_eq!(notify_all(&word), 1);
    assert!(poll_with(wait.as_mut(), Waker::noop(), Bomb::DROP).is_err());
    assert_eq!(poll(wait.as_mut()), Poll::Ready(Outcome::Notified));

    // Dropped with the wait, from both.
    let wait = queued();
    assert!(Bomb::armed(&bomb, Bomb::DROP, || drop(wait)).is_err());
    assert_eq!(notify_all(&word), 0);
}

#[test]
fn a_waker_dropped_with_its_wait_may_panic() {
    static ARMED: AtomicUsize = AtomicUsize::new(Bomb::NEVER);
    let word = AtomicI32::new(0);
    let bomb = Bomb::waker(&ARMED);
    let hit = queued_with(&word, 0, &bomb);
    assert!(Bomb::armed(&bomb, Bomb::DROP, || drop(hit)).is_err());
    assert_eq!(notify_all(&word), 0);
}

/// Nova PR 976, Rust issues of the same shape: a stack that unwinds with a linked node.
#[test]
fn a_stack_that_unwinds_takes_its_waits_along() {
    let word = AtomicI32::new(0);
    let unwound = catch_unwind(|| {
        let _wait = queued(&word, 0);
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(unwound.is_err());
    assert_eq!(notify_all(&word), 0);
}

#[test]
fn a_doorbell_that_panics_keeps_nobody_asleep() {
    let word = Arc::new(AtomicI32::new(0));
    let inbox = Inbox::new(|| panic!("this doorbell panics on purpose"));
    let probe = Probe::new();
    let mut agent = Box::pin(InboxWait::new(&inbox, Arc::clone(&word), 1));
    assert!(agent.as_mut().enqueue(0));
    let _task = queued_with(&*word, 0, &probe.waker());
    assert_eq!(notify_all(&word), 2);
    assert_eq!(probe.wakes(), 1);
    assert_eq!(inbox.pop(), Some((agent.token(), Outcome::Notified)));
    assert_eq!(inbox.pop(), None);
}

#[test]
fn polled_after_the_end() {
    let word = AtomicI32::new(0);
    let mut wait = pin!(wait_async(&word, 1));
    assert_eq!(poll(wait.as_mut()), Poll::Ready(Outcome::NotEqual));
    assert!(catch_unwind(AssertUnwindSafe(|| poll(wait.as_mut()))).is_err());
    assert_eq!(notify_all(&word), 0);
}

#[test]
fn an_inbox_wait_that_is_enqueued_twice() {
    let inbox = Inbox::new(|| {});
    let mut wait = Box::pin(InboxWait::new(&inbox, AtomicI32::new(0), 1));
    assert!(!wait.as_mut().enqueue(1));
    assert!(wait.as_mut().enqueue(0));
    assert!(catch_unwind(AssertUnwindSafe(|| wait.as_mut().enqueue(0))).is_err());
    assert!(wait.as_mut().expire());
    assert!(!wait.as_mut().expire());
    assert!(catch_unwind(AssertUnwindSafe(|| wait.as_mut().enqueue(0))).is_err());
    assert_eq!(inbox.pop(), Some((wait.token(), Outcome::TimedOut)));
    assert!(wait.as_mut().enqueue(0), "popped, and free for another wait");
}

#[test]
fn a_thread_that_waits_while_its_thread_locals_are_destroyed() {
    struct Waits(Arc<AtomicI32>);
    impl Drop for Waits {
        fn drop(&mut self) {
            assert_eq!(wait(&self.0, 0), Outcome::Notified);
        }
    }
    thread_local!(static WAITS: std::cell::RefCell<Option<Waits>> = const { std::cell::RefCell::new(None) });
    let word = Arc::new(AtomicI32::new(0));
    let thread = std::thread::spawn({
        let word = Arc::clone(&word);
        move || {
            WAITS.with_borrow_mut(|waits| *waits = Some(Waits(Arc::clone(&word))));
            // Makes the thread's own waker, which is destroyed before what was there earlier.
            assert_eq!(wait_for(&AtomicI32::new(0), 0, Duration::from_nanos(1)), Outcome::TimedOut);
        }
    });
    until(|| Table::global().waiters(&*word) == 1);
    assert_eq!(notify_one(&word), 1);
    thread.join().unwrap();
}
