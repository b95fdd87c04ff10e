//! The mutex from outside: the whole grid of names, its guards, its errors, and what it promises of turns.

#[path = "../common/mod.rs"]
mod common;
mod guards;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use common::exclusive::Exclusive;
use common::grid::{Got, Grid, got, opener, ways};
use common::{Task, until};
use waitword::*;

/// What holds for every lock that one at a time can hold.
mod exclusive {
    crate::common::dropped::futures_are_dropped_at_any_moment!(waitword::Mutex<()>);
    crate::common::unpolled::unpolled_futures_keep_no_other_from_the_lock!(waitword::Mutex<()>);
}

fn mutex() -> Grid<Mutex<()>> {
    Grid {
        ways: ways! { Mutex<()>:
            attempts [try_lock, try_lock_owned];
            blocks [lock, lock_for, lock_until => lock_async];
            blocks [lock_owned => lock_owned_async];
            awaits [lock_async];
            awaits [lock_owned_async];
        },
        open: Arc::default,
        stays_open: |_| true,
        closed: Arc::default,
        close: |mutex| opener(mutex.lock()),
        waiters: Exclusive::waiters,
    }
}

got! {
    Mutex<()>: MutexGuard<'a, ()>, OwnedMutexGuard<()> => |mutex, _guard| mutex.is_locked() && mutex.try_lock().is_none()
}

mod grid {
    crate::common::grid::the_whole_grid!(mutex);
    crate::common::grid::the_whole_grid!(exclusive mutex);
}

#[test]
#[should_panic(expected = "polled after it had ended")]
fn a_future_that_was_ready_is_not_polled_again() {
    let mutex = Mutex::new(());
    let mut task = Task::new(mutex.lock_async());
    assert!(task.poll().is_ready());
    let _ = task.poll();
}

/// A waker that does something when the last of its clones is dropped.
struct AtItsEnd<F: FnMut() + Send>(F);

impl<F: FnMut() + Send + Sync> Wake for AtItsEnd<F> {
    fn wake(self: Arc<Self>) {}
}

impl<F: FnMut() + Send> Drop for AtItsEnd<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// The poll that comes too late gives the old waker back; its destructor releases the mutex, which signals the waiter
/// that is about to leave. Whether another acquirer barges then or not, the next waiter is signalled.
#[test]
fn signalled_between_the_last_check_and_the_deadline() {
    for barges_in in [false, true] {
        let mutex = Arc::new(Mutex::new(()));
        let holder = std::sync::Mutex::new(Some(mutex.lock_owned()));
        let barger = Arc::new(std::sync::Mutex::new(None));
        let deadline = Instant::now() + Duration::from_millis(1);
        let mut late = pin!(mutex.lock_async().deadline(deadline));
        let release = AtItsEnd({
            let (mutex, barger) = (Arc::clone(&mutex), Arc::clone(&barger));
            move || {
                drop(holder.lock().unwrap().take());
                if barges_in {
                    *barger.lock().unwrap() = Some(mutex.try_lock_owned().expect("a signal is no handoff"));
                }
            }
        });
        let release = Arc::new(release);
        let clones = Arc::downgrade(&release);
        let first_waker = Waker::from(release);
        let polled = late.as_mut().poll(&mut Context::from_waker(&first_waker));
        drop(first_waker);
        if polled.is_ready() {
            // A machine so slow that the time was up before.
            continue;
        }
        let mut next = Task::queued(mutex.lock_async());
        // The timer has woken it, and given back its clone.
        until(|| Instant::now() > deadline && clones.strong_count() == 1);
        match late.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(_guard)) => assert!(!barges_in),
            Poll::Ready(Err(_)) => assert!(barges_in),
            Poll::Pending => panic!("its time was up"),
        }
        drop(barger.lock().unwrap().take());
        assert!(next.is_woken(), "barges: {barges_in}");
        assert!(next.poll().is_ready());
    }
}

#[test]
fn a_release_frees_the_mutex_and_a_signalled_waiter_keeps_its_position() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let mut first = Task::queued(mutex.lock_async());
    let second = Task::queued(mutex.lock_async());
    let released = Instant::now();
    drop(guard);
    assert!(first.is_woken());
    let barged_in = mutex.try_lock().expect("a signal is no handoff");
    assert!(first.poll().is_pending());
    drop(barged_in);
    let woken = (first.is_woken(), second.is_woken());
    // On a slow machine the watchdog may have signalled the other, too.
    if released.elapsed() < STALL_TIMEOUT {
        assert_eq!(woken, (true, false), "it has kept its position");
        assert!(
            mutex.try_lock().is_none(),
            "barged past once, and it responded: the mutex is reserved for it"
        );
    }
    assert!(first.poll().is_ready());
    drop(second.finish());
}
