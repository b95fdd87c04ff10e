//! Futures that wait for many permits, and are not polled any more.

use std::future::Future;
use std::task::{Context, Waker};
use std::thread;
use std::time::Instant;

use waitword::word::Parker;
use waitword::{STALL_TIMEOUT, Semaphore};

use crate::common::{Task, block_on, far, until, waiters};

/// Signalled for permits that are too few for it, and it does not even check.
#[test]
fn waiters_behind_an_unpolled_acquirer_of_many() {
    let semaphore = Semaphore::new(0);
    let mut unpolled = Task::queued(semaphore.acquire_many_async(3));
    thread::scope(|scope| {
        scope.spawn(|| drop(semaphore.acquire().unwrap()));
        scope.spawn(|| drop(block_on(semaphore.acquire_many_async(2).deadline(far())).unwrap()));
        until(|| waiters(&semaphore) == 3);
        semaphore.add_permits(2);
    });
    semaphore.add_permits(1);
    assert!(unpolled.poll().is_ready(), "it has kept its position");
}

/// It has checked, so that permits are reserved for it and no release signals it any more; then it is not polled again. The
/// waiters behind it get the permits all the same, and later ones, too, though no permit is given back meanwhile.
#[test]
fn waiters_behind_reserved_permits_whose_waiter_is_not_polled_again() {
    let semaphore = Semaphore::new(0);
    let mut unpolled = Task::queued(semaphore.acquire_many_async(3));
    thread::scope(|scope| {
        scope.spawn(|| semaphore.acquire().unwrap().forget());
        until(|| waiters(&semaphore) == 2);
        semaphore.add_permits(2);
        assert!(unpolled.is_woken() && unpolled.poll().is_pending());
    });
    assert_eq!(semaphore.available_permits(), 1);
    assert_eq!(waiters(&semaphore), 1);
    // However often it checked before.
    assert!(unpolled.poll().is_pending());
    block_on(semaphore.acquire_async()).unwrap().forget();
    semaphore.add_permits(3);
    assert!(unpolled.poll().is_ready(), "it has kept its position");
}

/// As long as it responds, no other gets its reserved permits.
#[test]
fn none_gets_past_an_acquirer_of_many_that_responds() {
    let semaphore = Semaphore::new(0);
    let mut many = Task::queued(semaphore.acquire_many_async(3));
    semaphore.add_permits(2);
    assert!(many.poll().is_pending());
    let behind = Task::queued(semaphore.acquire_async());
    for _ in 0..3 {
        // The watchdog signals it, and it responds.
        until(|| many.is_woken());
        assert!(many.poll().is_pending());
    }
    semaphore.add_permits(1);
    until(|| many.is_woken());
    assert!(many.poll().is_ready());
    assert!(behind.finish().is_ok());
}

/// While the watchdog's signal to it is pending, another waiter that leaves does not give its reserved permits away.
#[test]
fn reserved_permits_stay_reserved_when_another_leaves() {
    let semaphore = Semaphore::new(0);
    let mut many = Task::queued(semaphore.acquire_many_async(3));
    semaphore.add_permits(2);
    assert!(many.poll().is_pending());
    let behind = Task::queued(semaphore.acquire_async());
    let mut asked = Instant::now();
    until(|| {
        let is_woken = many.is_woken();
        if !is_woken {
            asked = Instant::now();
        }
        is_woken
    });
    drop(behind);
    let tried = semaphore.try_acquire();
    // On a machine so slow, it may have been passed over.
    if asked.elapsed() < STALL_TIMEOUT {
        assert!(tried.is_err());
    }
    drop(tried);
    semaphore.add_permits(1);
    assert!(many.poll().is_ready());
    assert!(semaphore.try_acquire_many(3).is_ok());
}

/// `select!`, whose handler wants one permit while a branch that wants all is alive and not polled.
#[test]
fn select_whose_handler_wants_a_permit_that_is_reserved_for_a_branch() {
    block_on(async {
        let semaphore = Semaphore::new(2);
        let held = semaphore.acquire().unwrap();
        let mut all = std::pin::pin!(semaphore.acquire_many_async(2));
        let more = semaphore.acquire().unwrap();
        let mut given_back = Some(more);
        tokio::select! {
            biased;
            _ = &mut all => unreachable!("two are held"),
            () = smol::future::yield_now() => drop(given_back.take()),
        }
        // Signalled, it checks and finds one.
        assert!(smol::future::poll_once(all.as_mut()).await.is_none());
        assert!(semaphore.try_acquire().is_err(), "reserved");
        drop(semaphore.acquire_async().await.unwrap());
        drop(held);
        assert_eq!(all.await.unwrap().num_permits(), 2);
    });
}

/// It has checked and waits for more; no waiter is behind it. Attempts fail as long as it responds, and not for ever if it
/// does not.
#[test]
fn attempts_get_the_permits_reserved_for_a_waiter_that_is_not_polled_again() {
    let semaphore = Semaphore::new(0);
    let mut unpolled = Task::queued(semaphore.acquire_many_async(3));
    semaphore.add_permits(2);
    assert!(unpolled.is_woken());
    for _ in 0..3 {
        let responds = Instant::now();
        assert!(unpolled.poll().is_pending());
        // While the attempts have the watchdog signal it.
        until(|| {
            let is_refused = semaphore.try_acquire().is_err();
            // On a slow machine it may have been skipped.
            assert!(is_refused || responds.elapsed() >= STALL_TIMEOUT);
            unpolled.is_woken()
        });
    }
    assert!(unpolled.poll().is_pending());
    until(|| semaphore.try_acquire_many(2).is_ok());
    semaphore.add_permits(1);
    assert!(unpolled.poll().is_ready(), "it has kept its position");
}

/// As above, and the last thing that it did was to be polled by another task.
#[test]
fn waiters_behind_reserved_permits_whose_waiter_has_another_waker() {
    let semaphore = Semaphore::new(1);
    let mut unpolled = std::pin::pin!(semaphore.acquire_many_async(2));
    let mut poll = |waker: &Waker| unpolled.as_mut().poll(&mut Context::from_waker(waker)).is_pending();
    assert!(poll(Waker::noop()));
    semaphore.add_permits(0);
    assert!(poll(Waker::noop()), "signalled, and too few");
    assert!(poll(Parker::current().waker()));
    semaphore.acquire().unwrap().forget();
}
