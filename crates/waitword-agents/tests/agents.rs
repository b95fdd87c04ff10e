//! What agents promise beyond what scripts may observe (`points.rs`).

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use waitword_agents::*;
use waitword_core::notify_all;

use common::*;

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

/// A panic cuts a notify short between the waits that it has settled and those that it has not. The event loop that caught it
/// asks `has_settled` before it sleeps, and no doorbell rings for an agent's own notify.
#[test]
fn own_waits_that_a_panic_left_behind_are_not_forgotten() {
    let block = SharedBlock::new(8).unwrap();
    let agent = quiet(false);
    let ids: Vec<_> = (0..3).map(|_| pending_at(&agent, &block, 0)).collect();
    let notify = || agent.notify(&block, 0, 3, |_| panic!("on purpose"));
    assert!(catch_unwind(AssertUnwindSafe(notify)).is_err());
    assert!(agent.has_settled());
    assert_eq!(agent.drain_settled().map(|settled| settled.id).collect::<Vec<_>>(), ids[1..]);
    assert!(!agent.has_settled());
}

#[test]
fn a_block_grows_to_its_maximum_and_never_shrinks() {
    let block = SharedBlock::growable(8, 64).unwrap();
    assert_eq!(block.grow(64), Ok(()));
    assert_eq!(block.grow(63), Err(GrowError::Shrinks { new_len: 63, len: 64 }));
    assert_eq!(block.grow(65), Err(GrowError::BeyondMaximum { new_len: 65, max_len: 64 }));
    assert_eq!(SharedBlock::new(8).unwrap().grow(8), Err(GrowError::Fixed));
}

#[test]
fn a_wait_keeps_its_block() {
    let agent = quiet(false);
    let block = SharedBlock::new(8).unwrap();
    let word = block.i32(0).unwrap();
    let id = pending_at(&agent, &block, 0);
    drop((block, word));
    let [wait] = agent.pending()[..] else { panic!() };
    assert_eq!((wait.id, wait.byte_index, wait.deadline), (id, 0, None));
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
            2 => assert_eq!(waitword_core::notify_all(block.i32(0).unwrap()), 1),
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
