//! The program serves the deadlines and the watchdog: no thread is started but its own. Alone in its process, for which that is set.

#![cfg(not(target_family = "wasm"))]

mod common;

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{Task, far, poll, until};
use waitword::{Event, LockError, Mutex, timer};

const SOON: Duration = Duration::from_millis(5);
const HOUR: Duration = Duration::from_secs(3600);

static RINGS: AtomicUsize = AtomicUsize::new(0);

fn rings() {
    RINGS.fetch_add(1, Ordering::SeqCst);
}

/// The threads of this process, where the system lists them.
fn threads() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}

/// Serves until `is_over`, sleeping in between as long as it is told to.
fn serve(mut is_over: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_over() {
        assert!(start.elapsed() < Duration::from_secs(60), "served for a minute");
        let next = timer::expire_due();
        assert_eq!(next.is_some(), timer::next_deadline().is_some());
        let sleeps = next.map_or(Duration::ZERO, |next| next.saturating_duration_since(Instant::now()));
        thread::sleep(sleeps.min(Duration::from_millis(20)));
    }
}

/// One test: what it sets counts for the process.
#[test]
fn no_thread_is_started() {
    assert!(timer::serve_by_hand(rings));
    assert!(!timer::serve_by_hand(|| ()), "once");
    let before = threads();
    assert_eq!(timer::next_deadline(), None);
    assert_eq!(timer::expire_due(), None);

    // A deadline is met, and an earlier one rings.
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let mut late = Task::queued(mutex.lock_async().deadline(far()));
    assert_eq!(RINGS.load(Ordering::SeqCst), 1);
    let (mut soon, deadline) =
        Task::queued_until(Duration::from_millis(5), |deadline| mutex.lock_async().deadline(deadline));
    assert!(RINGS.load(Ordering::SeqCst) >= 2);
    assert!(timer::next_deadline().unwrap() < far());
    let mut later = Task::queued(mutex.lock_async().deadline(far()));
    serve(|| soon.is_woken() && Instant::now() >= deadline);
    let std::task::Poll::Ready(Err(error)) = soon.poll() else { panic!("its time is up") };
    assert_eq!(error, LockError::TimedOut);
    assert!(!late.is_woken());

    // The watchdog passes a waiter that is signalled and not polled.
    drop(guard);
    until(|| late.is_woken());
    serve(|| later.is_woken());
    assert!(later.poll().is_ready());
    assert!(late.poll().is_ready());

    // A blocking wait with a deadline needs nobody.
    assert_eq!(Event::new().wait_for(Duration::from_millis(1)), Err(LockError::TimedOut));
    serve(|| timer::next_deadline().is_none());
    under_a_paused_clock();
    assert_eq!(threads(), before);
}

/// As a simulator does it, on a clock of tokio's that is paused: a task of the program's serves what is due, and sleeps in between.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn under_a_paused_clock() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let serves = async {
        loop {
            let next = timer::expire_due();
            assert_eq!(next, timer::next_deadline());
            let sleeps = next.map_or(HOUR, |next| next.saturating_duration_since(Instant::now()));
            tokio::time::sleep(sleeps).await;
        }
    };
    let waits = async {
        // Virtual with the feature `tokio`, and nothing for the timer; real without it.
        let (time, start) = match cfg!(feature = "tokio") {
            true => (HOUR, tokio::time::Instant::now()),
            false => (SOON, Instant::now().into()),
        };
        let mut timed = pin!(mutex.lock_async().timeout(time));
        assert!(poll(timed.as_mut()).is_pending());
        assert_eq!(timer::next_deadline().is_none(), cfg!(feature = "tokio"));
        assert_eq!(timed.await.map(drop), Err(LockError::TimedOut));
        match cfg!(feature = "tokio") {
            true => assert!(start.elapsed() >= time),
            false => assert!(start.into_std().elapsed() >= time),
        }
        // The watchdog's time is real.
        let _unpolled = Task::queued(mutex.lock_async());
        let mut behind = pin!(mutex.lock_async());
        assert!(poll(behind.as_mut()).is_pending());
        drop(guard);
        assert!(timer::next_deadline().is_some());
        drop(behind.await);
    };
    tokio::select! {
        () = serves => unreachable!("it serves for as long as it is polled"),
        () = waits => {}
    }
}
