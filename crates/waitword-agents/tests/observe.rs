//! What is seen of the words of shared blocks. In a process of its own: a snapshot has handles of all blocks, and an agent forgets no wait on a
//! block that others have.

#![cfg(feature = "observe")]

mod common;

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use waitword_agents::observe::{Actor, Change, Deed, WordSeen, snapshot};
use waitword_agents::{Expected, SharedBlock, Timeout};

use common::*;

fn words_of(block: &SharedBlock) -> Vec<WordSeen> {
    snapshot().into_iter().filter(|word| word.block == *block).collect()
}

#[test]
fn agents_and_threads_of_a_block_are_seen_in_one_queue() {
    let block = SharedBlock::new(64).unwrap();
    let agent = quiet(false);
    let slots = [(); 2].map(|()| pending_at(&agent, &block, 8).slot());
    let word = block.i32(8).unwrap();
    thread::scope(|scope| {
        let blocked = || waitword_core::wait(&word, 0);
        thread::Builder::new().name("host".into()).spawn_scoped(scope, blocked).unwrap();
        until(|| waiters(&block, 8) == 3);
        let words = words_of(&block);
        waitword_core::notify_all(&word);
        let [seen] = &words[..] else { panic!("{words:?}") };
        assert_eq!((seen.byte_index, seen.address()), (8, block.id() + 8));
        let inbox = agent.handle().inbox();
        for (waiter, slot) in seen.waiters.iter().zip(slots) {
            assert_eq!(waiter.token, Some(slot));
            assert!(matches!(waiter.actor, Actor::Agent(agent) if agent == inbox));
        }
        assert!(
            matches!(&seen.waiters[2].actor, Actor::Thread(thread) if thread.name() == Some("host")),
            "{seen:?}"
        );
    });
    assert!(words_of(&block).is_empty());
}

#[test]
fn a_holder_is_seen_while_the_word_is_taken() {
    let block = SharedBlock::new(8).unwrap();
    let agent = quiet(false);
    let word = block.i32(4).unwrap();
    let deed = || Deed { agent: agent.id(), place: None, begun: Instant::now(), done: Instant::now() };
    word.store(1, Ordering::SeqCst);
    block.record_change(4, Change::Swapped { before: 0, after: 1 }, deed());
    assert!(words_of(&block).is_empty(), "without a waiter it may be a flag");
    pending(&agent, &block, 4, Expected::I32(1), Timeout::Never);
    let holder = || words_of(&block)[0].history.holder.as_ref().map(|holder| holder.agent);
    assert_eq!(holder(), Some(agent.id()));
    // Released by somebody who is not recorded: a thread of Rust, say.
    word.store(0, Ordering::SeqCst);
    assert_eq!(holder(), None);
}

#[test]
fn blocks_come_and_go_while_snapshots_are_taken() {
    thread::scope(|scope| {
        let makes = || {
            for _ in 0..2_000 {
                let block = SharedBlock::new(16).unwrap();
                assert_eq!(block.table().waiters(&*block.i32(0).unwrap()), 0);
                assert!(block.number() > 0);
            }
        };
        let makers: Vec<_> = (0..2).map(|_| scope.spawn(makes)).collect();
        while makers.iter().any(|maker| !maker.is_finished()) {
            drop(snapshot());
        }
    });
}
