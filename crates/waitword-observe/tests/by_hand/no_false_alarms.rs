//! What looks like a deadlock to a careless observer, and is none.

use std::time::Duration;

use waitword_observe::{Access, Actor, LockKind, Snapshot, State, cycles};

use crate::{Made, abba, later, millis, task, thread};

fn threads() -> Made {
    abba(thread(1, "alpha"), thread(2, "beta"))
}

/// A thread waits for what it holds itself, in these ways.
fn one_thread(kind: LockKind, holds: Access, wants: Access) -> Made {
    let made = Made::new().lock(0xe0, kind, None).held(thread(1, "a"), holds, "src/a.rs:2", 3_000);
    made.waits(thread(1, "a"), wants, "src/a.rs:1", 2_000)
}

/// A thread waits for the lock of a task that it polled, or another thread.
fn polled_by(thread: Actor, only_there: bool) -> Made {
    Made::new()
        .lock(0xa0, LockKind::Mutex, None)
        .waits(crate::thread(1, "main"), Access::Exclusive, "src/api.rs:12", 1_000)
        .held(task(3, None), Access::Exclusive, "src/api.rs:30", 1_100)
        .polled(task(3, None), thread, only_there)
}

#[test]
fn what_ends_by_itself_is_no_cycle() {
    use Access::{Exclusive, Notification, Permits, Shared, Upgradable, Upgrade};
    use LockKind::{Barrier, Condvar, Event, Mutex, RwLock, Semaphore, WaitGroup, Word};

    let mut chain = Made::new();
    for at in 0..5_000 {
        chain = chain
            .lock(0x1000 + at, Mutex, None)
            .waits(thread(at, "member"), Exclusive, "src/a.rs:1", 2_000)
            .held(thread(at + 1, "member"), Exclusive, "src/a.rs:2", 3_000);
    }
    let mut queue = Made::new().lock(0xa0, RwLock, None);
    queue = queue.held(thread(0, "holder"), Shared, "src/a.rs:1", 3_000);
    for id in 1..=10_000 {
        let wants = if id % 2 == 0 { Shared } else { Exclusive };
        queue = queue.waits(thread(id, "waiter"), wants, "src/a.rs:2", 2_000);
    }
    let mut unrecorded = threads();
    unrecorded.0.holders = None;
    let cases = [
        ("a chain ends at a thread that runs", chain),
        ("readers wait between writers for one holder", queue),
        ("a waiter was signalled", threads().but(|waiter| waiter.state = State::Signalled)),
        ("a waiter was signalled long ago", threads().but(|waiter| waiter.state = State::Overdue)),
        ("a waiter was skipped", threads().but(|waiter| waiter.state = State::Skipped)),
        ("a wait has no age", threads().but(|waiter| waiter.age = None)),
        ("a hold has no age", threads().but_held(|holder| holder.held = None)),
        ("holders are not recorded", unrecorded),
        (
            "readers share",
            one_thread(RwLock, Shared, Shared).held(thread(2, "u"), Upgradable, "a.rs:8", 3_000),
        ),
        (
            "an upgrade waits for the readers and not for itself",
            one_thread(RwLock, Upgradable, Upgrade).held(thread(2, "r"), Shared, "a.rs:8", 3_000),
        ),
        ("permits may come from anywhere", one_thread(Semaphore, Exclusive, Permits)),
        ("anybody may notify", one_thread(Condvar, Exclusive, Notification)),
        ("anybody may notify", one_thread(Event, Exclusive, Notification)),
        ("anybody may notify", one_thread(WaitGroup, Exclusive, Notification)),
        ("anybody may notify", one_thread(Barrier, Exclusive, Notification)),
        ("anybody may notify", one_thread(Word, Exclusive, Notification)),
        (
            "it was notified, and moved into the queue of the mutex",
            one_thread(Mutex, Exclusive, Notification),
        ),
        ("another thread polls the task", polled_by(thread(2, "worker"), true)),
    ];
    for (says, made) in cases {
        assert_eq!(made.found(), [], "{says}");
    }
    assert_eq!(one_thread(Mutex, Exclusive, Exclusive).found().len(), 1, "all else is right");
}

#[test]
fn a_wait_with_a_deadline_that_may_be_near_is_no_member() {
    let aged = |age| threads().but(|waiter| (waiter.timed, waiter.age) = (Some(true), millis(age)));
    let [near, far] = [aged(990), aged(1_000)];
    assert_eq!([&near, &far].map(|made| cycles(&made.0, &made.0).len()), [0, 1]);
}

/// The parts of a snapshot are seen one after the other. Each lock was handed on between the two snapshots, and is held and waited for by
/// the same threads again.
#[test]
fn parts_of_different_times_are_no_cycle() {
    type Change = fn(&mut Snapshot);
    let first = threads().0;
    let cases: [(&str, Change); 6] = [
        ("it waits anew", |second| second.locks[0].waiters[0].age = millis(10)),
        ("it holds anew", |second| second.holders.as_mut().unwrap()[1].held = millis(10)),
        ("it holds in another way", |second| {
            second.holders.as_mut().unwrap()[1].mode = Access::Initialization;
        }),
        ("it has released", |second| drop(second.holders.as_mut().unwrap().pop())),
        ("a lock is gone", |second| drop(second.locks.pop())),
        ("locks were made where others were", |second| second.taken += Duration::from_secs(5)),
    ];
    for (says, change) in cases {
        let mut second = later(&first);
        change(&mut second);
        assert_eq!(cycles(&first, &second), [], "{says}");
    }
    assert_eq!(cycles(&first, &later(&first)).len(), 1);
    // All as before, by what a record says, but another hold of the same 10 ms; or the same in another way, as of one that downgrades.
    let numbered = |number| {
        let mut made = later(&first);
        made.holders.as_mut().unwrap()[0].number = Some(number);
        made
    };
    assert_eq!(cycles(&numbered(1), &numbered(2)), []);
    assert_eq!(cycles(&numbered(1), &numbered(1)).len(), 1);
}

#[test]
fn a_task_that_was_polled_elsewhere_since_blocks_no_executor() {
    let made = polled_by(thread(1, "main"), false);
    let mut moved = later(&made.0);
    moved.last_polls[0].thread = thread(2, "worker");
    assert_eq!(cycles(&made.0, &moved), []);
    assert_eq!(made.found().len(), 1);
}
