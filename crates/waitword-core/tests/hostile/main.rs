//! Foreign code that panics, re-enters or comes at the wrong time, and what may be done to the futures themselves. Named after the bugs that
//! others had. (`against_the_model.rs` has hostile wakers in random histories.)

#[path = "../common/mod.rs"]
mod common;
mod detached;
mod futures;
mod reentrant;

use std::future::Future;
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

/// A panic is dropped, and that may panic in its turn. (What a notify does then, `against_the_model.rs` checks.)
#[test]
fn the_timer_survives_a_waker_that_panics() {
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
        let (word, mut timeout) = (AtomicI32::new(0), Duration::from_millis(1));
        let mut timed = loop {
            let mut timed = Box::pin(wait_async_for(&word, 0, timeout));
            if poll_with(timed.as_mut(), &Waker::from(Arc::new(Panics(panics)))).is_pending() {
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

/// The call of a wait in which its waker panics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum During {
    FirstPoll,
    /// With the waker in place of another, or with another in its place.
    Poll,
    /// Of a wait that was notified: whatever panics, the next poll finds that.
    LastPoll,
    Drop,
}

/// A wait whose waker panics keeps its position and the waker that it has, or was never queued; and those before and behind it are served.
#[test]
fn a_waker_that_panics_when_cloned_or_dropped_leaves_the_queue_whole() {
    fn plain(word: &AtomicI32) -> AnyWait<'_> {
        Box::pin(wait_async(word, 0))
    }
    // Holds its waker twice: in the queue, and in the timer.
    fn timed(word: &AtomicI32) -> AnyWait<'_> {
        Box::pin(wait_async_for(word, 0, Duration::from_secs(3600)))
    }
    let both: [Make; 2] = [plain, timed];
    let rows: [(&[Make], usize, During, bool); 6] = [
        (&both, Bomb::CLONE, During::FirstPoll, false),
        (&[timed], Bomb::SECOND_CLONE, During::FirstPoll, true),
        (&both, Bomb::CLONE, During::Poll, true),
        (&both, Bomb::DROP, During::Poll, true),
        (&[timed], Bomb::DROP, During::LastPoll, false),
        (&both, Bomb::DROP, During::Drop, false),
    ];
    // When it panics, and whether the wait is queued then.
    for (makes, when, during, is_queued) in rows {
        makes.iter().for_each(|make| panics_during(*make, when, during, is_queued));
    }
}

type AnyWait<'a> = Pin<Box<dyn Future<Output = Outcome> + 'a>>;
type Make = for<'a> fn(&'a AtomicI32) -> AnyWait<'a>;

fn panics_during(make: Make, when: usize, during: During, is_queued: bool) {
    static ARMED: AtomicUsize = AtomicUsize::new(Bomb::NEVER);
    let word = AtomicI32::new(0);
    let (bomb, probe) = (Bomb::waker(&ARMED), Probe::new());
    // If its destructor panics, the wait has it already.
    let [has, given] = if when == Bomb::DROP { [&*bomb, Waker::noop()] } else { [&probe.waker(), &*bomb] };
    let mut before = queued(&word, 0);
    let (mut hit, mut behind) = (Some(make(&word)), None);
    if during != During::FirstPoll {
        assert!(poll_with(hit.as_mut().unwrap().as_mut(), has).is_pending());
        behind = Some(queued(&word, 0));
    }
    if during == During::LastPoll {
        assert_eq!(notify_all(&word), 3);
    }
    let panicked = Bomb::armed(&bomb, when, || match during {
        During::Drop => drop(hit.take()),
        _ => _ = poll_with(hit.as_mut().unwrap().as_mut(), given),
    });
    assert!(panicked.is_err(), "{during:?}");
    let mut behind = behind.unwrap_or_else(|| queued(&word, 0));
    if during != During::LastPoll {
        assert_eq!(Table::global().waiters(&word), 2 + usize::from(is_queued), "{during:?}");
        assert_eq!(notify_many(&word, 2), 2);
        assert_eq!(behind.is_notified(), !is_queued, "{during:?}");
        assert!(is_queued || hit.iter_mut().all(|hit| poll(hit.as_mut()).is_pending()));
    }
    // The one behind it, or itself, which has been queued anew.
    let left = matches!(during, During::FirstPoll | During::Poll);
    assert_eq!(notify_all(&word), usize::from(left), "{during:?}");
    let others = [&mut before, &mut behind].map(|wait| poll(wait.as_mut()));
    assert_eq!(others, [Poll::Ready(Outcome::Notified); 2]);
    assert!(hit.iter_mut().all(|hit| poll(hit.as_mut()) == Poll::Ready(Outcome::Notified)), "{during:?}");
    let keeps_other = (when, during) == (Bomb::CLONE, During::Poll);
    assert_eq!(probe.wakes(), usize::from(keeps_other), "{during:?}");
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
