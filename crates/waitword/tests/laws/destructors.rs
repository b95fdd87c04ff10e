//! Wakers that panic, and whose destructors do, in each future of each row: a release does not unwind, and whatever a future had acquired
//! when that happens is given back.
//!
//! Where a destructor panics in the drop of a future that is ready, an `.await` leaks what the future returned: a guard, a turn. The table
//! awaits each future in an async block, as users do.

use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::common::law::{Call, Row, Wait, law, laws};
use crate::common::{Panics, panics, panics_at_its_end, until};
use crate::rows::FAR;

laws! {
    [mutex unlocked reader upgradable_reader writer upgrade permit permits async_lock callback event wait_group barrier cell condvar moved moved_to_a_free_mutex]:
        keeps_nothing_whatever_a_destructor_does,
        leaves_the_queue_whatever_a_destructor_does,
        ends_though_its_waker_panics;
    // Those with deadlines, but for a barrier, of which the other party would be missing.
    [mutex reader upgradable_reader writer upgrade permit permits async_lock event wait_group cell condvar]:
        keeps_nothing_at_its_deadline_whatever_a_destructor_does;
}

fn poll<'a>(wait: &mut Wait<'a>, waker: &Waker) -> Poll<Result<(), waitword::LockError>> {
    wait.as_mut().poll(&mut Context::from_waker(waker)).map_ok(drop)
}

/// Whether one of its last poll and its drop has unwound.
fn unwinds(mut wait: Wait<'_>) -> bool {
    let poll = panics(|| poll(&mut wait, Waker::noop()).is_ready());
    poll | panics(|| drop(wait))
}

fn keeps_nothing_whatever_a_destructor_does<L>(row: &Row<L>) {
    let mut unwound = 0;
    for way in &row.ways {
        let Call::Task(call, _) = way.call else { continue };
        let lock = (row.closed)();
        let open = (row.close)(&lock);
        let mut wait = call(&lock, FAR);
        assert!(poll(&mut wait, &panics_at_its_end()).is_pending(), "{}: it does not wait", way.name);
        open();
        unwound += u32::from(unwinds(wait));
        assert_eq!((row.waiters)(&lock), 0, "{}", way.name);
        assert!((row.is_as_before)(&lock), "{}", way.name);
        assert!(!(row.stays_open)(&lock) || row.is_free(&lock), "{}", way.name);
    }
    assert!(unwound > 0, "no destructor was called");
}

fn leaves_the_queue_whatever_a_destructor_does<L>(row: &Row<L>) {
    for way in &row.ways {
        let Call::Task(call, _) = way.call else { continue };
        let lock = (row.closed)();
        let open = (row.close)(&lock);
        let mut wait = call(&lock, FAR);
        assert!(poll(&mut wait, &panics_at_its_end()).is_pending(), "{}: it does not wait", way.name);
        assert!(panics(|| drop(wait)), "{}: no destructor was called", way.name);
        assert_eq!((row.waiters)(&lock), 0, "{}", way.name);
        // A barrier's other party would be missing.
        if (row.stays_open)(&lock) {
            open();
            assert!(row.is_free(&lock), "{}", way.name);
        }
    }
}

fn keeps_nothing_at_its_deadline_whatever_a_destructor_does<L>(row: &Row<L>) {
    for way in row.ways.iter().filter(|way| way.is_timed()) {
        let Call::Task(call, _) = way.call else { continue };
        let mut timeout = Duration::from_millis(2);
        loop {
            let lock = (row.closed)();
            let open = (row.close)(&lock);
            let mut wait = call(&lock, timeout);
            let late = Instant::now() + timeout;
            if poll(&mut wait, &panics_at_its_end()).is_pending() {
                until(|| Instant::now() >= late);
                assert!(unwinds(wait), "{}: no destructor was called", way.name);
                assert_eq!((row.waiters)(&lock), 0, "{}", way.name);
                open();
                assert!((row.is_as_before)(&lock), "{}", way.name);
                assert!(!(row.stays_open)(&lock) || row.is_free(&lock), "{}", way.name);
                break;
            }
            // A slow machine.
            timeout *= 2;
        }
    }
}

/// What opens the lock does not unwind, and the waiter has it.
fn ends_though_its_waker_panics<L>(row: &Row<L>) {
    for way in &row.ways {
        let Call::Task(call, _) = way.call else { continue };
        let lock = (row.closed)();
        let open = (row.close)(&lock);
        let mut wait = call(&lock, FAR);
        assert!(poll(&mut wait, &Panics::waker()).is_pending(), "{}: it does not wait", way.name);
        open();
        assert_eq!(poll(&mut wait, Waker::noop()), Poll::Ready(Ok(())), "{}", way.name);
        row.assert_left(&lock, way);
    }
}
