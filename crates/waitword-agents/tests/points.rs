//! What a script may observe and no script can show, for which agents without an engine are needed: errors of this crate, races that have to
//! be close, foreign code in the middle of a notify, threads that do not come back, WebAssembly. The numbers are those of
//! `docs/observable.md`; most of its points are scripts in the tests of `waitword-cli`, and every order of few waiters is in `arrivals.rs`.

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use waitword_agents::*;
use waitword_core::{notify_all, notify_many, notify_one};

use common::*;

/// Also when it would not have blocked. The standard validates the index long before it asks AgentCanSuspend.
#[test]
fn point_07_only_an_agent_that_may_block_waits() {
    let block = SharedBlock::new(8).unwrap();
    let agent = quiet(false);
    let wait = |at, expected| agent.wait(&block, at, Expected::I32(expected), ZERO);
    let beyond = WordError::OutOfBounds { byte_index: 8, size: 4, len: 8 };
    assert_eq!((wait(8, 0), wait(0, 1)), (Err(WaitError::Word(beyond)), Err(WaitError::CannotBlock)));
    agent.set_can_block(true);
    assert_eq!(wait(0, 0), Ok(Outcome::TimedOut));
    let forbidden = waitword_core::forbid_blocking();
    assert_eq!(wait(0, 0), Err(WaitError::CannotBlock));
    drop(forbidden);
    assert_eq!(wait(0, 1), Ok(Outcome::NotEqual));
}

// The critical section. Its races are model-checked in the core (`crates/waitword-core/PROTOCOL.md`); what is asked here is whether agents
// lose anything on the way there.

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
fn point_25_a_notify_that_counted_it_beats_the_deadline() {
    let block = SharedBlock::new(8).unwrap();
    let agent = quiet(false);
    let id = pending(&agent, &block, 0, Expected::I32(0), Timeout::from_millis(5e-324));
    let deadline = agent.next_deadline().unwrap();
    let late = pending(&agent, &block, 0, Expected::I32(0), MINUTE);
    assert_eq!(notify_all(block.i32(0).unwrap()), 2);
    until(|| Instant::now() > deadline);
    assert_eq!(agent.expire_due(Instant::now()), 0);
    assert_eq!(drained(&agent), [id, late]);
    assert_eq!(agent.next_deadline(), None, "a notified wait has no deadline left");
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
fn point_33_44_a_call_that_fails_says_so_and_leaves_nothing_in_the_queue() {
    let block = block();
    let agent = quiet(true);
    for at in [1, 4, 16, usize::MAX - 7] {
        assert!(agent.wait_async(&block, at, Expected::I64(0), MINUTE).is_err(), "{at}");
    }
    assert_eq!(agent.wait_async(&block, 0, Expected::I64(1), MINUTE), Ok(AsyncWait::NotEqual));
    // Also of nobody.
    assert!(agent.notify(&block, 2, 0, |_| ()).is_err() && agent.notify(&block, 16, 0, |_| ()).is_err());
    assert!(agent.pending().is_empty() && agent.next_deadline().is_none());
    for at in [0, 4, 8, 12] {
        assert_eq!(notify_all(block.i32(at).unwrap()), 0);
    }
}

/// Waiters that come while a notify is under way are not its concern, even if they are the agent's own.
#[test]
fn point_43_a_waiter_that_comes_after_the_removal_is_not_woken_by_it() {
    let block = block();
    let agent = quiet(false);
    // More than a notify takes in one stay.
    let first: Vec<_> = (0..100).map(|_| pending_at(&agent, &block, 0)).collect();
    let (mut woken, mut again) = (Vec::new(), Vec::new());
    let counted = agent.notify(&block, 0, usize::MAX, |settled| {
        woken.push(settled.id);
        again.push(pending_at(&agent, &block, 0));
    });
    assert_eq!((counted, woken), (Ok(100), first));
    assert_eq!(notified(&agent, &block, 0, usize::MAX), again);
}

/// Its thread has not come back, and still finds its inbox when it does.
#[test]
fn point_45_an_abandoned_agent_leaves_its_queues_at_once() {
    let block = SharedBlock::new(8).unwrap();
    let word = block.i32(0).unwrap();
    for settled in [0, 1, 3] {
        let agent = quiet(true);
        for _ in 0..100 {
            let _ = pending(&agent, &block, 0, Expected::I32(0), MINUTE);
        }
        let behind = quiet(false);
        let id = pending_at(&behind, &block, 0);
        assert_eq!(notify_many(&word, settled), settled);
        let handle = agent.handle();
        thread::spawn(move || handle.abandon()).join().unwrap();
        assert_eq!((notify_one(&word), drained(&behind)), (1, vec![id]));
        assert_eq!(agent.wait_async(&block, 0, Expected::I32(0), MINUTE), Err(WaitAsyncError::Terminated));
        assert_eq!(agent.wait(&block, 0, Expected::I32(0), MINUTE), Err(WaitError::Terminated));
        assert!(agent.is_terminated() && agent.pending_count() == 0 && agent.next_deadline().is_none());
        assert_eq!(
            (agent.drain_settled().count(), agent.expire_due(Instant::now()), notify_all(&word)),
            (0, 0, 0)
        );
    }
}

/// While its own thread enqueues, settles and notifies: no wait is lost that is anybody else's.
#[test]
fn point_45_an_agent_may_be_abandoned_at_any_time() {
    let block = block();
    let word = block.i32(0).unwrap();
    for round in 0..200 {
        let (send, receive) = mpsc::channel();
        thread::scope(|scope| {
            let block = &block;
            let abandoned = scope.spawn(move || {
                let agent = quiet(true);
                send.send(agent.handle()).unwrap();
                let soon = Timeout::from_millis(0.01);
                while agent.wait_async(block, 0, Expected::I32(0), soon) != Err(WaitAsyncError::Terminated) {
                    agent.expire_due(Instant::now());
                    let _ = agent.notify(block, 0, 1, |_| {});
                    let _ = agent.drain_settled().take(round % 3).count();
                }
                assert!(!agent.has_settled());
            });
            let handle = receive.recv().unwrap();
            (0..round).for_each(|_| _ = notify_one(&word));
            handle.abandon();
            abandoned.join().unwrap();
            let behind = quiet(false);
            let id = pending_at(&behind, block, 0);
            assert_eq!((notify_one(&word), drained(&behind)), (1, vec![id]));
        });
    }
}

/// Before it sleeps or while it sleeps: at whatever time the agent is terminated.
#[test]
fn point_46_51_a_wait_can_be_ended_at_any_time_and_others_learn_of_it() {
    let block = block();
    thread::scope(|scope| {
        for _ in 0..200 {
            let (handle, thread) = blocked(scope, &block, 0, Timeout::Never);
            assert!(!handle.is_terminated());
            handle.clone().terminate();
            assert!(handle.is_terminated());
            assert_eq!(thread.join().unwrap(), Err(WaitError::Terminated));
            assert!(handle.is_terminated(), "also when it is gone");
        }
        assert_eq!(notify_all(block.i32(0).unwrap()), 0);
    });
}

/// A notify that is stuck in somebody's doorbell keeps nobody from the same word.
#[test]
fn point_50_no_agent_blocks_another() {
    let block = block();
    let (release, stuck) = mpsc::channel::<()>();
    let (enters, entered) = mpsc::channel();
    let stuck = Mutex::new(stuck);
    let slow = Agent::new(false, move || {
        enters.send(()).unwrap();
        let _ = stuck.lock().unwrap().recv();
    });
    for _ in 0..1_000 {
        pending_at(&slow, &block, 0);
    }
    thread::scope(|scope| {
        let notifier = scope.spawn(|| quiet(false).notify(&block, 0, usize::MAX, |_| ()));
        entered.recv().unwrap();
        let (done, finished) = mpsc::channel();
        let block = &block;
        scope.spawn(move || {
            let agent = quiet(true);
            assert_eq!(
                agent.wait(block, 0, Expected::I32(0), Timeout::from_millis(1.0)),
                Ok(Outcome::TimedOut)
            );
            let id = pending_at(&agent, block, 0);
            assert_eq!(notified(&agent, block, 0, 1), [id]);
            done.send(()).unwrap();
        });
        let progress = finished.recv_timeout(Duration::from_secs(60));
        drop(release);
        assert_eq!((progress, notifier.join().unwrap()), (Ok(()), Ok(1_000)));
    });
    assert_eq!(drained(&slow).len(), 1_000);
}

#[test]
fn point_54_wait_returns_0_1_or_2() {
    let block = block();
    let memory = LinearMemory::Shared(&block);
    let agent = quiet(true);
    assert_eq!(agent.memory_atomic_wait32(memory, 4, 1, -1), Ok(1));
    assert_eq!(agent.memory_atomic_wait64(memory, 8, 1 << 32, -1), Ok(1));
    assert_eq!(agent.memory_atomic_wait32(memory, 4, 0, 0), Ok(2));
    assert_eq!(agent.memory_atomic_wait64(memory, 8, 0, 1_000), Ok(2));
    thread::scope(|scope| {
        for timeout in [-1, i64::MIN, i64::MAX] {
            let thread = scope.spawn(move || quiet(true).memory_atomic_wait64(memory, 8, 0, timeout));
            until(|| waiters(&block, 8) == 1);
            assert_eq!(agent.memory_atomic_notify(memory, 8, 1, |_| ()), Ok(1));
            assert_eq!(thread.join().unwrap(), Ok(0));
        }
    });
}

#[test]
fn point_54_wait_traps() {
    let block = block();
    let (shared, unshared) = (LinearMemory::Shared(&block), LinearMemory::Unshared { len: 16 });
    let agent = quiet(true);
    let misaligned = |byte_index, size| Err(Trap::Word(WordError::Misaligned { byte_index, size }));
    let beyond = |byte_index, size| Err(Trap::Word(WordError::OutOfBounds { byte_index, size, len: 16 }));
    for memory in [shared, unshared] {
        assert_eq!(agent.memory_atomic_wait32(memory, 2, 0, 0), misaligned(2, 4));
        assert_eq!(agent.memory_atomic_wait64(memory, 4, 0, 0), misaligned(4, 8));
        assert_eq!(agent.memory_atomic_wait32(memory, 16, 0, 0), beyond(16, 4));
        assert_eq!(agent.memory_atomic_wait64(memory, 16, 0, 0), beyond(16, 8));
        for beyond in [u64::MAX - 7, 1 << 32, 1 << 63] {
            assert!(matches!(
                agent.memory_atomic_wait64(memory, beyond, 0, 0),
                Err(Trap::Word(WordError::OutOfBounds { .. }))
            ));
        }
    }
    // Even if it would not have waited.
    assert_eq!(agent.memory_atomic_wait32(unshared, 0, 1, 0), Err(Trap::NotShared));
    agent.set_can_block(false);
    assert_eq!(agent.memory_atomic_wait32(shared, 0, 1, 0), Err(Trap::CannotBlock));
    assert_eq!(agent.memory_atomic_wait32(unshared, 0, 1, 0), Err(Trap::NotShared));
    agent.set_can_block(true);
    agent.handle().terminate();
    assert_eq!(agent.memory_atomic_wait32(shared, 0, 0, -1), Err(Trap::Terminated));
}

#[test]
fn point_55_notify_traps_or_wakes_the_waiters_of_the_word() {
    let block = block();
    let (shared, unshared) = (LinearMemory::Shared(&block), LinearMemory::Unshared { len: 16 });
    let agent = quiet(false);
    for count in [0, 1] {
        for memory in [shared, unshared] {
            for address in [2, 16, u64::MAX - 3] {
                let trap = agent.memory_atomic_notify(memory, address, count, |_| ());
                assert!(matches!(trap, Err(Trap::Word(_))), "{address}: {trap:?}");
            }
        }
        assert_eq!(agent.memory_atomic_notify(unshared, 0, count, |_| ()), Ok(0));
    }
    thread::scope(|scope| {
        let script = blocked(scope, &block, 0, Timeout::Never).1;
        let promise = pending(&agent, &block, 0, Expected::I64(0), Timeout::Never);
        let instruction =
            scope.spawn(|| quiet(true).memory_atomic_wait32(LinearMemory::Shared(&block), 0, 0, -1));
        until(|| waiters(&block, 0) == 3);
        let mut settled = Vec::new();
        assert_eq!(agent.memory_atomic_notify(shared, 0, 2, |wait| settled.push(wait.id)), Ok(2));
        assert_eq!((script.join().unwrap(), settled), (Ok(Outcome::Notified), vec![promise]));
        // And Atomics.notify wakes the instruction.
        assert_eq!(agent.notify(&block, 0, usize::MAX, |_| ()), Ok(1));
        assert_eq!(instruction.join().unwrap(), Ok(0));
    });
}
