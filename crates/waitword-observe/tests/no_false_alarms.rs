//! What looks like a deadlock to a careless observer, and is none.

mod hand_made;

use std::time::Duration;

use hand_made::{Made, abba, later, millis, task, thread};
use waitword_observe::{Access, LockKind, State, cycles};

const NONE: [&str; 0] = [];

fn threads() -> Made {
    abba(thread(1, "alpha"), thread(2, "beta"))
}

#[test]
fn a_long_chain_that_ends_at_a_thread_that_runs() {
    let mut made = Made::new();
    for at in 0..5_000 {
        made = made
            .lock(0x1000 + at, LockKind::Mutex, None)
            .waits(thread(at, "member"), Access::Exclusive, "src/a.rs:1", 2_000)
            .held(thread(at + 1, "member"), Access::Exclusive, "src/a.rs:2", 3_000);
    }
    assert_eq!(made.cycles(), NONE);
}

#[test]
fn ten_thousand_waiters_behind_one_holder_and_readers_between_writers() {
    let mut made = Made::new().lock(0xa0, LockKind::RwLock, None);
    made = made.held(thread(0, "holder"), Access::Shared, "src/a.rs:1", 3_000);
    for id in 1..=10_000 {
        let wants = if id % 2 == 0 { Access::Shared } else { Access::Exclusive };
        made = made.waits(thread(id, "waiter"), wants, "src/a.rs:2", 2_000);
    }
    assert_eq!(made.cycles(), NONE);
}

#[test]
fn a_wait_with_a_deadline_ends_by_itself() {
    assert_eq!(threads().but(|waiter| waiter.timed = Some(true)).cycles(), NONE);
    // Where it is not known whether there is a deadline, the report does not claim that there is none.
    let found = threads().but(|waiter| waiter.timed = None).cycles();
    assert!(found[0].starts_with("cycle: 2 members"), "{}", found[0]);
    assert!(
        found[0].ends_with("\ndeadlock unless the wait of thread \"beta\" has a deadline"),
        "{}",
        found[0]
    );
}

#[test]
fn a_guard_that_was_sent_away() {
    let found = threads().but_held(|holder| holder.sent_away = true).cycles();
    let expected = "\
cycle: 2 members, since 1.2 s
  thread \"beta\"   waits 1.2 s for Mutex<Ledger> at src/audit.rs:19
                  holds 1.3 s     Mutex<Accounts>, taken at src/audit.rs:17
  thread \"alpha\"  waits 1.2 s for Mutex<Accounts> at src/pay.rs:41
                  acquired Mutex<Ledger> 1.3 s ago at src/pay.rs:38
deadlock unless the guard acquired by thread \"alpha\" is elsewhere";
    assert_eq!(found, [expected]);
    let is_fault = |made: Made| cycles(&made.0, &later(&made.0))[0].is_fault();
    assert!(is_fault(threads()), "nothing known can end it");
    assert!(!is_fault(threads().but_held(|holder| holder.sent_away = true)));
    assert!(
        !is_fault(abba(thread(1, "alpha"), task(2, None))),
        "it may be inside a `timeout` or a `select!`"
    );
}

#[test]
fn a_waiter_that_was_signalled_can_go_on() {
    for state in [State::Signalled, State::Overdue, State::Skipped] {
        assert_eq!(threads().but(|waiter| waiter.state = state).cycles(), NONE);
    }
}

/// The parts of a snapshot are seen one after the other. Each lock was handed on between the two snapshots, and is held and waited for by
/// the same threads again.
#[test]
fn parts_of_different_times_are_no_cycle() {
    let first = threads().0;
    let mut waits_anew = later(&first);
    waits_anew.locks[0].waiters[0].age = millis(10);
    assert_eq!(cycles(&first, &waits_anew), []);
    let mut holds_anew = later(&first);
    holds_anew.holders.as_mut().unwrap()[1].held = millis(10);
    assert_eq!(cycles(&first, &holds_anew), []);
    // All as before, by what a record says, but another hold of the same 10 ms; or the same in another way, as of one that downgrades.
    let numbered = |number| {
        let mut made = later(&first);
        made.holders.as_mut().unwrap()[0].number = Some(number);
        made
    };
    assert_eq!(cycles(&numbered(1), &numbered(2)), []);
    assert_eq!(cycles(&numbered(1), &numbered(1)).len(), 1);
    let mut holds_otherwise = later(&first);
    holds_otherwise.holders.as_mut().unwrap()[1].mode = Access::Initialization;
    assert_eq!(cycles(&first, &holds_otherwise), []);
    let mut released = later(&first);
    released.holders.as_mut().unwrap().pop();
    assert_eq!(cycles(&first, &released), []);
    let mut gone = later(&first);
    gone.locks.pop();
    assert_eq!(cycles(&first, &gone), []);
    assert_eq!(cycles(&first, &later(&first)).len(), 1);
}

#[test]
fn without_ages_or_holders_nothing_is_claimed() {
    assert_eq!(threads().but(|waiter| waiter.age = None).cycles(), NONE);
    assert_eq!(threads().but_held(|holder| holder.held = None).cycles(), NONE);
    let mut unrecorded = threads();
    unrecorded.0.holders = None;
    assert_eq!(unrecorded.cycles(), NONE);
}

#[test]
fn readers_share() {
    let made = Made::new()
        .lock(0xe0, LockKind::RwLock, None)
        .held(thread(1, "r"), Access::Shared, "a.rs:7", 3_000)
        .held(thread(2, "u"), Access::Upgradable, "a.rs:8", 3_000)
        .waits(thread(1, "r"), Access::Shared, "a.rs:9", 1_500);
    assert_eq!(made.cycles(), NONE);
}

#[test]
fn an_upgrade_waits_for_the_readers_and_not_for_itself() {
    let made = Made::new()
        .lock(0xe0, LockKind::RwLock, None)
        .held(thread(1, "u"), Access::Upgradable, "a.rs:7", 3_000)
        .held(thread(2, "r"), Access::Shared, "a.rs:8", 3_000)
        .waits(thread(1, "u"), Access::Upgrade, "a.rs:9", 1_500);
    assert_eq!(made.cycles(), NONE);
}

#[test]
fn permits_and_notifies_may_come_from_anywhere() {
    for (kind, wants) in [
        (LockKind::Semaphore, Access::Permits),
        (LockKind::Condvar, Access::Notification),
        (LockKind::Event, Access::Notification),
        (LockKind::WaitGroup, Access::Notification),
        (LockKind::Barrier, Access::Notification),
        (LockKind::Word, Access::Notification),
        // Notified, and moved into the queue of the mutex.
        (LockKind::Mutex, Access::Notification),
    ] {
        let made = Made::new().lock(0xa0, kind, None).waits(thread(1, "a"), wants, "src/a.rs:1", 2_000).held(
            thread(1, "a"),
            Access::Exclusive,
            "src/a.rs:2",
            3_000,
        );
        assert_eq!(made.cycles(), NONE, "{kind}");
    }
}

#[test]
fn a_task_that_another_thread_polls_blocks_no_executor() {
    let [main, other, holder] = [thread(1, "main"), thread(2, "worker"), task(3, None)];
    let made = Made::new()
        .lock(0xa0, LockKind::Mutex, None)
        .waits(main, Access::Exclusive, "src/api.rs:12", 1_000)
        .held(holder.clone(), Access::Exclusive, "src/api.rs:30", 1_100)
        .polled(holder, other, true);
    assert_eq!(made.cycles(), NONE);
}

#[test]
fn a_task_that_was_polled_elsewhere_since_blocks_no_executor() {
    let [main, other, holder] = [thread(1, "main"), thread(2, "worker"), task(3, None)];
    let made = Made::new()
        .lock(0xa0, LockKind::Mutex, None)
        .waits(main.clone(), Access::Exclusive, "src/api.rs:12", 1_000)
        .held(holder.clone(), Access::Exclusive, "src/api.rs:30", 1_100)
        .polled(holder, main, false);
    let mut moved = later(&made.0);
    moved.last_polls[0].thread = other;
    assert_eq!(cycles(&made.0, &moved), []);
    assert_eq!(made.cycles().len(), 1);
}

#[test]
fn a_lock_that_is_made_where_another_was_is_another() {
    let first = threads().0;
    let mut second = first.clone();
    second.taken += Duration::from_secs(5);
    // All of the same ages as before, so all began later.
    assert_eq!(cycles(&first, &second), []);
}
