//! Waits that are polled, cancelled or dropped while a notify completes them.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::time::{Duration, Instant};

use waitword_core::*;

use crate::common::{Bomb, poll, poll_with, queued, queued_with, until};
use crate::{TimedWait, Wait};

#[test]
fn a_detached_wait_is_notified_whether_polled_cancelled_or_timed_out() {
    // While the notify wakes its first batch, a wait of a later batch is polled, cancelled, and times out.
    struct Asks {
        waits: Mutex<Option<[Wait; 2]>>,
        timed: Mutex<Option<TimedWait>>,
    }
    impl Wake for Asks {
        fn wake(self: Arc<Self>) {
            let Some([mut polled, mut cancelled]) = self.waits.lock().unwrap().take() else { return };
            assert_eq!(poll(polled.as_mut()), Poll::Ready(Outcome::Notified));
            assert_eq!(cancelled.as_mut().cancel(), Cancelled::AfterNotify);
            let mut timed = self.timed.lock().unwrap().take().unwrap();
            assert_eq!(poll(timed.as_mut()), Poll::Ready(Outcome::Notified));
        }
    }
    let word = Arc::new(AtomicI32::new(0));
    let asks = Arc::new(Asks { waits: Mutex::new(None), timed: Mutex::new(None) });
    let _first = queued_with(Arc::clone(&word), 0, &Waker::from(Arc::clone(&asks)));
    let mut crowd: Vec<_> = (0..100).map(|_| queued(Arc::clone(&word), 0)).collect();
    let waits = [(); 2].map(|()| queued(Arc::clone(&word), 0));
    let deadline = Instant::now() + Duration::from_millis(1);
    let mut timed = Box::pin(wait_async_until(Arc::clone(&word), 0, deadline));
    if poll(timed.as_mut()).is_ready() {
        return; // The machine slept for a millisecond between two lines; nothing to see here.
    }
    until(|| Instant::now() > deadline);
    *asks.waits.lock().unwrap() = Some(waits);
    *asks.timed.lock().unwrap() = Some(timed);
    assert_eq!(notify_all(&word), 104);
    assert!(crowd.iter_mut().all(|wait| poll(wait.as_mut()) == Poll::Ready(Outcome::Notified)));
}

/// The wait is counted while its new waker is cloned, and then that waker panics: the next poll finds the notify, and
/// does not enqueue anew.
#[test]
fn a_waker_that_panics_when_dropped_does_not_lose_the_notify() {
    static WORD: AtomicI32 = AtomicI32::new(0);
    static ARMED: AtomicUsize = AtomicUsize::new(Bomb::NEVER);
    static NOTIFIES: RawWakerVTable = RawWakerVTable::new(
        |data| {
            assert_eq!(notify_all(&WORD), 1);
            RawWaker::new(data, &NOTIFIES)
        },
        |_| (),
        |_| (),
        |_| assert_ne!(ARMED.load(Ordering::SeqCst), Bomb::DROP, "on purpose"),
    );
    // SAFETY: the functions of the table ask nothing of the data.
    let waker = unsafe { Waker::new(std::ptr::null(), &NOTIFIES) };
    let mut wait = queued(&WORD, 0);
    let polled =
        Bomb::armed(&Bomb::waker(&ARMED), Bomb::DROP, || poll_with(wait.as_mut(), &waker).is_pending());
    assert!(polled.is_err());
    assert_eq!(poll(wait.as_mut()), Poll::Ready(Outcome::Notified));
    assert_eq!(notify_all(&WORD), 0);
}
