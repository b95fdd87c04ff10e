//! The semaphore: every acquirer gets its permits, and all permits come back.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use waitword::Semaphore;
use waitword::word::Table;

use super::{Seen, check, poll, poll_twice, queued, spawn};
use loom::future::block_on;
use loom::thread;

/// How an acquirer takes permits.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Blocking,
    Async,
    /// As a future that is dropped after its second poll at the latest, signalled or not.
    Dropped,
    /// As a future whose time is up once it is queued.
    Late,
}
use Way::*;

/// How many.
#[derive(Clone, Copy)]
struct Take(Way, usize);

impl Take {
    /// Whether it got them.
    fn run(self, semaphore: &Semaphore) -> bool {
        let Take(way, n) = self;
        match way {
            Blocking => semaphore.acquire_many(n).is_ok(),
            Async => block_on(semaphore.acquire_many_async(n)).is_ok(),
            Dropped => poll_twice(pin!(semaphore.acquire_many_async(n))).is_some(),
            Late => block_on(semaphore.acquire_many_async(n).timeout(Duration::ZERO)).is_ok(),
        }
    }

    fn is_certain(self) -> bool {
        matches!(self.0, Blocking | Async)
    }
}

fn all_get_permits(preemptions: usize, permits: usize, takes: &'static [Take]) {
    check(preemptions, move || {
        let semaphore = Arc::new(Semaphore::new(permits));
        let threads: Vec<_> = takes.iter().map(|take| spawn(&semaphore, |shared| take.run(shared))).collect();
        for (thread, take) in threads.into_iter().zip(takes) {
            assert!(thread.join().unwrap() || !take.is_certain());
        }
        assert_eq!(semaphore.available_permits(), permits);
        assert!(semaphore.try_acquire_many(permits).is_ok(), "none is reserved");
    });
}

check!(it_excludes_as_a_mutex_does, 3, || {
    let shared = Arc::new((Semaphore::new(1), Seen::default()));
    let thread = spawn(&shared, |(semaphore, seen)| {
        let _permit = semaphore.acquire().unwrap();
        seen.add();
    });
    {
        let _permit = block_on(shared.0.acquire_async()).unwrap();
        shared.1.add();
    }
    thread.join().unwrap();
    assert_eq!(shared.1.get(), 2);
});

tests! {
    few_and_many: all_get_permits(3, 2, &[Take(Blocking, 2), Take(Async, 1)]);
    // Two preemptions take minutes.
    few_and_few_and_many: all_get_permits(1, 2, &[Take(Blocking, 2), Take(Async, 1), Take(Blocking, 1)]);
    an_acquirer_of_many_is_dropped: all_get_permits(2, 2, &[Take(Blocking, 1), Take(Dropped, 2), Take(Async, 1)]);
    an_acquirer_of_many_is_late: all_get_permits(2, 2, &[Take(Blocking, 1), Take(Late, 2), Take(Async, 1)]);
}

// One signal for two waiters, which both get a permit. Two preemptions take more than a minute.
check!(permits_are_added_for_two, 1, || {
    let semaphore = Arc::new(Semaphore::new(0));
    let threads = [Blocking, Async].map(|way| {
        spawn(&semaphore, move |semaphore| match way {
            Blocking => semaphore.acquire().unwrap().forget(),
            _ => block_on(semaphore.acquire_async()).unwrap().forget(),
        })
    });
    semaphore.add_permits(2);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(semaphore.available_permits(), 0);
});

// A waiter acknowledges a signal whose permit another acquirer had; it takes that permit when it is back. Before it leaves the queue it is
// signalled for one more permit, which is the next waiter's.
check!(a_waiter_that_takes_a_permit_on_its_recheck_forwards_the_signal_for_another, 3, || {
    let semaphore = Arc::new(Semaphore::new(0));
    let (first, second) = (queued(semaphore.acquire_async()), queued(semaphore.acquire_async()));
    semaphore.add_permits(1);
    semaphore.try_acquire().expect("the waiter has not run").forget();
    let adds = spawn(&semaphore, |semaphore| (0..2).for_each(|_| semaphore.add_permits(1)));
    block_on(first).unwrap().forget();
    block_on(second).unwrap().forget();
    adds.join().unwrap();
    assert_eq!(semaphore.available_permits(), 0);
});

// The permits that are reserved for the head waiter are too few for it; when it is dropped, the next waiter gets them.
check!(permits_reserved_for_a_dropped_waiter_go_to_the_next, 3, || {
    let semaphore = Arc::new(Semaphore::new(0));
    let mut many = queued(semaphore.acquire_many_async(2));
    let behind = queued(semaphore.acquire_async());
    let adds = spawn(&semaphore, |semaphore| semaphore.add_permits(1));
    assert!(poll(many.as_mut()).is_pending());
    drop(many);
    block_on(behind).unwrap().forget();
    adds.join().unwrap();
    assert_eq!(semaphore.available_permits(), 0);
});

/// A waiter that is not polled again does not keep its reserved permits from the waiter behind it for ever: the watchdog signals
/// that one.
#[test]
fn an_acquirer_of_many_is_never_polled_again() {
    // Of two threads; but the loop of passes takes as long as a third.
    check(2, || {
        let semaphore = Arc::new(Semaphore::new(0));
        let mut many = queued(semaphore.acquire_many_async(2));
        let behind = spawn(&semaphore, |semaphore| semaphore.acquire().unwrap().forget());
        semaphore.add_permits(1);
        assert!(poll(many.as_mut()).is_pending());
        while Table::global().signal_stalled() || semaphore.available_permits() > 0 {
            thread::yield_now();
        }
        behind.join().unwrap();
    });
}

check!(closing_ends_the_waits, 2, || {
    let semaphore = Arc::new(Semaphore::new(0));
    let threads =
        [Blocking, Async].map(|way| spawn(&semaphore, move |semaphore| Take(way, 1).run(semaphore)));
    semaphore.close();
    assert!(!threads.into_iter().any(|thread| thread.join().unwrap()));
});

// A waiter that gives up signals, and finds only one that has its permit and is about to dequeue. That one relies on the signal, which is
// withdrawn; and then another enqueues, because a permit is reserved.
check!(a_waiter_enqueues_when_a_signal_has_been_withdrawn, 3, || {
    let semaphore = Arc::new(Semaphore::new(0));
    let mut first = queued(semaphore.acquire_owned_async());
    let mut many = queued(semaphore.acquire_many_owned_async(3));
    semaphore.add_permits(2);
    // The first was signalled, and does not respond: so the watchdog signals the other.
    for _ in 0..2 {
        let _ = Table::global().signal_stalled();
    }
    let acquires = spawn(&semaphore, move |semaphore| {
        let Poll::Ready(Ok(permit)) = poll(first.as_mut()) else { panic!("one permit is free") };
        permit.forget();
        // As if another thread acquired from here on, which would take minutes.
        thread::yield_now();
        block_on(semaphore.acquire_async()).unwrap().forget();
    });
    assert!(poll(many.as_mut()).is_pending());
    drop(many);
    acquires.join().unwrap();
    assert_eq!(semaphore.available_permits(), 0);
});

// A waiter with reserved permits gives up and signals the next: there is none yet, and when there is, no permits are left.
// It must be signalled when permits are free again. Two preemptions take two minutes.
check!(permits_are_forgotten_while_a_waiter_is_signalled, 1, || {
    let semaphore = Arc::new(Semaphore::new(0));
    let mut wants_many = queued(semaphore.acquire_many_async(2));
    semaphore.add_permits(1);
    // Signalled, and too few: reserved from now on.
    assert!(poll(wants_many.as_mut()).is_pending());
    let next = spawn(&semaphore, |semaphore| drop(semaphore.acquire().unwrap()));
    let forgets = spawn(&semaphore, |semaphore| semaphore.forget_permits(1));
    drop(wants_many);
    forgets.join().unwrap();
    semaphore.add_permits(1);
    next.join().unwrap();
});
