//! Agents from outside, without an engine. The numbers are those of `docs/observable.md`.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use waitword_agents::*;
use waitword_core::{notify_all, notify_one, wait};

const MINUTE: Timeout = Timeout::After(Duration::from_secs(60));

#[test]
fn point_12_13_one_queue_per_block_and_byte() {
    let block = SharedBlock::new(16).unwrap();
    let agent = quiet(false);
    let long = pending(&agent, &block, 8, Expected::I64(0), Timeout::Never);
    let short = pending(&agent, &block, 8, Expected::I32(0), Timeout::Never);
    let high = pending(&agent, &block, 12, Expected::I32(0), Timeout::Never);
    let other = SharedBlock::new(16).unwrap();
    assert_eq!(agent.notify(&other, 8, usize::MAX, |_| panic!()).unwrap(), 0);
    assert_eq!(notified(&agent, &block, 8, usize::MAX), [long, short]);
    assert_eq!(notified(&agent, &block, 12, usize::MAX), [high]);
}

#[test]
fn point_14_waiters_survive_a_grow() {
    let block = SharedBlock::growable(8, 64).unwrap();
    let agent = quiet(false);
    assert!(agent.wait_async(&block, 8, Expected::I32(0), MINUTE).is_err());
    let before = pending(&agent, &block, 4, Expected::I32(0), Timeout::Never);
    block.grow(64).unwrap();
    let after = pending(&agent, &block, 60, Expected::I32(0), Timeout::Never);
    assert_eq!(notified(&agent, &block, 4, 1), [before]);
    assert_eq!(notified(&agent, &block, 60, 1), [after]);
    assert_eq!(block.grow(63), Err(GrowError::Shrinks { new_len: 63, len: 64 }));
    assert_eq!(block.grow(65), Err(GrowError::BeyondMaximum { new_len: 65, max_len: 64 }));
    assert_eq!(SharedBlock::new(8).unwrap().grow(8), Err(GrowError::Fixed));
}

#[test]
fn point_22_30_31_what_a_wait_is_at_once() {
    let block = SharedBlock::new(8).unwrap();
    let agent = quiet(true);
    let zero = Timeout::from_millis(0.0);
    assert_eq!(agent.wait(&block, 0, Expected::I32(1), zero), Ok(Outcome::NotEqual));
    assert_eq!(agent.wait(&block, 0, Expected::I64(0), zero), Ok(Outcome::TimedOut));
    assert_eq!(agent.wait_async(&block, 0, Expected::I32(1), zero), Ok(AsyncWait::NotEqual));
    assert_eq!(agent.wait_async(&block, 0, Expected::I32(1), MINUTE), Ok(AsyncWait::NotEqual));
    assert_eq!(agent.wait_async(&block, 0, Expected::I64(0), zero), Ok(AsyncWait::TimedOut));
    let denormal = Timeout::from_millis(5e-324);
    assert!(matches!(agent.wait_async(&block, 0, Expected::I64(0), denormal), Ok(AsyncWait::Pending(_))));
}

#[test]
fn point_07_only_an_agent_that_may_block_waits() {
    let block = SharedBlock::new(8).unwrap();
    let agent = quiet(false);
    let wait = |expected| agent.wait(&block, 0, Expected::I32(expected), Timeout::from_millis(0.0));
    // Also when it would not have blocked.
    assert_eq!(wait(1), Err(WaitError::CannotBlock));
    agent.set_can_block(true);
    assert_eq!(wait(0), Ok(Outcome::TimedOut));
    let forbidden = waitword_core::forbid_blocking();
    assert_eq!(wait(0), Err(WaitError::CannotBlock));
    drop(forbidden);
    assert_eq!(wait(1), Ok(Outcome::NotEqual));
}

/// The standard validates the index long before it asks AgentCanSuspend.
#[test]
fn point_07_no_such_word_comes_before_must_not_block() {
    let block = SharedBlock::new(8).unwrap();
    let agent = quiet(false);
    let beyond = agent.wait(&block, 8, Expected::I32(0), MINUTE);
    assert_eq!(beyond, Err(WaitError::Word(WordError::OutOfBounds { byte_index: 8, size: 4, len: 8 })));
    assert_eq!(agent.wait(&block, 4, Expected::I32(0), MINUTE), Err(WaitError::CannotBlock));
}

#[test]
fn point_38_40_own_waits_settle_inside_notify_and_in_order() {
    let block = SharedBlock::new(8).unwrap();
    let agent = quiet(false);
    let ids: Vec<_> =
        (0..100).map(|_| pending(&agent, &block, 0, Expected::I32(0), Timeout::Never)).collect();
    assert_eq!(notified(&agent, &block, 0, 3), ids[..3]);
    // Settled from elsewhere before, drained after: the agent's own overtake (point 42).
    assert_eq!(notify_one(block.i32(0).unwrap()), 1);
    assert_eq!(notified(&agent, &block, 0, usize::MAX), ids[4..]);
    let drained: Vec<_> = agent.drain_settled().collect();
    assert_eq!(drained, [Settled { id: ids[3], outcome: Outcome::Notified }]);
    assert!(agent.pending().is_empty());
}

/// Blocked threads, promises of two agents and a future in one line, notified one by one from outside.
#[test]
fn point_39_41_first_in_first_out_over_agents_and_threads() {
    let block = SharedBlock::new(8).unwrap();
    let word = block.i32(0).unwrap();
    let rung = [Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0))];
    let agents = rung.each_ref().map(|count| {
        let count = Arc::clone(count);
        Agent::new(false, move || {
            count.fetch_add(1, Ordering::SeqCst);
        })
    });
    std::thread::scope(|scope| {
        let mut line = VecDeque::new();
        for place in 0..30 {
            if place % 3 == 2 {
                let word = &word;
                line.push_back((2, None, Some(scope.spawn(move || wait(word, 0)))));
            } else {
                let id = pending(&agents[place % 3], &block, 0, Expected::I32(0), Timeout::Never);
                line.push_back((place % 3, Some(id), None));
            }
            until(|| block.table().waiters(&*word) == place + 1);
        }
        for (who, id, thread) in line {
            assert_eq!(notify_one(&word), 1);
            if let Some(thread) = thread {
                assert_eq!(thread.join().unwrap(), Outcome::Notified);
            } else {
                let settled: Vec<_> = agents[who].drain_settled().collect();
                assert_eq!(settled, [Settled { id: id.unwrap(), outcome: Outcome::Notified }]);
            }
        }
    });
    assert_eq!(rung.map(|count| count.load(Ordering::SeqCst)), [10, 10]);
}

#[test]
fn point_24_27_35_36_deadlines() {
    let block = SharedBlock::new(8).unwrap();
    let agent = quiet(false);
    let start = Instant::now();
    let wait =
        |milliseconds| pending(&agent, &block, 0, Expected::I32(0), Timeout::from_millis(milliseconds));
    let (late, soon, sooner, never) = (wait(3e7), wait(2.0), wait(1.0), wait(f64::NAN));
    assert_eq!(agent.expire_due(start), 0, "nothing is due before its time");
    let due = agent.next_deadline().unwrap();
    assert!(due >= start + Duration::from_millis(1));
    until(|| agent.pending()[1].deadline.unwrap() <= Instant::now());
    assert_eq!(agent.expire_due(Instant::now()), 2);
    let timed_out = |id| Settled { id, outcome: Outcome::TimedOut };
    assert_eq!(agent.drain_settled().collect::<Vec<_>>(), [timed_out(sooner), timed_out(soon)]);
    assert_eq!(notified(&agent, &block, 0, usize::MAX), [late, never]);
    assert_eq!(agent.next_deadline(), None, "a notified wait has no deadline left");
}

#[test]
fn point_25_a_notify_that_counted_it_beats_the_deadline() {
    let block = SharedBlock::new(8).unwrap();
    let agent = quiet(false);
    let id = pending(&agent, &block, 0, Expected::I32(0), Timeout::from_millis(5e-324));
    let deadline = agent.next_deadline().unwrap();
    assert_eq!(notify_all(block.i32(0).unwrap()), 1);
    until(|| Instant::now() > deadline);
    assert_eq!(agent.expire_due(Instant::now()), 0);
    assert_eq!(agent.drain_settled().collect::<Vec<_>>(), [Settled { id, outcome: Outcome::Notified }]);
}

#[test]
fn point_45_46_a_terminated_agent_leaves_its_queues() {
    let block = SharedBlock::new(8).unwrap();
    let word = block.i32(0).unwrap();
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        let block = &block;
        let blocked = scope.spawn(move || {
            let agent = quiet(true);
            for _ in 0..100 {
                let _ = pending(&agent, block, 0, Expected::I32(0), MINUTE);
            }
            send.send(agent.handle()).unwrap();
            let ended = agent.wait(block, 0, Expected::I32(0), Timeout::Never);
            // Once terminated, it does not block any more.
            assert_eq!(agent.wait(block, 4, Expected::I32(0), MINUTE), Err(WaitError::Terminated));
            ended
        });
        let handle = receive.recv().unwrap();
        until(|| block.table().waiters(&*word) == 101);
        let behind = quiet(false);
        let id = pending(&behind, block, 0, Expected::I32(0), Timeout::Never);
        assert!(!handle.is_terminated());
        handle.terminate();
        assert_eq!(blocked.join().unwrap(), Err(WaitError::Terminated));
        // The dead agent's waits are gone, and the notify reaches the one behind them.
        assert_eq!(notify_one(&word), 1);
        assert_eq!(behind.drain_settled().next().map(|settled| settled.id), Some(id));
        assert_eq!(notify_all(&word), 0);
    });
}

#[test]
fn an_agent_that_ends_with_settled_waits_frees_them() {
    let block = SharedBlock::new(8).unwrap();
    for taken in 0..4 {
        let agent = quiet(false);
        for _ in 0..4 {
            let _ = pending(&agent, &block, 0, Expected::I32(0), MINUTE);
        }
        assert_eq!(notify_all(block.i32(0).unwrap()), 4);
        assert!(agent.has_settled());
        assert_eq!(agent.drain_settled().take(taken).count(), taken);
        drop(agent);
        assert_eq!(notify_all(block.i32(0).unwrap()), 0);
    }
}

/// A panic cuts a notify short between those it has handed over and those it has not. The event loop that caught it
/// asks `has_settled` before it sleeps, and no doorbell rings for an agent's own notify.
#[test]
fn own_waits_that_a_panic_left_behind_are_not_forgotten() {
    let block = SharedBlock::new(8).unwrap();
    let agent = quiet(false);
    let ids: Vec<_> = (0..3).map(|_| pending(&agent, &block, 0, Expected::I32(0), Timeout::Never)).collect();
    let notify = || agent.notify(&block, 0, 3, |_| panic!("on purpose"));
    assert!(catch_unwind(AssertUnwindSafe(notify)).is_err());
    assert!(agent.has_settled());
    assert_eq!(agent.drain_settled().map(|settled| settled.id).collect::<Vec<_>>(), ids[1..]);
    assert!(!agent.has_settled());
}

#[test]
fn a_wait_keeps_its_block() {
    let agent = quiet(false);
    let block = SharedBlock::new(8).unwrap();
    let word = block.i32(0).unwrap();
    let id = pending(&agent, &block, 0, Expected::I32(0), Timeout::Never);
    drop((block, word));
    let [wait] = agent.pending()[..] else { panic!() };
    assert_eq!((wait.id, wait.byte_index, wait.deadline), (id, 0, None));
}

/// Every wait of any kind is told exactly once, whatever terminates, times out or notifies meanwhile.
#[test]
fn the_sum_of_all_notifies_is_the_number_of_oks() {
    const AGENTS: usize = 4;
    const ROUNDS: usize = 2_000;
    let block = SharedBlock::new(8).unwrap();
    let (oks, counted, running) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(AGENTS));
    std::thread::scope(|scope| {
        for agent in 0..AGENTS {
            let (block, oks, counted, running) = (&block, &oks, &counted, &running);
            scope.spawn(move || {
                let agent_of_thread = quiet(true);
                let mut ok = 0;
                for round in 0..ROUNDS {
                    let timeout = Timeout::from_millis((round % 5) as f64 / 20.0);
                    let waits = agent_of_thread.wait(block, 0, Expected::I32(0), timeout);
                    ok += usize::from(waits == Ok(Outcome::Notified));
                    let _ = agent_of_thread.wait_async(block, 0, Expected::I32(0), timeout).unwrap();
                    let count = agent_of_thread.notify(block, 0, (round + agent) % 4, |settled| {
                        ok += usize::from(settled.outcome == Outcome::Notified);
                    });
                    counted.fetch_add(count.unwrap(), Ordering::Relaxed);
                    agent_of_thread.expire_due(Instant::now());
                    ok += agent_of_thread.drain_settled().filter(|s| s.outcome == Outcome::Notified).count();
                }
                while agent_of_thread.next_deadline().is_some() {
                    agent_of_thread.expire_due(Instant::now());
                    ok += agent_of_thread.drain_settled().filter(|s| s.outcome == Outcome::Notified).count();
                }
                oks.fetch_add(ok, Ordering::Relaxed);
                running.fetch_sub(1, Ordering::SeqCst);
            });
        }
        while running.load(Ordering::SeqCst) > 0 {
            counted.fetch_add(notify_one(block.i32(0).unwrap()), Ordering::Relaxed);
        }
    });
    assert_eq!(oks.into_inner(), counted.into_inner());
}

fn quiet(can_block: bool) -> Agent {
    Agent::new(can_block, || {})
}

#[track_caller]
fn pending(agent: &Agent, block: &SharedBlock, at: usize, expected: Expected, timeout: Timeout) -> WaitId {
    match agent.wait_async(block, at, expected, timeout).unwrap() {
        AsyncWait::Pending(id) => id,
        other => panic!("{other:?}"),
    }
}

fn notified(agent: &Agent, block: &SharedBlock, at: usize, count: usize) -> Vec<WaitId> {
    let mut ids = Vec::new();
    let woken = agent.notify(block, at, count, |settled| {
        assert_eq!(settled.outcome, Outcome::Notified);
        ids.push(settled.id);
    });
    assert!(woken.unwrap() >= ids.len());
    ids
}

#[track_caller]
fn until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited for a minute");
        std::thread::yield_now();
    }
}

/// A script that drops its memory with a wait on it can do so for ever: nobody will ever notify that wait.
#[test]
fn waits_on_memory_that_nobody_knows_are_forgotten_and_no_others() {
    let agent = Agent::new(false, || {});
    let kept = SharedBlock::new(4).unwrap();
    let (mut forgotten, mut largest) = (0, 0);
    for round in 0..100_000 {
        let block = SharedBlock::new(8).unwrap();
        let wait = |block, timeout| agent.wait_async(block, 0, Expected::I32(0), timeout).unwrap();
        wait(&block, Timeout::Never);
        match round % 10_000 {
            0 => drop(wait(&kept, Timeout::Never)),
            1 => drop(wait(&block, MINUTE)),
            // Settled, and its block dropped before anybody asks for it.
            2 => assert_eq!(waitword_core::notify_all(&block.i32(0).unwrap()), 1),
            _ => {}
        }
        drop(block);
        forgotten += agent.forget_hopeless().len();
        if round % 1000 == 999 {
            largest = largest.max(agent.pending().len());
        }
    }
    assert!(largest < 2_500, "{largest}");
    assert!(forgotten > 95_000, "{forgotten}");
    assert_eq!(agent.drain_settled().count(), 10);
    let with_deadline = agent.pending().iter().filter(|wait| wait.deadline.is_some()).count();
    assert_eq!(with_deadline, 10);
    assert_eq!(agent.notify(&kept, 0, usize::MAX, |_| {}), Ok(10));
}
