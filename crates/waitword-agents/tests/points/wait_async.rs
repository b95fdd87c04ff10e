//! Promises: points 33 to 38. What they look like is the engine's business.

use std::sync::mpsc;
use std::thread;

use waitword_agents::*;
use waitword_core::notify_all;

use crate::common::*;

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
