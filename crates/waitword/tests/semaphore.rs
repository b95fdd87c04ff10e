//! The semaphore from outside: counts, order, errors; by threads, tasks, and both.

mod common;

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use common::semaphore::waiters;
use common::{Task, block_on, far, until};
use waitword::{AcquireError, Closed, STALL_TIMEOUT, Semaphore, TryAcquireError, forbid_blocking};

const MAX: usize = Semaphore::MAX_PERMITS;
const MOMENT: Duration = Duration::from_millis(1);

/// Every method of the grid, for one and for many, borrowed and owned: gets what is there, and leaves what it should.
#[test]
fn every_method_of_the_grid_acquires_and_gives_back() {
    let semaphore = Arc::new(Semaphore::new(5));
    let check = |taken: usize, left: usize| {
        assert_eq!((taken, semaphore.available_permits()), (5 - left, left));
    };
    macro_rules! each {
        ($($permit:expr, $n:expr;)*) => {$(
            let permit = $permit.unwrap();
            check(permit.num_permits(), 5 - $n);
            drop(permit);
            check(0, 5);
        )*};
    }
    each! {
        semaphore.acquire(), 1;
        semaphore.acquire_many(3), 3;
        semaphore.try_acquire(), 1;
        semaphore.try_acquire_many(5), 5;
        semaphore.acquire_for(Duration::ZERO), 1;
        semaphore.acquire_many_for(2, Duration::ZERO), 2;
        semaphore.acquire_until(Instant::now()), 1;
        semaphore.acquire_many_until(4, Instant::now()), 4;
        block_on(semaphore.acquire_async()), 1;
        block_on(semaphore.acquire_many_async(5)), 5;
        block_on(semaphore.acquire_async_for(Duration::ZERO)), 1;
        block_on(semaphore.acquire_many_async_for(3, Duration::ZERO)), 3;
        block_on(semaphore.acquire_async_until(Instant::now())), 1;
        block_on(semaphore.acquire_many_async_until(5, Instant::now())), 5;
        semaphore.acquire_owned(), 1;
        semaphore.acquire_many_owned(2), 2;
        semaphore.try_acquire_owned(), 1;
        semaphore.try_acquire_many_owned(5), 5;
        semaphore.acquire_owned_for(MOMENT), 1;
        semaphore.acquire_many_owned_for(2, MOMENT), 2;
        semaphore.acquire_owned_until(far()), 1;
        semaphore.acquire_many_owned_until(4, far()), 4;
        block_on(semaphore.acquire_owned_async()), 1;
        block_on(semaphore.acquire_many_owned_async(5)), 5;
        block_on(semaphore.acquire_owned_async_for(MOMENT)), 1;
        block_on(semaphore.acquire_many_owned_async_for(3, MOMENT)), 3;
        block_on(semaphore.acquire_owned_async_until(far())), 1;
        block_on(semaphore.acquire_many_owned_async_until(5, far())), 5;
    }
}

/// And when there are too few, each of them that gives up does so, not before its time; and leaves no trace.
#[test]
fn every_method_of_the_grid_that_gives_up_gives_up() {
    let semaphore = Arc::new(Semaphore::new(1));
    let start = Instant::now();
    macro_rules! each {
        ($error:expr; $($result:expr;)*) => {$(assert_eq!($result.unwrap_err(), $error);)*};
    }
    each! {
        TryAcquireError::NoPermits;
        semaphore.try_acquire_many(2);
        semaphore.try_acquire_many_owned(2);
        semaphore.try_acquire_many(usize::MAX);
    }
    each! {
        AcquireError::TimedOut;
        semaphore.acquire_many_for(2, MOMENT);
        semaphore.acquire_many_until(2, start);
        semaphore.acquire_many_owned_for(2, MOMENT);
        semaphore.acquire_many_owned_until(2, start);
        block_on(semaphore.acquire_many_async_for(2, MOMENT));
        block_on(semaphore.acquire_many_async_until(2, start));
        block_on(semaphore.acquire_many_owned_async_for(2, MOMENT));
        block_on(semaphore.acquire_many_owned_async_until(2, start));
    }
    assert!(start.elapsed() >= 4 * MOMENT);
    assert_eq!(
        semaphore.try_acquire().unwrap().num_permits(),
        1,
        "nothing is reserved for a waiter that has gone"
    );
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
fn any_count_up_to_the_maximum() {
    assert_eq!(MAX, usize::MAX >> 3);
    let semaphore = Semaphore::new(MAX);
    assert_eq!(semaphore.available_permits(), MAX);
    let all = semaphore.acquire_many(MAX).unwrap();
    assert_eq!((all.num_permits(), semaphore.available_permits()), (MAX, 0));
    let mut waits = Task::new(semaphore.acquire_many_async(MAX));
    assert!(waits.poll().is_pending());
    drop(all);
    assert!(waits.is_woken());
    let Poll::Ready(Ok(mut all)) = waits.poll() else { panic!("all are there") };
    drop(all.split(MAX - 1).unwrap());
    assert_eq!(semaphore.available_permits(), MAX - 1);
    assert_eq!(semaphore.forget_permits(usize::MAX), MAX - 1);
    drop(all);
    assert_eq!(semaphore.available_permits(), 1);
    semaphore.add_permits(MAX - 1);
    assert_eq!(semaphore.available_permits(), MAX);
}

#[test]
fn more_than_the_maximum_is_refused_and_changes_nothing() {
    let panics = |run: &dyn Fn(), expected: &str| {
        let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        let text = payload.downcast_ref::<String>().map_or_else(
            || (*payload.downcast_ref::<&str>().expect("a panic with a text")).to_owned(),
            Clone::clone,
        );
        assert!(text.contains(expected), "{text}");
    };
    let limit = "a semaphore has at most `Semaphore::MAX_PERMITS` permits";
    panics(&|| assert!(!Semaphore::new(MAX + 1).is_closed()), limit);
    let semaphore = Semaphore::new(MAX - 1);
    panics(&|| semaphore.add_permits(2), limit);
    panics(&|| semaphore.add_permits(MAX), limit);
    panics(&|| semaphore.add_permits(usize::MAX), limit);
    assert_eq!(semaphore.available_permits(), MAX - 1);
    assert!(semaphore.try_acquire().is_ok());
    let asked = "no semaphore has more";
    panics(&|| drop(semaphore.acquire_many(MAX + 1)), asked);
    panics(&|| drop(semaphore.acquire_many_for(usize::MAX, MOMENT)), asked);
    panics(&|| drop(semaphore.acquire_many_async(MAX + 1)), asked);
    // What was added while somebody had a permit leaves no room for it.
    let permit = semaphore.acquire().unwrap();
    semaphore.add_permits(2);
    drop(permit);
    assert_eq!(semaphore.available_permits(), MAX);
    let other = Semaphore::new(1);
    panics(&|| semaphore.acquire().unwrap().merge(other.acquire().unwrap()), "cannot be merged");
    assert_eq!((semaphore.available_permits(), other.available_permits()), (MAX, 1));
}

#[test]
fn permits_are_merged_split_and_forgotten() {
    let semaphore = Arc::new(Semaphore::new(6));
    macro_rules! check {
        ($one:ident, $many:ident) => {
            let mut permits = semaphore.$many(4).unwrap();
            permits.merge(semaphore.$one().unwrap());
            assert_eq!((permits.num_permits(), semaphore.available_permits()), (5, 1));
            assert!(permits.split(6).is_none());
            let mut part = permits.split(2).unwrap();
            assert_eq!((permits.num_permits(), part.num_permits()), (3, 2));
            drop(part.split(1));
            assert_eq!(semaphore.available_permits(), 2);
            drop(part.split(0));
            part.forget();
            assert_eq!(semaphore.available_permits(), 2);
            drop(permits);
            assert_eq!(semaphore.available_permits(), 5);
            semaphore.add_permits(1);
        };
    }
    check!(acquire, acquire_many);
    check!(acquire_owned, acquire_many_owned);
    assert_eq!(semaphore.forget_permits(4), 4);
    assert_eq!(semaphore.forget_permits(4), 2);
    assert_eq!(semaphore.forget_permits(4), 0);
    assert!(semaphore.try_acquire().is_err());
}

#[test]
fn an_acquirer_of_no_permits_does_not_wait() {
    let semaphore = Semaphore::new(0);
    let mut waits = Task::new(semaphore.acquire_async());
    assert!(waits.poll().is_pending());
    drop(semaphore.acquire_many(0).unwrap());
    drop(semaphore.try_acquire_many(0).unwrap());
    assert_eq!(block_on(semaphore.acquire_many_async(0)).unwrap().num_permits(), 0);
    semaphore.close();
    assert_eq!(semaphore.acquire_many(0).unwrap_err(), Closed);
}

/// Waiters of all kinds get their permits in the order in which they enqueued.
#[test]
fn first_in_first_out_for_threads_and_tasks() {
    let semaphore = Semaphore::new(0);
    let order = Mutex::new(Vec::new());
    // The order is noted while no other has a permit.
    let note = |waiter| order.lock().unwrap().push(waiter);
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for waiter in 0..9 {
            let (semaphore, note) = (&semaphore, &note);
            threads.push(scope.spawn(move || {
                let _permits = match waiter % 3 {
                    0 => semaphore.acquire().unwrap(),
                    1 => block_on(semaphore.acquire_many_async(2)).unwrap(),
                    _ => semaphore.acquire_many_until(3, far()).unwrap(),
                };
                note(waiter);
            }));
            until(|| waiters(semaphore) > waiter);
        }
        semaphore.add_permits(3);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    // Some run at the same time, but none before its turn: a holder of all three is alone.
    let order = order.into_inner().unwrap();
    for (turn, waiter) in order.iter().enumerate() {
        assert_eq!(turn / 3, waiter / 3, "{order:?}");
        assert_eq!(turn % 3 == 2, waiter % 3 == 2, "{order:?}");
    }
}

/// One signal for any number of permits; a waiter that takes some signals the next, until there are too few.
#[test]
fn a_waiter_that_takes_some_signals_the_next() {
    let semaphore = Semaphore::new(0);
    let mut tasks = [1, 2, 3, 1].map(|n| Task::new(semaphore.acquire_many_async(n)));
    assert!(tasks.iter_mut().all(|task| task.poll().is_pending()));
    let added = Instant::now();
    let is_signalled = |tasks: &[Task<'_, _>; 4], next: usize| {
        assert!(tasks[next].is_woken());
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
    assert!(tasks[3].is_woken() && tasks[3].poll().is_ready());
    drop(third);
    assert_eq!(semaphore.available_permits(), 5);
}

/// Until the signalled waiter runs, barging acquirers take what there is; then it is reserved.
#[test]
fn an_acquirer_of_many_is_not_starved_by_acquirers_of_few() {
    let semaphore = Semaphore::new(3);
    let held = semaphore.acquire_many(3).unwrap();
    let mut many = Task::new(semaphore.acquire_many_async(3));
    assert!(many.poll().is_pending());
    drop(held);
    assert!(many.is_woken());
    let few = semaphore.try_acquire().expect("a signal is no handoff");
    assert!(many.poll().is_pending());
    assert_eq!(semaphore.available_permits(), 2);
    assert!(semaphore.try_acquire().is_err(), "barged past once");
    let mut barging = Task::new(semaphore.acquire_async());
    assert!(barging.poll().is_pending());
    drop(few);
    assert!(many.poll().is_ready());
    assert!(barging.is_woken() && barging.poll().is_ready());
}

/// Others barge past a signalled waiter for no longer than its barging window, however many there are.
#[test]
fn permits_are_reserved_for_a_signalled_waiter_after_its_window() {
    let semaphore = Semaphore::new(1);
    let held = semaphore.acquire().unwrap();
    let mut signalled = Task::new(semaphore.acquire_async());
    assert!(signalled.poll().is_pending());
    drop(held);
    until(|| semaphore.try_acquire().is_err());
    assert_eq!(semaphore.available_permits(), 1);
    assert!(signalled.poll().is_ready());
    assert!(semaphore.try_acquire().is_ok(), "and nobody else is queued");
}

/// What was reserved for a waiter that leaves is offered to the next, whether a signal for more was pending or not.
#[test]
fn a_waiter_that_leaves_signals_the_next_to_its_reserved_permits() {
    /// Whether it was queued before its time was up.
    fn check(deadline: Instant, times_out: bool, is_signalled: bool) -> bool {
        let semaphore = Semaphore::new(0);
        let mut many = Task::new(semaphore.acquire_many_async_until(3, deadline));
        if many.poll().is_ready() {
            return false;
        }
        semaphore.add_permits(1);
        if many.poll().is_ready() {
            return false;
        }
        let mut behind = [0, 1].map(|_| Task::new(semaphore.acquire_async()));
        assert!(behind.iter_mut().all(|task| task.poll().is_pending()), "it is reserved");
        if is_signalled {
            semaphore.add_permits(1);
            assert!(many.is_woken());
        }
        if times_out {
            assert_eq!(many.finish().unwrap_err(), AcquireError::TimedOut);
        } else {
            drop(many);
        }
        assert!(behind[0].is_woken());
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
    let mut many = Task::new(semaphore.acquire_many_async(2));
    assert!(many.poll().is_pending());
    semaphore.add_permits(1);
    let start = Instant::now();
    assert!(many.poll().is_pending());
    let late = [semaphore.acquire_for(MOMENT), block_on(semaphore.acquire_async_for(MOMENT))];
    // On a slow machine the watchdog may have signalled them, because `many` is not polled.
    if start.elapsed() < STALL_TIMEOUT {
        assert!(late.iter().all(|late| *late.as_ref().unwrap_err() == AcquireError::TimedOut));
        assert!(semaphore.try_acquire().is_err(), "still reserved");
    }
    drop(late);
    semaphore.add_permits(1);
    assert!(many.poll().is_ready());
}

#[test]
fn close_wakes_all_and_is_for_ever() {
    let semaphore = Arc::new(Semaphore::new(1));
    let held = semaphore.acquire().unwrap();
    let mut unpolled = Task::new(semaphore.acquire_async());
    assert!(unpolled.poll().is_pending());
    let mut owned = Task::new(semaphore.acquire_many_owned_async_until(2, far()));
    assert!(owned.poll().is_pending());
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(semaphore.acquire_many(2).unwrap_err(), Closed));
        scope.spawn(|| assert_eq!(semaphore.acquire_until(far()).unwrap_err(), AcquireError::Closed));
        scope.spawn(|| assert_eq!(block_on(semaphore.acquire_async()).unwrap_err(), Closed));
        until(|| waiters(&semaphore) == 5);
        assert!(!semaphore.is_closed());
        semaphore.close();
        assert!(semaphore.is_closed());
    });
    assert!(matches!(owned.poll(), Poll::Ready(Err(AcquireError::Closed))));
    assert!(matches!(unpolled.poll(), Poll::Ready(Err(Closed))));
    assert_eq!(waiters(&semaphore), 0);
    drop(held);
    semaphore.add_permits(2);
    assert_eq!((semaphore.available_permits(), semaphore.is_closed()), (3, true));
    assert_eq!(semaphore.acquire().unwrap_err(), Closed);
    assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::Closed);
    assert_eq!(semaphore.acquire_owned_for(MOMENT).unwrap_err(), AcquireError::Closed);
    assert_eq!(block_on(semaphore.acquire_owned_async()).unwrap_err(), Closed);
    assert_eq!(semaphore.forget_permits(5), 3);
    semaphore.close();
    assert!(semaphore.is_closed());
}

/// Closed after its signal: it takes nothing, and signals no other.
#[test]
fn a_signalled_waiter_finds_it_closed() {
    let semaphore = Semaphore::new(0);
    let mut tasks = [Task::new(semaphore.acquire_async()), Task::new(semaphore.acquire_async())];
    assert!(tasks.iter_mut().all(|task| task.poll().is_pending()));
    semaphore.add_permits(1);
    semaphore.close();
    assert!(tasks.iter().all(Task::is_woken));
    let [mut signalled, other] = tasks;
    assert!(matches!(signalled.poll(), Poll::Ready(Err(Closed))));
    drop(other);
    assert_eq!(semaphore.available_permits(), 1);
}

/// A thread that must not block does not, unless it need not.
#[test]
fn a_thread_that_must_not_block() {
    let semaphore = Arc::new(Semaphore::new(1));
    let _forbidden = forbid_blocking();
    drop(semaphore.acquire().unwrap());
    let panics = |run: &dyn Fn(), instead: &str| {
        let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        let text = payload.downcast_ref::<String>().unwrap();
        assert!(text.contains(&format!("use `{instead}` here")), "{text}");
    };
    let _held = semaphore.acquire_for(MOMENT).unwrap();
    panics(&|| drop(semaphore.acquire()), "acquire_async");
    panics(&|| drop(semaphore.acquire_many(2)), "acquire_many_async");
    panics(&|| drop(semaphore.acquire_owned()), "acquire_owned_async");
    panics(&|| drop(semaphore.acquire_many_owned(2)), "acquire_many_owned_async");
    assert_eq!(semaphore.acquire_for(MOMENT).unwrap_err(), AcquireError::BlockingForbidden);
    assert_eq!(semaphore.acquire_many_owned_until(2, far()).unwrap_err(), AcquireError::BlockingForbidden);
    assert_eq!(semaphore.acquire_for(Duration::ZERO).unwrap_err(), AcquireError::TimedOut);
    semaphore.close();
    assert_eq!(semaphore.acquire().unwrap_err(), Closed, "which needs no waiting");
}

/// A waker that panics costs no permit: neither the one that was to be given back nor one taken on the way.
#[test]
fn a_waker_that_panics_costs_no_permit() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("the waker");
        }
    }
    let semaphore = Semaphore::new(0);
    let mut first = Task::new(semaphore.acquire_async());
    assert!(first.poll().is_pending());
    let mut second = pin!(semaphore.acquire_async());
    let waker = Waker::from(Arc::new(Panics));
    assert!(second.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let start = Instant::now();
    semaphore.add_permits(2);
    let calls_the_next = catch_unwind(AssertUnwindSafe(|| first.poll()));
    // On a slow machine the watchdog may have signalled it.
    assert!(calls_the_next.is_err() || start.elapsed() >= STALL_TIMEOUT);
    drop(calls_the_next);
    assert_eq!(semaphore.available_permits(), 2);
    assert!(second.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    assert_eq!(semaphore.available_permits(), 2);
}

#[test]
fn shows_what_there_is() {
    let semaphore = Semaphore::new(2);
    let permits = semaphore.acquire_many(2).unwrap();
    assert_eq!(format!("{permits:?}"), "SemaphorePermit { permits: 2, .. }");
    let waits = semaphore.acquire_async();
    assert_eq!(format!("{waits:?}"), "SemaphoreAcquire { permits: 1, waiting: false, .. }");
    assert_eq!(format!("{semaphore:?}"), "Semaphore { available_permits: 0, is_closed: false }");
    semaphore.close();
    assert_eq!(format!("{semaphore:?}"), "Semaphore { available_permits: 0, is_closed: true }");
}
