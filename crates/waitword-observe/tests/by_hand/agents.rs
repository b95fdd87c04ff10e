//! What a report says of JavaScript agents.

use std::fs;
use std::time::{Duration, Instant};

use waitword_observe::{
    Access, Actor, Address, BlockPlace, Deed, Ended, Finding, LockKind, Report, Site, waits,
};

use crate::{Made, thread};

fn blocked(number: u64) -> Actor {
    Actor::BlockedAgent { number, name: format!("worker {number}") }
}

fn agent(number: u64) -> Actor {
    Actor::Agent { number, name: Some(format!("worker {number}")) }
}

fn at(made: &mut Made, byte_index: u64) {
    made.0.locks.last_mut().unwrap().name.place = Some(BlockPlace { block: 1, byte_index });
}

/// A lock of scripts whose holder has ended.
fn abandoned() -> Made {
    let mut made = Made::new()
        .lock(0x40, LockKind::AsyncLock, None)
        .waits(blocked(1), Access::Exclusive, "main.js:9", 900)
        .waits(thread(7, "host"), Access::Exclusive, "src/host.rs:31", 850)
        .held(agent(2), Access::Exclusive, "worker.js:12", 1_000);
    at(&mut made, 64);
    made.0.ended.push(Ended { actor: agent(2), ago: Duration::from_millis(800) });
    made
}

fn report(made: &Made) -> Report {
    Report::new(waits(&made.0), made.0.clone())
}

#[test]
fn a_holder_that_has_ended_is_named() {
    let [finding] = &waits(&abandoned().0)[..] else { panic!("{:?}", waits(&abandoned().0)) };
    assert!(finding.is_fault());
    assert_eq!(
        finding.to_string(),
        "AsyncLock at block 1 +64: held by worker 2 (worker.js:12:5), which ended 800 ms ago; 2 wait: worker\n  \
         1 (main.js:9:5), thread \"host\" (src/host.rs:31)"
    );
    let report = report(&abandoned());
    assert_eq!(Report::from_json(&report.to_json()).as_ref(), Ok(&report));
    let text = report.to_string();
    let listing = "\
AsyncLock at block 1 +64: 2 waiters
    1.0 s  held by worker 2, taken at worker.js:12:5, which ended 800 ms ago
   900 ms  worker 1       main.js:9:5
   850 ms  thread \"host\"  src/host.rs:31
";
    assert!(text.ends_with(listing), "{text}");
}

/// A look at each holder for each lock would take minutes.
#[test]
fn many_locks_are_looked_at_once_each() {
    const LOCKS: u64 = 100_000;
    let mut made = Made::new();
    for at in 0..LOCKS {
        made = made
            .lock(8 * at, LockKind::Mutex, None)
            .waits(thread(at, "waits"), Access::Exclusive, "src/lib.rs:1", 5)
            .held(agent(at), Access::Exclusive, "src/lib.rs:2", 5);
    }
    made.0.ended.push(Ended { actor: agent(LOCKS - 1), ago: Duration::from_millis(1) });
    let start = Instant::now();
    let before = spent(start);
    let [Finding::HolderEnded(held)] = &waits(&made.0)[..] else { panic!("one has ended") };
    assert_eq!(held.lock.address, Address(8 * (LOCKS - 1)));
    assert_eq!(made.found(), []);
    let looked = spent(start) - before;
    assert!(looked < Duration::from_secs(60), "{looked:?}");
}

/// The CPU time of this thread; where the system does not tell it, the time since `start`.
fn spent(start: Instant) -> Duration {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|nanos| nanos.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

#[test]
fn without_a_waiter_or_while_the_holder_lives_it_is_no_fault() {
    let mut alive = abandoned();
    alive.0.ended.clear();
    let mut unwanted = abandoned();
    unwanted.0.locks[0].waiters.clear();
    for made in [alive, unwanted] {
        assert!(waits(&made.0).iter().all(|finding| !matches!(finding, Finding::HolderEnded(_))));
    }
}

#[test]
fn of_a_word_it_is_said_who_changed_and_notified_it_last() {
    let mut made = Made::new().lock(0x10, LockKind::Word, None).waits(
        agent(1),
        Access::Notification,
        "main.js:9",
        61_000,
    );
    at(&mut made, 0);
    let deed = |line, seconds, woken| {
        let site = Site { file: "q.js".into(), line, column: 3 };
        Some(Deed { actor: agent(2), site: Some(site), ago: Duration::from_secs(seconds), woken })
    };
    made.0.locks[0].changed = deed(30, 65, None);
    made.0.locks[0].notified = deed(31, 64, Some(0));
    let report = report(&made);
    assert_eq!(Report::from_json(&report.to_json()).as_ref(), Ok(&report));
    let text = report.to_string();
    let listing = "\
word at block 1 +0: 1 waiter
     65 s  last changed by worker 2 at q.js:30:3
     64 s  last notified by worker 2 at q.js:31:3, found no waiter
     61 s  worker 1  main.js:9:5
";
    assert!(text.ends_with(listing), "{text}");
}
