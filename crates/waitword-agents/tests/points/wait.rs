//! Waits that block, points 7, 23 to 25 and 27; and promises, points 33 to 38, whose look is the engine's business.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use waitword_agents::*;
use waitword_core::{notify_all, notify_one};

use crate::common::*;

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

/// Whether the notify wins is open; that both say the same is not.
#[test]
fn point_23_a_timeout_of_zero_ends_at_once_beside_notifies() {
    let block = block();
    let running = AtomicUsize::new(1);
    thread::scope(|scope| {
        let notifier = scope.spawn(|| {
            let mut counted = 0;
            while running.load(Ordering::SeqCst) == 1 {
                counted += notify_one(block.i32(0).unwrap());
            }
            counted
        });
        let agent = quiet(true);
        let mut oks = 0;
        for _ in 0..2_000 {
            match agent.wait(&block, 0, Expected::I32(0), ZERO) {
                Ok(Outcome::Notified) => oks += 1,
                other => assert_eq!(other, Ok(Outcome::TimedOut)),
            }
        }
        running.store(0, Ordering::SeqCst);
        assert_eq!(notifier.join().unwrap(), oks);
    });
}

#[test]
fn point_24_nothing_but_a_notify_or_the_deadline_wakes() {
    let block = block();
    thread::scope(|scope| {
        let (handle, thread) = blocked(scope, &block, 0, Timeout::Never);
        for round in 0..2_000 {
            thread.thread().unpark();
            handle.ring();
            if round % 100 == 0 {
                // Others on the same word come and go, and other words are notified.
                let _ = quiet(true).wait(&block, 0, Expected::I32(0), Timeout::from_millis(0.01));
                notify_all(block.i32(4).unwrap());
                thread::yield_now();
            }
        }
        assert!(!thread.is_finished());
        assert_eq!(notify_all(block.i32(0).unwrap()), 1);
        assert_eq!(thread.join().unwrap(), Ok(Outcome::Notified));
    });
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
    // On a slow machine the one that was made later may be due later.
    let deadlines = [1, 2].map(|place| agent.pending()[place].deadline.unwrap());
    let in_order = if deadlines[1] < deadlines[0] { [sooner, soon] } else { [soon, sooner] };
    until(|| deadlines.into_iter().all(|deadline| deadline <= Instant::now()));
    assert_eq!(agent.expire_due(Instant::now()), 2);
    let timed_out = |id| Settled { id, outcome: Outcome::TimedOut };
    assert_eq!(agent.drain_settled().collect::<Vec<_>>(), in_order.map(timed_out));
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

/// Every wait of any kind ends exactly once, whatever terminates, times out or notifies meanwhile.
#[test]
fn point_25_the_sum_of_all_notifies_is_the_number_of_oks() {
    const AGENTS: usize = 4;
    const ROUNDS: usize = 2_000;
    let block = SharedBlock::new(8).unwrap();
    let (oks, counted, running) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(AGENTS));
    thread::scope(|scope| {
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

#[test]
fn point_27_a_wait_never_ends_before_its_timeout() {
    let block = block();
    let agent = quiet(true);
    for microseconds in (1..2_000).step_by(97) {
        let timeout = Duration::from_micros(microseconds);
        let start = Instant::now();
        let milliseconds = Timeout::from_millis(microseconds as f64 / 1e3);
        assert_eq!(agent.wait(&block, 0, Expected::I32(0), milliseconds), Ok(Outcome::TimedOut));
        assert!(start.elapsed() >= timeout, "{:?} of {timeout:?}", start.elapsed());
        let id = pending(&agent, &block, 0, Expected::I32(0), milliseconds);
        let due = agent.next_deadline().unwrap();
        assert!(due >= Instant::now() || start.elapsed() >= 2 * timeout);
        assert_eq!(agent.expire_due(due - Duration::from_nanos(1)), 0);
        until(|| Instant::now() >= due);
        assert_eq!(agent.expire_due(due), 1);
        let settled: Vec<_> = agent.drain_settled().collect();
        assert_eq!(settled, [Settled { id, outcome: Outcome::TimedOut }]);
    }
}

#[test]
fn point_33_a_wait_that_fails_leaves_nothing_in_the_queue() {
    let block = block();
    let agent = quiet(true);
    for at in [1, 4, 16, usize::MAX - 7] {
        assert!(agent.wait_async(&block, at, Expected::I64(0), MINUTE).is_err(), "{at}");
    }
    assert_eq!(agent.wait_async(&block, 0, Expected::I64(1), MINUTE), Ok(AsyncWait::NotEqual));
    assert!(agent.pending().is_empty() && agent.next_deadline().is_none());
    for at in [0, 4, 8, 12] {
        assert_eq!(notify_all(block.i32(at).unwrap()), 0);
    }
}

#[test]
fn point_37_a_blocked_agent_has_promises_and_they_settle_when_it_is_back() {
    let block = block();
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let agent = quiet(true);
            let ids = [8, 8, 0, 4].map(|at| pending_at(&agent, &block, at));
            assert!(!agent.has_settled());
            let outcome = agent.wait(&block, 0, Expected::I32(0), Timeout::Never);
            // Its own promise at the same word came before its wait there.
            assert_eq!(drained(&agent), [ids[0], ids[1], ids[2]]);
            send.send(agent.pending().len()).unwrap();
            assert_eq!(notified(&agent, &block, 4, 1), [ids[3]]);
            outcome
        });
        until(|| waiters(&block, 0) == 2);
        assert_eq!(notify_all(block.i32(8).unwrap()), 2);
        assert!(!thread.is_finished());
        assert_eq!(notify_all(block.i32(0).unwrap()), 2);
        assert_eq!(thread.join().unwrap(), Ok(Outcome::Notified));
    });
    assert_eq!(receive.recv(), Ok(1));
}
