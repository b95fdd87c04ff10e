//! Which public type may go to another thread or be shared: checked by the compiler, `!` included.

#[path = "../../waitword-core/tests/common/is.rs"]
mod is;

use std::sync::atomic::{AtomicI32, AtomicI64};

use waitword_agents::*;

is::auto_traits! {
    // Send, Sync, Unpin
    NO  NO  YES => Agent;
    YES NO  YES => GrowthWatch;
    YES YES YES =>
        AgentHandle, AgentId, SharedBlock, BlockWord<AtomicI32>, BlockWord<AtomicI64>, LinearMemory<'static>,
        AsyncWait, Expected, Timeout, Settled, PendingWait, WaitId,
        BlockError, GrowError, WordError, WaitError, Trap;
}

/// What scripts wait in outlives every borrow of it.
#[test]
fn waits_on_words_of_a_block_are_static() {
    fn has<T: Send + 'static>(_: T) {}
    let word = SharedBlock::new(4).unwrap().i32(0).unwrap();
    has(waitword_core::wait_async(word, 0));
}
