//! What is to be read when something is stuck.

use std::time::Duration;

use waitword_observe::{Access, Actor, Deed, LockKind, Recording, State, waits};

use crate::{Made, abba, site, task, thread};

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
            "task 14 \"flush\" has another way on (timeout, select!)",
        ),
        (of_scripts(agent), "worker.js has other jobs"),
        (
            threads().but_held(|holder| holder.sent_away = true),
            "the guard acquired by thread \"alpha\" is elsewhere",
        ),
        // Where it is not known whether there is a deadline, the report does not claim that there is none.
        (threads().but(|waiter| waiter.timed = None), "the wait of thread \"beta\" has a deadline"),
    ] {
        let [cycle] = &made.found()[..] else { panic!("{unless}") };
        let text = cycle.to_string();
        assert!(text.starts_with("cycle: 2 members, since 1.2 s\n"), "{text}");
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
    assert!(found[0].starts_with("deadlock: 4 members, since 1.0 s\n"), "{}", found[0]);
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
    let cases =
        [(true, "executor blocked", "has to poll"), (false, "executor may be blocked", "polled last")];
    for (only_there, says, polls) in cases {
        let made = Made::new()
            .lock(0xa0, LockKind::Mutex, Some("Mutex<S>"))
            .waits(main.clone(), Access::Exclusive, "src/api.rs:12", 1_000)
            .held(held_by.clone(), Access::Exclusive, "src/api.rs:30", 1_100)
            .polled(held_by.clone(), main.clone(), only_there);
        let expected = format!(
            "\
{says}: thread \"main\" waits 1.0 s at src/api.rs:12 for Mutex<S>, held by task 3
  (src/api.rs:30), which this thread {polls}; use lock_async or forbid_blocking"
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
executor blocked: 3 members, since 1.0 s
  thread \"main\"  waits 1.0 s for Mutex at 0xa0 at src/a.rs:1
                 has to poll task 4
  task 3         waits 1.0 s for Mutex at 0xb0 at src/a.rs:3
                 holds 1.1 s     Mutex at 0xa0, taken at src/a.rs:2
  task 4         has to be polled by thread \"main\"
                 holds 1.2 s     Mutex at 0xb0, taken at src/a.rs:4
blocked unless task 3 has another way on (timeout, select!)";
    assert_eq!(made.cycles(), [expected]);
}

#[test]
fn a_read_within_a_read_behind_a_writer() {
    let made = Made::new()
        .lock(0xe0, LockKind::RwLock, Some("RwLock<Routes>"))
        .held(thread(1, "r"), Access::Shared, "a.rs:7", 3_000)
        .waits(thread(2, "w"), Access::Exclusive, "b.rs:4", 2_000)
        .waits(thread(3, "other"), Access::Shared, "c.rs:1", 1_900)
        .waits(thread(1, "r"), Access::Shared, "a.rs:9", 1_500);
    let expected = "\
deadlock: thread \"r\" waits 1.5 s for a read of RwLock<Routes> at a.rs:9 behind thread \"w\" (b.rs:4),
  which waits for the read that thread \"r\" took at a.rs:7; use try_read_recursive";
    assert_eq!(made.cycles(), [expected]);
}

/// A signalled waiter that may be only late is a fact. Nor is it a long wait, whose holder one would look for: there is none. A thread that is
/// not scheduled is no futurelock.
#[test]
fn a_signalled_task_that_nobody_polls() {
    let long = "long wait: 1 for Mutex at 0xd0 at src/db.rs:88, longest 60 s";
    let late = "signalled, has not run: task 7 waits 60 s for Mutex at 0xd0 at src/db.rs:88; a futurelock if it\n  stays so; 2 behind it";
    let fault = "\
never polled (futurelock): task 7 waits 3.9 s for Mutex at 0xd0 at src/db.rs:88; it was signalled,
  did not run and was skipped; 2 behind it";
    for (actor, state, age, says) in [
        (task(7, None), State::Queued, 60_000, Some(long)),
        (task(7, None), State::Signalled, 60_000, Some(late)),
        (task(7, None), State::Overdue, 60_000, Some(late)),
        (thread(7, "gc"), State::Skipped, 60_000, Some(long)),
        (task(7, None), State::Skipped, 3_900, Some(fault)),
        // Its executor may be busy.
        (task(7, None), State::Skipped, 900, None),
    ] {
        let made = Made::new()
            .lock(0xd0, LockKind::Mutex, None)
            .waits(actor, Access::Exclusive, "src/db.rs:88", age)
            .but(|waiter| waiter.state = state)
            .waits(thread(3, "gc"), Access::Exclusive, "src/gc.rs:5", 400)
            .waits(task(8, None), Access::Exclusive, "src/db.rs:90", 300);
        assert_eq!(made.waits_found(), Vec::from_iter(says));
        assert_eq!(waits(&made.0).iter().any(|found| found.is_fault()), says == Some(fault));
    }
}

#[test]
fn waits_for_a_notify_that_was_sent_before_or_by_nobody() {
    let mut made = Made::new().lock(0xc0, LockKind::Condvar, None);
    for (id, age) in [(1, 61_000), (2, 40_000), (3, 10)] {
        made = made.waits(thread(id, "worker"), Access::Notification, "src/q.rs:25", age);
    }
    let expected = "\
Condvar at 0xc0: 3 wait, longest 61 s (src/q.rs:25); nobody has notified it since observation began,
  60 min ago";
    assert_eq!(made.waits_found(), [expected]);
    for (woken, says) in [(0, "found nobody"), (2, "woke 2")] {
        made.0.locks[0].notified = Some(Deed {
            actor: thread(9, "producer"),
            site: site("src/q.rs:31"),
            ago: Duration::from_secs(64),
            woken: Some(woken),
        });
        let expected = format!(
            "\
Condvar at 0xc0: 3 wait, longest 61 s (src/q.rs:25); last notified by thread \"producer\" at
  src/q.rs:31, 64 s ago, {says}"
        );
        assert_eq!(made.waits_found(), [expected]);
        assert!(!waits(&made.0)[0].is_fault(), "a worker may wait for work");
    }
    made.0.locks[0].notified = None;
    let unknown = "Condvar at 0xc0: 3 wait, longest 61 s (src/q.rs:25); nobody is known who could notify";
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
        "long wait: 2 for Mutex<Cache> at src/a.rs:7, longest 2.9 s",
        "long wait: 1 for Mutex<Cache> at src/b.rs:7, longest 1.0 s",
    ];
    assert_eq!(made.waits_found(), expected);
}
