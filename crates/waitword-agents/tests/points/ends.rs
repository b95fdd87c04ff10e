//! Ends of agents, memory and programs: points 45 to 52.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use waitword_agents::*;
use waitword_core::{notify_all, notify_many, notify_one};

use crate::common::*;

#[test]
fn point_45_46_a_terminated_agent_leaves_its_queues() {
    let block = SharedBlock::new(8).unwrap();
    let word = block.i32(0).unwrap();
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
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
        let id = pending_at(&behind, block, 0);
        assert!(!handle.is_terminated());
        handle.terminate();
        assert_eq!(blocked.join().unwrap(), Err(WaitError::Terminated));
        // The dead agent's waits are gone, and the notify reaches the one behind them.
        assert_eq!((notify_one(&word), drained(&behind)), (1, vec![id]));
        assert_eq!(notify_all(&word), 0);
    });
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

/// Also where others on the same memory, which nothing can end any more, are forgotten.
#[test]
fn point_47_a_crowd_whose_memory_is_gone_ends_at_its_deadlines() {
    const MEMORIES: usize = 3_000;
    let agent = quiet(false);
    let (mut mortal, mut endless, mut forgotten) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..MEMORIES {
        let memory = block();
        endless.push(pending_at(&agent, &memory, 0));
        mortal.push(pending(&agent, &memory, 0, Expected::I32(0), Timeout::from_millis(1.0)));
        drop(memory);
        forgotten.extend(agent.forget_hopeless());
    }
    assert!(!forgotten.is_empty() && forgotten.iter().all(|id| endless.contains(id)));
    while let Some(deadline) = agent.next_deadline() {
        until(|| Instant::now() >= deadline);
        agent.expire_due(Instant::now());
    }
    let settled = agent.drain_settled().inspect(|settled| assert_eq!(settled.outcome, Outcome::TimedOut));
    assert_eq!(settled.map(|settled| settled.id).collect::<Vec<_>>(), mortal);
}

/// A notify that is stuck in somebody's doorbell keeps nobody from the same word.
#[test]
fn point_50_no_agent_blocks_another() {
    let block = block();
    let (release, stuck) = mpsc::channel::<()>();
    let (enters, entered) = mpsc::channel();
    let stuck = std::sync::Mutex::new(stuck);
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
