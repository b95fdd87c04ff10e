//! What is to be read when something is stuck.

use std::time::Duration;

use waitword_observe::{Access, Actor, Deed, LockKind, Recording, State, waits};

use crate::{Made, abba, millis, site, task, thread};

/// Such a cycle is no fault. An agent that blocks does nothing else, as a thread.
#[test]
fn a_cycle_says_what_may_end_it() {
    let of_scripts = |agent| {
        let mut made = abba(agent, thread(2, "host"));
        made.0.locks.iter_mut().for_each(|lock| lock.name.kind = LockKind::AsyncLock);
        made
    };
    let agent = Actor::Agent { number: 2, name: Some("worker.js".into()) };
    let blocked = Actor::BlockedAgent { number: 2, name: "worker.js".into() };
    let threads = || abba(thread(1, "alpha"), thread(2, "beta"));
    for (made, unless) in [
        (
            abba(task(14, Some("flush")), thread(2, "beta")),
            "task 14 \"flush\" awaits something else too (timeout, select!)",
        ),
        (of_scripts(agent), "worker.js runs other jobs"),
        (
            threads().but_held(|holder| holder.sent_away = true),
            "thread \"alpha\" sent its guard to another thread or task",
        ),
        // Where it is not known whether there is a deadline, the report does not claim that there is none.
        (threads().but(|waiter| waiter.timed = None), "the wait of thread \"beta\" ends at a deadline"),
        // It is a second old, so its deadline is not near.
        (threads().but(|waiter| waiter.timed = Some(true)), "the wait of thread \"beta\" ends at a deadline"),
    ] {
        let [cycle] = &made.found()[..] else { panic!("{unless}") };
        let text = cycle.to_string();
        assert!(text.starts_with("cycle: 2 members, youngest wait 1.2 s\n"), "{text}");
        assert!(text.ends_with(&format!("\ndeadlock unless {unless}")) && !cycle.is_fault(), "{text}");
    }
    for made in [threads(), of_scripts(blocked)] {
        assert!(made.found()[0].is_fault(), "nothing known can end it");
    }
}

#[test]
fn a_ring_of_locks_and_an_initialiser_with_waiters_that_are_no_members() {
    let names = ["a", "b", "c", "d"];
    let mut made = Made::new();
    for at in 0..4_u64 {
        let (kind, wants) = match at {
            3 => (LockKind::OnceLock, Access::Initialization),
            _ => (LockKind::Mutex, Access::Exclusive),
        };
        let [waiter, holder] = [at, (at + 1) % 4].map(|at| thread(at, names[at as usize]));
        made = made
            .lock(0x10 + at, kind, None)
            .waits(thread(100 + at, "bystander"), wants, "src/by.rs:1", 9_000)
            .waits(waiter, wants, "src/ring.rs:1", 1_000)
            .held(holder, wants, "src/ring.rs:2", 1_500);
    }
    let found = made.cycles();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("deadlock: 4 members, youngest wait 1.0 s\n"), "{}", found[0]);
    assert!(!found[0].contains("bystander"));
}

#[test]
fn two_separate_cycles_are_two_findings() {
    let mut made = abba(thread(1, "a"), thread(2, "b"));
    let mut other = abba(thread(3, "c"), thread(4, "d")).0;
    for lock in &mut other.locks {
        lock.name.address.0 += 0x1000;
    }
    for holder in other.holders.iter_mut().flatten() {
        holder.lock.0 += 0x1000;
    }
    made.0.locks.append(&mut other.locks);
    made.0.holders.as_mut().unwrap().append(other.holders.as_mut().unwrap());
    assert_eq!(made.found().len(), 2);
}

/// A writer waits for two readers, who both wait for it; the guard of one of them may be elsewhere.
#[test]
fn a_certain_deadlock_is_found_beside_a_cycle_that_is_not() {
    let [writer, sent, kept] = [thread(1, "writer"), thread(2, "sent"), thread(3, "kept")];
    let reads = |made: Made, is_sent: bool| {
        let reader = if is_sent { sent.clone() } else { kept.clone() };
        let made = made.held(reader, Access::Shared, "src/read.rs:1", 5_000);
        made.but_held(|holder| holder.sent_away = is_sent)
    };
    for first in [true, false] {
        let made = Made::new().lock(0xa0, LockKind::RwLock, None);
        let made = made.waits(writer.clone(), Access::Exclusive, "src/write.rs:2", 2_000);
        let made = reads(reads(made, first), !first)
            .lock(0xb0, LockKind::Mutex, None)
            .held(writer.clone(), Access::Exclusive, "src/write.rs:1", 5_000)
            .waits(sent.clone(), Access::Exclusive, "src/read.rs:2", 3_000)
            .waits(kept.clone(), Access::Exclusive, "src/read.rs:2", 3_000);
        let found = made.cycles();
        assert!(found[0].starts_with("deadlock: 2 members") && found[0].contains("kept"), "{found:?}");
    }
}

#[test]
fn a_thread_that_blocks_for_a_task_that_it_has_to_poll() {
    let [main, held_by] = [thread(1, "main"), task(3, None)];
    let cases = [
        (true, "executor blocked", "only this thread polls"),
        (false, "executor may be blocked", "this thread polled last"),
    ];
    for (only_there, says, polls) in cases {
        let made = Made::new()
            .lock(0xa0, LockKind::Mutex, Some("Mutex<S>"))
            .waits(main.clone(), Access::Exclusive, "src/api.rs:12", 1_000)
            .held(held_by.clone(), Access::Exclusive, "src/api.rs:30", 1_100)
            .polled(held_by.clone(), main.clone(), only_there);
        let expected = format!(
            "\
{says}: thread \"main\" waits 1.0 s at src/api.rs:12 for Mutex<S>, held by task 3
  (src/api.rs:30), which {polls}; use lock_async (forbid_blocking finds such calls)"
        );
        assert_eq!(made.cycles(), [expected]);
    }
}

#[test]
fn a_thread_that_blocks_for_a_task_which_waits_for_another_of_the_same_thread() {
    let [main, first, second] = [thread(1, "main"), task(3, None), task(4, None)];
    let made = Made::new()
        .lock(0xa0, LockKind::Mutex, None)
        .waits(main.clone(), Access::Exclusive, "src/a.rs:1", 1_000)
        .held(first.clone(), Access::Exclusive, "src/a.rs:2", 1_100)
        .lock(0xb0, LockKind::Mutex, None)
        .waits(first, Access::Exclusive, "src/a.rs:3", 1_050)
        .held(second.clone(), Access::Exclusive, "src/a.rs:4", 1_200)
        .polled(second, main, true);
    let expected = "\
executor blocked: 3 members, youngest wait 1.0 s
  thread \"main\"  waits 1.0 s for Mutex at 0xa0 at src/a.rs:1
                 has to poll task 4
  task 3         waits 1.0 s for Mutex at 0xb0 at src/a.rs:3
                 holds 1.1 s     Mutex at 0xa0, taken at src/a.rs:2
  task 4         has to be polled by thread \"main\"
                 holds 1.2 s     Mutex at 0xb0, taken at src/a.rs:4
blocked unless task 3 awaits something else too (timeout, select!)";
    assert_eq!(made.cycles(), [expected]);
}

/// If two writers are between the reads, the shorter cycle says what to do.
#[test]
fn a_read_within_a_read_behind_writers() {
    let behind = |second: Access, name: &str| {
        Made::new()
            .lock(0xe0, LockKind::RwLock, Some("RwLock<Routes>"))
            .held(thread(1, "r"), Access::Shared, "a.rs:7", 3_000)
            .waits(thread(2, "w"), Access::Exclusive, "b.rs:4", 2_000)
            .waits(thread(3, name), second, "c.rs:1", 1_900)
            .waits(thread(1, "r"), Access::Shared, "a.rs:9", 1_500)
            .cycles()
    };
    let expected = "\
deadlock: thread \"r\" waits 1.5 s to read RwLock<Routes> at a.rs:9, queued behind thread \"w\"
  (b.rs:4), which waits for thread \"r\" to release the read lock taken at a.rs:7; use
  try_read_recursive";
    assert_eq!(behind(Access::Shared, "other"), [expected]);
    let second = expected.replace("\"w\"\n  (b.rs:4)", "\"x\"\n  (c.rs:1)");
    assert_eq!(behind(Access::Exclusive, "x"), [second]);
}

/// A signalled waiter that may be only late is a fact, also if the watchdog has skipped it. Nor is it a long wait, whose holder one would look
/// for: there is none. A thread that is not scheduled is no futurelock.
#[test]
fn a_signalled_task_that_nobody_polls() {
    let long = "long wait: 1 waiter for Mutex at 0xd0 at src/db.rs:88, longest 60 s";
    let late = "signalled, has not run: task 7 waits 60 s for Mutex at 0xd0 at src/db.rs:88; a futurelock if this\n  lasts; 2 waiters behind it";
    let later = "\
signalled, has not run: task 7 waits 60 s for Mutex at 0xd0 at src/db.rs:88; signalled at least 300
  ms ago, a futurelock if this lasts; 2 waiters behind it";
    let skipped = "\
never polled (futurelock): task 7 waits 3.9 s for Mutex at 0xd0 at src/db.rs:88; signalled at least
  1.0 s ago and not run since, skipped; poll its future or drop it; 2 waiters behind it";
    let fault = "\
never polled (futurelock): task 7 waits 3.9 s for Mutex at 0xd0 at src/db.rs:88; signalled at least
  2.5 s ago and not run since; poll its future or drop it; 2 waiters behind it";
    for (actor, state, age, signalled, says) in [
        (task(7, None), State::Queued, 60_000, None, Some(long)),
        (task(7, None), State::Signalled, 60_000, None, Some(late)),
        (task(7, None), State::Overdue, 60_000, None, Some(late)),
        (task(7, None), State::Skipped, 60_000, None, Some(late)),
        (task(7, None), State::Skipped, 60_000, millis(300), Some(later)),
        (thread(7, "gc"), State::Skipped, 60_000, None, Some(long)),
        (task(7, None), State::Skipped, 3_900, millis(1_000), Some(skipped)),
        (task(7, None), State::Signalled, 3_900, millis(2_500), Some(fault)),
        // Its executor may be busy.
        (task(7, None), State::Skipped, 900, None, None),
    ] {
        let made = Made::new()
            .lock(0xd0, LockKind::Mutex, None)
            .waits(actor, Access::Exclusive, "src/db.rs:88", age)
            .but(|waiter| (waiter.state, waiter.signalled) = (state, signalled))
            .waits(thread(3, "gc"), Access::Exclusive, "src/gc.rs:5", 400)
            .waits(task(8, None), Access::Exclusive, "src/db.rs:90", 300);
        assert_eq!(made.waits_found(), Vec::from_iter(says));
        let is_fault = says == Some(fault) || says == Some(skipped);
        assert_eq!(waits(&made.0).iter().any(|found| found.is_fault()), is_fault);
    }
}

/// Its guard was forgotten, for all that is known. A guard that was made to be sent, or whose line sends guards, is with another thread.
#[test]
fn a_thread_that_has_ended_with_its_lock_held() {
    let left = |waits: u64, ended: u64| {
        let made = Made::new().lock(0xa0, LockKind::Mutex, Some("Mutex<Cache>"));
        let made = made.held(thread(4, "gone"), Access::Exclusive, "src/gone.rs:2", 9_000);
        let made = made.waits(thread(5, "waits"), Access::Exclusive, "src/a.rs:7", waits);
        made.ended(thread(4, "gone"), ended)
    };
    let fault = "\
Mutex<Cache>: held by thread \"gone\" (src/gone.rs:2), which ended 3.0 s ago (no fault if its guard
  was sent to another thread); 1 waits: thread \"waits\" (src/a.rs:7)";
    let long = "long wait: 1 waiter for Mutex<Cache> at src/a.rs:7, longest 2.0 s";
    let read = |made: Made| made.but_held(|holder| holder.mode = Access::Shared);
    for (says, made, found) in [
        ("it is left", left(2_000, 3_000), vec![fault, long]),
        ("it has just ended", left(2_000, 900), vec![long]),
        ("the wait has just begun", left(900, 3_000), vec![]),
        ("its guard is elsewhere", left(2_000, 3_000).but_held(|holder| holder.sent_away = true), vec![long]),
        ("the lock is offered", left(2_000, 3_000).but(|waiter| waiter.state = State::Signalled), vec![long]),
        ("readers share", read(left(2_000, 3_000)).but(|waiter| waiter.wants = Access::Shared), vec![long]),
        (
            "another holds it too, and may be who keeps the waiter out",
            left(2_000, 3_000).held(thread(6, "holds"), Access::Exclusive, "src/b.rs:1", 500),
            vec![long],
        ),
    ] {
        assert_eq!(made.waits_found(), found, "{says}");
        assert_eq!(waits(&made.0).iter().any(|found| found.is_fault()), found.contains(&fault), "{says}");
    }
}

/// A holder waits for an event, which one of those may have to notify that wait for its lock.
#[test]
fn a_holder_that_waits_for_a_notify() {
    let stuck = |kind, [holds, waits, waited]: [u64; 3]| {
        let made = Made::new().lock(0xa0, LockKind::Mutex, Some("Mutex<Cache>"));
        let made = made.held(thread(4, "loader"), Access::Exclusive, "src/load.rs:2", holds);
        let made = made.waits(thread(5, "http"), Access::Exclusive, "src/http.rs:7", waited);
        let made = made.waits(task(6, None), Access::Exclusive, "src/http.rs:8", 300);
        let made = made.lock(0xc0, kind, None);
        made.waits(thread(4, "loader"), Access::Notification, "src/load.rs:9", waits)
    };
    let line = |made: &Made| {
        let found = waits(&made.0);
        assert!(!found.iter().any(|found| found.is_fault()));
        found.iter().map(ToString::to_string).find(|text| text.starts_with("a holder waits"))
    };
    let expected = "\
a holder waits: thread \"loader\" holds Mutex<Cache>, taken at src/load.rs:2, and waits 12 s for a
  notify of Event at 0xc0 at src/load.rs:9; 2 wait for Mutex<Cache>, longest 11 s at src/http.rs:7";
    let long = [15_000, 12_000, 11_000];
    assert_eq!(line(&stuck(LockKind::Event, long)).as_deref(), Some(expected));
    let of_condvar = expected.replace("Event", "Condvar");
    let of_condvar = line(&stuck(LockKind::Condvar, long))
        .map(|text| text.replace("\n ", "") == of_condvar.replace("\n ", ""));
    assert_eq!(of_condvar, Some(true));
    let sent = stuck(LockKind::Event, long).but_held(|holder| holder.sent_away = true);
    for (says, made) in [
        ("its guard is elsewhere", sent),
        ("it has acquired the lock since", stuck(LockKind::Condvar, [11_500, 12_000, 11_000])),
        ("it has not waited long", stuck(LockKind::Event, [15_000, 9_000, 11_000])),
        ("nobody has waited long", stuck(LockKind::Event, [15_000, 12_000, 9_000])),
        ("a word of memory may be anything", stuck(LockKind::Word, long)),
    ] {
        assert_eq!(line(&made), None, "{says}");
    }
}

#[test]
fn threads_of_one_name_have_numbers() {
    let [one, other] = [thread(7, "worker"), thread(9, "worker")];
    let expected = "\
deadlock: 2 members, youngest wait 1.2 s
  thread \"worker\" 9  waits 1.2 s for Mutex<Ledger> at src/audit.rs:19
                     holds 1.3 s     Mutex<Accounts>, taken at src/audit.rs:17
  thread \"worker\" 7  waits 1.2 s for Mutex<Accounts> at src/pay.rs:41
                     holds 1.3 s     Mutex<Ledger>, taken at src/pay.rs:38";
    let made = abba(one.clone(), other);
    assert_eq!(made.cycles(), [expected]);
    let listed = made.0.describe(&made.0.locks[0], 10);
    let expected = "\
Mutex<Accounts> at 0xa0: 1 waiter
    1.3 s  held by thread \"worker\" 9, taken at src/audit.rs:17
    1.2 s  thread \"worker\" 7  src/pay.rs:41
";
    assert_eq!(listed, expected);
    let alone = abba(one, thread(9, "other"));
    assert!(!alone.cycles()[0].contains("\"worker\" 7"), "{:?}", alone.cycles());
}

#[test]
fn a_waiter_with_a_deadline_says_so() {
    let made = Made::new().lock(0xa0, LockKind::RwLock, None);
    let made = made.waits(thread(1, "w"), Access::Exclusive, "src/a.rs:1", 200);
    let made = made.but(|waiter| (waiter.timed, waiter.state) = (Some(true), State::Signalled));
    let listed = made.0.describe(&made.0.locks[0], 10);
    assert!(
        listed.ends_with("   200 ms  thread \"w\"  src/a.rs:1, to write, with a deadline, signalled\n"),
        "{listed}"
    );
}

#[test]
fn waits_for_a_notify_that_was_sent_before_or_by_nobody() {
    let mut made = Made::new().lock(0xc0, LockKind::Condvar, None);
    for (id, age) in [(1, 61_000), (2, 40_000), (3, 10)] {
        made = made.waits(thread(id, "worker"), Access::Notification, "src/q.rs:25", age);
    }
    let expected = "\
Condvar at 0xc0: 3 waiters, longest 61 s (src/q.rs:25); not notified since observation began, 60 min
  ago";
    assert_eq!(made.waits_found(), [expected]);
    for (woken, says) in [(0, "found no waiter"), (2, "woke 2")] {
        made.0.locks[0].notified = Some(Deed {
            actor: thread(9, "producer"),
            site: site("src/q.rs:31"),
            ago: Duration::from_secs(64),
            woken: Some(woken),
        });
        let expected = format!(
            "\
Condvar at 0xc0: 3 waiters, longest 61 s (src/q.rs:25); last notified by thread \"producer\" at
  src/q.rs:31, 64 s ago, {says}"
        );
        assert_eq!(made.waits_found(), [expected]);
        assert!(!waits(&made.0)[0].is_fault(), "a worker may wait for work");
    }
    made.0.locks[0].notified = None;
    let unknown = "Condvar at 0xc0: 3 waiters, longest 61 s (src/q.rs:25); no notifier is known";
    made.0.recording.as_mut().unwrap().lost_notifies = 1;
    assert_eq!(made.waits_found(), [unknown], "it may be the one that was lost");
    let recording = made.0.recording.take();
    assert_eq!(made.waits_found(), [unknown]);
    made.0.recording = recording.map(|recording| Recording { lost_notifies: 0, ..recording });
    made.0.locks[0].name.kind = LockKind::Word;
    assert_eq!(
        made.waits_found(),
        [unknown.replace("Condvar", "word")],
        "notifies of words are not recorded"
    );
}

#[test]
fn long_waits_are_counted_by_site() {
    let mut made = Made::new().lock(0xc0, LockKind::Mutex, Some("Mutex<Cache>"));
    for (at, age) in [("a", 2_970), ("a", 2_000), ("a", 999), ("b", 1_000), ("b", 5)] {
        made = made.waits(thread(age, "http"), Access::Exclusive, &format!("src/{at}.rs:7"), age);
    }
    let expected = [
        "long wait: 2 waiters for Mutex<Cache> at src/a.rs:7, longest 2.9 s",
        "long wait: 1 waiter for Mutex<Cache> at src/b.rs:7, longest 1.0 s",
    ];
    assert_eq!(made.waits_found(), expected);
}
