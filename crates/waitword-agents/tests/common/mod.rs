//! What the tests of agents have in common.
#![allow(dead_code)]

use std::sync::mpsc;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use waitword_agents::*;

pub(crate) const MINUTE: Timeout = Timeout::After(Duration::from_secs(60));
pub(crate) const ZERO: Timeout = Timeout::After(Duration::ZERO);

pub(crate) fn quiet(can_block: bool) -> Agent {
    Agent::new(can_block, || {})
}

/// A block of two words of 64 bits.
pub(crate) fn block() -> SharedBlock {
    SharedBlock::new(16).unwrap()
}

#[track_caller]
pub(crate) fn pending(
    agent: &Agent,
    block: &SharedBlock,
    at: usize,
    expected: Expected,
    timeout: Timeout,
) -> WaitId {
    match agent.wait_async(block, at, expected, timeout).unwrap() {
        AsyncWait::Pending(id) => id,
        other => panic!("{other:?}"),
    }
}

/// A wait on a word that holds 0, for ever.
#[track_caller]
pub(crate) fn pending_at(agent: &Agent, block: &SharedBlock, at: usize) -> WaitId {
    pending(agent, block, at, Expected::I32(0), Timeout::Never)
}

/// Notifies, and returns which of the agent's own waits that settled, in order.
pub(crate) fn notified(agent: &Agent, block: &SharedBlock, at: usize, count: usize) -> Vec<WaitId> {
    let mut ids = Vec::new();
    let woken = agent.notify(block, at, count, |settled| {
        assert_eq!(settled.outcome, Outcome::Notified);
        ids.push(settled.id);
    });
    assert!(woken.unwrap() >= ids.len());
    ids
}

/// The waits that come out of the agent's event loop, all of them notified, in order.
#[track_caller]
pub(crate) fn drained(agent: &Agent) -> Vec<WaitId> {
    agent
        .drain_settled()
        .map(|settled| {
            assert_eq!(settled.outcome, Outcome::Notified);
            settled.id
        })
        .collect()
}

pub(crate) fn waiters(block: &SharedBlock, at: usize) -> usize {
    block.table().waiters(&*block.i32(at).unwrap())
}

#[track_caller]
pub(crate) fn until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited for a minute");
        std::thread::yield_now();
    }
}

/// An agent of a thread of its own that is blocked in the queue of a word which holds 0 when this returns.
pub(crate) fn blocked<'scope>(
    scope: &'scope Scope<'scope, '_>,
    block: &'scope SharedBlock,
    at: usize,
    timeout: Timeout,
) -> (AgentHandle, ScopedJoinHandle<'scope, Result<Outcome, WaitError>>) {
    let before = waiters(block, at);
    let (send, receive) = mpsc::channel();
    let thread = scope.spawn(move || {
        let agent = quiet(true);
        send.send(agent.handle()).unwrap();
        agent.wait(block, at, Expected::I32(0), timeout)
    });
    let handle = receive.recv().unwrap();
    until(|| waiters(block, at) > before);
    (handle, thread)
}
