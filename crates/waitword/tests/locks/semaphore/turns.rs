//! Which waiter gets permits when: FIFO, barging, reserved permits, closing.

use std::task::Poll;
use std::time::Instant;

use waitword::{AcquireError, Closed, STALL_TIMEOUT, Semaphore};

use super::MOMENT;
use crate::common::{Task, block_on, far, until};

/// On a slow machine the watchdog may have signalled it since `start`, and be about to wake it.
#[track_caller]
fn assert_woken<T>(task: &Task<'_, T>, start: Instant) {
    assert!(task.is_woken() || start.elapsed() >= STALL_TIMEOUT);
    until(|| task.is_woken());
}

/// One signal for any number of permits; a waiter that takes some signals the next, until there are too few.
#[test]
fn a_waiter_that_takes_some_signals_the_next() {
    let semaphore = Semaphore::new(0);
    let mut tasks = [1, 2, 3, 1].map(|n| Task::queued(semaphore.acquire_many_async(n)));
    let added = Instant::now();
    let is_signalled = |tasks: &[Task<'_, _>; 4], next: usize| {
        assert_woken(&tasks[next], added);
        let others = tasks.iter().enumerate().any(|(waiter, task)| waiter > next && task.is_woken());
        // On a slow machine the watchdog may have signalled them, too.
        assert!(!others || added.elapsed() >= STALL_TIMEOUT, "one at a time");
    };
    semaphore.add_permits(5);
    is_signalled(&tasks, 0);
    let first = tasks[0].poll();
    is_signalled(&tasks, 1);
    let second = tasks[1].poll();
    is_signalled(&tasks, 2);
    assert!(first.is_ready() && second.is_ready());
    assert!(tasks[2].poll().is_pending(), "two are left, and it wants three");
    assert!(semaphore.try_acquire().is_err(), "they are reserved for the head waiter");
    drop(first);
    is_signalled(&tasks, 2);
    let third = tasks[2].poll();
    assert!(third.is_ready());
    assert!(tasks[3].poll().is_pending(), "none is left");
    drop(second);
    assert_woken(&tasks[3], added);
    assert!(tasks[3].poll().is_ready());
    drop(third);
    assert_eq!(semaphore.available_permits(), 5);
}

/// Until the signalled waiter runs, barging acquirers take what there is; then it is reserved.
#[test]
fn an_acquirer_of_many_is_not_starved_by_acquirers_of_few() {
    let semaphore = Semaphore::new(3);
    let held = semaphore.acquire_many(3).unwrap();
    let mut many = Task::queued(semaphore.acquire_many_async(3));
    drop(held);
    assert!(many.is_woken());
    let few = semaphore.try_acquire().expect("a signal is no handoff");
    assert!(many.poll().is_pending());
    assert_eq!(semaphore.available_permits(), 2);
    assert!(semaphore.try_acquire().is_err(), "barged past once");
    let mut barging = Task::queued(semaphore.acquire_async());
    drop(few);
    assert!(many.poll().is_ready());
    assert!(barging.is_woken() && barging.poll().is_ready());
}

/// What was reserved for a waiter that leaves is offered to the next, whether a signal for more was pending or not.
#[test]
fn a_waiter_that_leaves_signals_the_next_to_its_reserved_permits() {
    /// Whether it was queued before its time was up.
    fn check(deadline: Instant, times_out: bool, is_signalled: bool) -> bool {
        let (semaphore, start) = (Semaphore::new(0), Instant::now());
        let mut many = Task::new(semaphore.acquire_many_async(3).deadline(deadline));
        if many.poll().is_ready() {
            return false;
        }
        semaphore.add_permits(1);
        if many.poll().is_ready() {
            return false;
        }
        // It is reserved.
        let behind = [(); 2].map(|()| Task::queued(semaphore.acquire_async()));
        if is_signalled {
            semaphore.add_permits(1);
            assert_woken(&many, start);
        }
        if times_out {
            assert_eq!(many.finish().unwrap_err(), AcquireError::TimedOut);
        } else {
            drop(many);
        }
        assert_woken(&behind[0], start);
        for task in behind {
            drop(task.finish());
        }
        let permits = 1 + usize::from(is_signalled);
        assert_eq!(semaphore.try_acquire_many(permits).unwrap().num_permits(), permits);
        true
    }
    for is_signalled in [false, true] {
        assert!(check(far(), false, is_signalled));
        let mut timeout = 10 * MOMENT;
        while !check(Instant::now() + timeout, true, is_signalled) {
            timeout *= 2;
        }
    }
}

/// To be queued for a short time only is no way to permits that are reserved for another.
#[test]
fn an_acquirer_that_times_out_unsignalled_takes_nothing_from_the_queue() {
    let semaphore = Semaphore::new(0);
    let mut many = Task::queued(semaphore.acquire_many_async(2));
    semaphore.add_permits(1);
    let start = Instant::now();
    assert!(many.poll().is_pending());
    let late = [semaphore.acquire_for(MOMENT), block_on(semaphore.acquire_async().timeout(MOMENT))];
    // On a slow machine the watchdog may have signalled them, because `many` is not polled.
    if start.elapsed() < STALL_TIMEOUT {
        assert!(late.iter().all(|late| *late.as_ref().unwrap_err() == AcquireError::TimedOut));
        assert!(semaphore.try_acquire().is_err(), "still reserved");
    }
    drop(late);
    semaphore.add_permits(1);
    assert!(many.poll().is_ready());
}

/// Closed after its signal: it takes nothing, and signals no other.
#[test]
fn a_signalled_waiter_finds_it_closed() {
    let semaphore = Semaphore::new(0);
    let tasks = [Task::queued(semaphore.acquire_async()), Task::queued(semaphore.acquire_async())];
    let added = Instant::now();
    semaphore.add_permits(1);
    semaphore.close();
    tasks.iter().for_each(|task| assert_woken(task, added));
    let [mut signalled, other] = tasks;
    assert!(matches!(signalled.poll(), Poll::Ready(Err(Closed))));
    drop(other);
    assert_eq!(semaphore.available_permits(), 1);
}
