//! What an agent keeps: it allocates and frees on its own thread.

#[path = "../../waitword-core/tests/common/counting.rs"]
mod counting;

use counting::live;
use waitword_agents::*;

/// Rule 7: a crowd of promises that came and went leaves no memory behind, in the agent or in the block's table.
#[test]
fn an_agent_gives_back_the_memory_of_a_crowd() {
    let block = SharedBlock::new(4 * 10_000).unwrap();
    let agent = Agent::new(false, || {});
    let crowd = |size: usize| {
        for word in 0..size {
            let wait = agent.wait_async(&block, 4 * word, Expected::I32(0), Timeout::from_millis(1e9));
            assert!(matches!(wait, Ok(AsyncWait::Pending(_))));
        }
        let live = live();
        for word in 0..size {
            assert_eq!(agent.notify(&block, 4 * word, 1, |_| ()), Ok(1));
        }
        live
    };
    crowd(10);
    let before = live();
    assert!(crowd(10_000) > before + 500_000);
    let kept = live() - before;
    assert!(kept < 4_096, "{kept} bytes are kept for nothing");
}
