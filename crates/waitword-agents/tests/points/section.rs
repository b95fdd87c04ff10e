//! The critical section: points 16 to 21, and 26.
//!
//! The races themselves are model-checked in the core (`crates/waitword-core/PROTOCOL.md`); what is asked here is whether agents
//! lose anything on the way there.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use waitword_agents::*;
use waitword_core::{notify_all, notify_many};

use crate::common::*;

/// Each round is a race of two agents on words of its own.
const RACES: usize = 5_000;

#[test]
fn point_16_18_a_wait_after_a_plain_store_and_a_notify_sees_the_store() {
    let memory = SharedBlock::new(RACES * 4).unwrap();
    let (enqueued, counted) = race(
        |agent, round| {
            agent.wait_async(&memory, 4 * round, Expected::I32(0), Timeout::Never).unwrap()
                != AsyncWait::NotEqual
        },
        |agent, round| {
            memory.i32(4 * round).unwrap().store(1, Ordering::Relaxed);
            agent.notify(&memory, 4 * round, usize::MAX, |_| panic!("not its own")).unwrap() == 1
        },
    );
    // Each waiter that was enqueued was counted: otherwise it would wait for ever on a value that is gone.
    assert_eq!(enqueued, counted);
}

#[test]
fn point_17_words_are_loaded_whole() {
    let memory = block();
    let torn = Expected::I64(0xffff_ffff);
    race(
        |agent, _| {
            assert_eq!(agent.wait(&memory, 8, torn, ZERO), Ok(Outcome::NotEqual));
            assert_eq!(agent.wait_async(&memory, 8, torn, MINUTE), Ok(AsyncWait::NotEqual));
        },
        |_, round| memory.i64(8).unwrap().store(-((round & 1) as i64), Ordering::Relaxed),
    );
}

/// All that went before a notify is seen after a wait that it woke, which most likely is queued and not asleep yet.
#[test]
fn point_18_26_no_notify_is_lost_and_what_came_before_it_comes_before_the_return_of_the_wait() {
    let memory = block();
    thread::scope(|scope| {
        for value in 1..=200 {
            let (_, thread) = blocked(scope, &memory, 0, Timeout::Never);
            memory.i32(4).unwrap().store(value, Ordering::Relaxed);
            assert_eq!(quiet(false).notify(&memory, 0, 1, |_| ()), Ok(1));
            let woken = thread.join().unwrap();
            assert_eq!(
                (woken, memory.i32(4).unwrap().load(Ordering::Relaxed)),
                (Ok(Outcome::Notified), value)
            );
        }
    });
}

/// Two sections on one word have an order, also when one finds nobody and the other does not wait. So of two agents that
/// each write something before and read the other's after, one sees what the other wrote. (On x86 any locked instruction on the
/// way sees to that, and there are several; the fences of `do_wait.rs` are for machines that promise less.)
#[test]
fn point_19_waits_that_do_not_wait_and_notifies_that_wake_nobody_are_ordered() {
    const WAITER: usize = 0;
    const NOTIFIER: usize = 64;
    const WORD: usize = 128;
    const STRIDE: usize = 192;
    let memory = SharedBlock::new(RACES * STRIDE).unwrap();
    let word = |at| memory.i32(at).unwrap();
    let (seen_by_waiter, seen_by_notifier) = race(
        |agent, round| {
            let at = round * STRIDE;
            let (mine, theirs) = (word(at + WAITER), word(at + NOTIFIER));
            mine.store(1, Ordering::Relaxed);
            let outcome = agent.wait(&memory, at + WORD, Expected::I32((round & 1) as i32), ZERO).unwrap();
            let seen = theirs.load(Ordering::Relaxed);
            assert_eq!(outcome, [Outcome::TimedOut, Outcome::NotEqual][round & 1]);
            seen
        },
        |agent, round| {
            let at = round * STRIDE;
            let (mine, theirs) = (word(at + NOTIFIER), word(at + WAITER));
            let count = [0, 1, usize::MAX][round % 3];
            mine.store(1, Ordering::Relaxed);
            let woken = agent.notify(&memory, at + WORD, count, |_| ());
            let seen = theirs.load(Ordering::Relaxed);
            assert_eq!(woken, Ok(0));
            seen
        },
    );
    let neither = (0..RACES).filter(|&round| seen_by_waiter[round] + seen_by_notifier[round] == 0);
    assert_eq!(neither.collect::<Vec<_>>(), [], "rounds in which neither saw what the other had written");
}

#[test]
fn point_20_nobody_starves() {
    let memory = block();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let agent = quiet(true);
                while !done.load(Ordering::Relaxed) {
                    let _ = agent.wait(&memory, 0, Expected::I32(0), ZERO);
                }
            });
        }
        let agent = quiet(false);
        for _ in 0..1_000 {
            let id = pending_at(&agent, &memory, 0);
            assert_eq!(notified(&agent, &memory, 0, usize::MAX), [id]);
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// What runs in the middle of a notify (a doorbell, what settles the agent's own) is in no critical section: it can enter any.
#[test]
fn point_21_34_nothing_foreign_runs_in_a_critical_section() {
    let (done, finished) = mpsc::channel();
    thread::spawn(move || {
        let memory = block();
        let rung = Arc::new(AtomicUsize::new(0));
        let other = Agent::new(false, {
            let (memory, rung) = (memory.clone(), Arc::clone(&rung));
            move || {
                rung.fetch_add(1, Ordering::Relaxed);
                for at in [0, 4, 8, 12] {
                    notify_many(memory.i32(at).unwrap(), 1);
                }
            }
        });
        let agent = quiet(false);
        for _ in 0..3 {
            pending_at(&agent, &memory, 0);
            pending_at(&other, &memory, 0);
        }
        let mut order = Vec::new();
        let woken = agent.notify(&memory, 0, 2, |settled| {
            order.push(settled.id);
            let again = pending_at(&agent, &memory, 4);
            assert_eq!(notified(&agent, &memory, 4, 1), [again]);
        });
        assert_eq!((woken, order.len(), rung.load(Ordering::Relaxed)), (Ok(2), 1, 1));
        assert_eq!(notify_all(memory.i32(0).unwrap()), 3, "the bell had notified one");
        assert_eq!(rung.load(Ordering::Relaxed), 2);
        done.send(()).unwrap();
    });
    assert_eq!(finished.recv_timeout(Duration::from_secs(60)), Ok(()), "stuck in a section of its own");
}

/// Runs one step of each of two agents per round, as close to each other as two threads can come; what the steps returned.
fn race<A: Send, B: Send>(
    first: impl Fn(&Agent, usize) -> A + Send,
    second: impl Fn(&Agent, usize) -> B + Send,
) -> (Vec<A>, Vec<B>) {
    let reached = [AtomicUsize::new(0), AtomicUsize::new(0)];
    thread::scope(|scope| {
        let other = scope.spawn(|| rounds([&reached[1], &reached[0]], second));
        (rounds([&reached[0], &reached[1]], first), other.join().unwrap())
    })
}

/// One side of a race. It begins a round when the other side has come as far, and its agent ends when both are through.
fn rounds<T>([mine, theirs]: [&AtomicUsize; 2], step: impl Fn(&Agent, usize) -> T) -> Vec<T> {
    let _leaves = Leaves(mine);
    let agent = quiet(true);
    let meet = |round| {
        mine.store(round + 1, Ordering::SeqCst);
        let mut spins = 0;
        while theirs.load(Ordering::SeqCst) <= round {
            spins += 1;
            if spins % 1_000 == 0 { thread::yield_now() } else { std::hint::spin_loop() }
        }
    };
    let one = |round| {
        meet(round);
        step(&agent, round)
    };
    let steps = (0..RACES).map(one).collect();
    meet(RACES);
    steps
}

/// So that nobody waits for a side whose step has failed.
struct Leaves<'a>(&'a AtomicUsize);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.store(usize::MAX, Ordering::SeqCst);
    }
}
