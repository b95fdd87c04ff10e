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
    assert_eq!(semaphore.try_acquire().unwrap().num_permits(), 1, "nothing is reserved for who has gone");
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
fn who_wants_nothing_waits_for_nobody() {
    let semaphore = Semaphore::new(0);
    let mut waits = Task::new(semaphore.acquire_async());
    assert!(waits.poll().is_pending());
    drop(semaphore.acquire_many(0).unwrap());
    drop(semaphore.try_acquire_many(0).unwrap());
    assert_eq!(block_on(semaphore.acquire_many_async(0)).unwrap().num_permits(), 0);
    semaphore.close();
    assert_eq!(semaphore.acquire_many(0).unwrap_err(), Closed);
}

/// Whoever is queued, and however they wait, they get their permits in the order in which they came.
#[test]
fn first_in_first_out_for_threads_and_tasks() {
    let semaphore = Semaphore::new(0);
    let order = Mutex::new(Vec::new());
    // The order is noted while nobody else has a permit.
    let note = |who| order.lock().unwrap().push(who);
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for who in 0..9 {
            let (semaphore, note) = (&semaphore, &note);
            threads.push(scope.spawn(move || {
                let _permits = match who % 3 {
                    0 => semaphore.acquire().unwrap(),
                    1 => block_on(semaphore.acquire_many_async(2)).unwrap(),
                    _ => semaphore.acquire_many_until(3, far()).unwrap(),
                };
                note(who);
            }));
            until(|| waiters(semaphore) > who);
        }
        semaphore.add_permits(3);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    // Some run at the same time, but none before its turn: who wants all three is alone.
    let order = order.into_inner().unwrap();
    for (turn, who) in order.iter().enumerate() {
        assert_eq!(turn / 3, who / 3, "{order:?}");
        assert_eq!(turn % 3 == 2, who % 3 == 2, "{order:?}");
    }
}

/// One call for any number of permits; who takes some calls the next, until there are too few.
#[test]
fn who_takes_some_calls_the_next() {
    let semaphore = Semaphore::new(0);
    let mut tasks = [1, 2, 3, 1].map(|n| Task::new(semaphore.acquire_many_async(n)));
    assert!(tasks.iter_mut().all(|task| task.poll().is_pending()));
    let added = Instant::now();
    let is_signalled = |tasks: &[Task<'_, _>; 4], next: usize| {
        assert!(tasks[next].is_woken());
        let others = tasks.iter().enumerate().any(|(who, task)| who > next && task.is_woken());
        // On a machine so slow, a sweep may have called them too.
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

/// Until who was called comes, whoever runs takes what there is; then it is kept.
#[test]
fn who_wants_many_is_not_starved_by_those_who_want_few() {
    let semaphore = Semaphore::new(3);
    let held = semaphore.acquire_many(3).unwrap();
    let mut many = Task::new(semaphore.acquire_many_async(3));
    assert!(many.poll().is_pending());
    drop(held);
    assert!(many.is_woken());
    let few = semaphore.try_acquire().expect("called, not handed over");
    assert!(many.poll().is_pending());
    assert_eq!(semaphore.available_permits(), 2);
    assert!(semaphore.try_acquire().is_err(), "overtaken once");
    let mut newcomer = Task::new(semaphore.acquire_async());
    assert!(newcomer.poll().is_pending());
    drop(few);
    assert!(many.poll().is_ready());
    assert!(newcomer.is_woken() && newcomer.poll().is_ready());
}

/// Who is called and does not come is overtaken for no longer than a quantum, however many come and go.
#[test]
fn permits_are_kept_for_who_was_called_after_a_while() {
    let semaphore = Semaphore::new(1);
    let held = semaphore.acquire().unwrap();
    let mut called = Task::new(semaphore.acquire_async());
    assert!(called.poll().is_pending());
    drop(held);
    until(|| semaphore.try_acquire().is_err());
    assert_eq!(semaphore.available_permits(), 1);
    assert!(called.poll().is_ready());
    assert!(semaphore.try_acquire().is_ok(), "and nobody else is queued");
}

/// What was reserved for one who leaves is offered to the next, whether it was called for more or not.
#[test]
fn who_leaves_calls_the_next_to_what_was_kept_for_it() {
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
        assert!(behind.iter_mut().all(|task| task.poll().is_pending()), "it is kept");
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
fn who_times_out_without_having_been_called_takes_nothing_from_the_line() {
    let semaphore = Semaphore::new(0);
    let mut many = Task::new(semaphore.acquire_many_async(2));
    assert!(many.poll().is_pending());
    semaphore.add_permits(1);
    let start = Instant::now();
    assert!(many.poll().is_pending());
    let late = [semaphore.acquire_for(MOMENT), block_on(semaphore.acquire_async_for(MOMENT))];
    // On a machine so slow, a sweep may have called them, because `many` is not polled.
    if start.elapsed() < STALL_TIMEOUT {
        assert!(late.iter().all(|late| *late.as_ref().unwrap_err() == AcquireError::TimedOut));
        assert!(semaphore.try_acquire().is_err(), "still kept");
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

/// Closed after it was called: it takes nothing, and calls nobody.
#[test]
fn one_who_was_called_finds_it_closed() {
    let semaphore = Semaphore::new(0);
    let mut tasks = [Task::new(semaphore.acquire_async()), Task::new(semaphore.acquire_async())];
    assert!(tasks.iter_mut().all(|task| task.poll().is_pending()));
    semaphore.add_permits(1);
    semaphore.close();
    assert!(tasks.iter().all(Task::is_woken));
    let [mut called, other] = tasks;
    assert!(matches!(called.poll(), Poll::Ready(Err(Closed))));
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
    // On a machine so slow, a sweep may have called it.
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
