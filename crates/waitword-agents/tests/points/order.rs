//! Where waiters stand after a grow, point 14; and the order of notify, points 39 to 44. Every order of few waiters is in
//! `tests/arrivals.rs`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use waitword_agents::*;
use waitword_core::{notify_one, wait};

use crate::common::*;

/// Blocked threads, promises of two agents and a future in one queue, notified one by one from outside.
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
    thread::scope(|scope| {
        let mut queue = VecDeque::new();
        for place in 0..30 {
            if place % 3 == 2 {
                let word = &word;
                queue.push_back((2, None, Some(scope.spawn(move || wait(word, 0)))));
            } else {
                let id = pending(&agents[place % 3], &block, 0, Expected::I32(0), Timeout::Never);
                queue.push_back((place % 3, Some(id), None));
            }
            until(|| block.table().waiters(&*word) == place + 1);
        }
        for (agent, id, thread) in queue {
            assert_eq!(notify_one(&word), 1);
            if let Some(thread) = thread {
                assert_eq!(thread.join().unwrap(), Outcome::Notified);
            } else {
                let settled: Vec<_> = agents[agent].drain_settled().collect();
                assert_eq!(settled, [Settled { id: id.unwrap(), outcome: Outcome::Notified }]);
            }
        }
    });
    assert_eq!(rung.map(|count| count.load(Ordering::SeqCst)), [10, 10]);
}

/// In the order of the notifies, whichever agent notified, and one by one: between two of them the agent can run what it likes.
#[test]
fn point_41_those_of_other_agents_are_jobs_of_their_own() {
    let block = block();
    let [mine, other, third] = [(); 3].map(|()| quiet(false));
    let at = |index| pending_at(&mine, &block, index);
    let (a, b, c, d) = (at(0), at(4), at(0), at(8));
    assert_eq!(other.notify(&block, 4, 1, |_| ()), Ok(1));
    assert_eq!(third.notify(&block, 0, 1, |_| ()), Ok(1));
    let mut jobs = mine.drain_settled().map(|settled| settled.id);
    assert_eq!(jobs.next(), Some(b));
    // What is settled by the job of `b` comes after `a`.
    assert_eq!(other.notify(&block, 8, 1, |_| ()), Ok(1));
    assert_eq!(third.notify(&block, 0, 1, |_| ()), Ok(1));
    assert_eq!(jobs.collect::<Vec<_>>(), [a, d, c]);
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

#[test]
fn point_44_a_count_beyond_the_list_is_fine_and_zero_checks_its_arguments() {
    let block = block();
    let agent = quiet(false);
    let ids = [(); 3].map(|()| pending_at(&agent, &block, 0));
    assert_eq!(notified(&agent, &block, 0, 0), []);
    assert!(agent.notify(&block, 2, 0, |_| ()).is_err() && agent.notify(&block, 16, 0, |_| ()).is_err());
    assert_eq!(notified(&agent, &block, 0, 1 << 30), ids);
    assert_eq!(agent.notify(&block, 0, usize::MAX, |_| ()), Ok(0));
}

#[test]
fn point_14_waiters_survive_a_grow() {
    let block = SharedBlock::growable(8, 64).unwrap();
    let agent = quiet(false);
    assert!(agent.wait_async(&block, 8, Expected::I32(0), MINUTE).is_err());
    let before = pending_at(&agent, &block, 4);
    block.grow(64).unwrap();
    let after = pending_at(&agent, &block, 60);
    assert_eq!(notified(&agent, &block, 4, 1), [before]);
    assert_eq!(notified(&agent, &block, 60, 1), [after]);
    assert_eq!(block.grow(63), Err(GrowError::Shrinks { new_len: 63, len: 64 }));
    assert_eq!(block.grow(65), Err(GrowError::BeyondMaximum { new_len: 65, max_len: 64 }));
    assert_eq!(SharedBlock::new(8).unwrap().grow(8), Err(GrowError::Fixed));
}
