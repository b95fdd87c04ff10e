//! Where waiters stand: points 12 to 15.

use waitword_agents::*;

use crate::common::*;

#[test]
fn point_12_13_one_queue_per_block_and_byte() {
    let block = SharedBlock::new(16).unwrap();
    let agent = quiet(false);
    let long = pending(&agent, &block, 8, Expected::I64(0), Timeout::Never);
    let short = pending(&agent, &block, 8, Expected::I32(0), Timeout::Never);
    let high = pending(&agent, &block, 12, Expected::I32(0), Timeout::Never);
    let other = SharedBlock::new(16).unwrap();
    assert_eq!(agent.notify(&other, 8, usize::MAX, |_| panic!()).unwrap(), 0);
    assert_eq!(notified(&agent, &block, 8, usize::MAX), [long, short]);
    assert_eq!(notified(&agent, &block, 12, usize::MAX), [high]);
}

#[test]
fn point_14_waiters_survive_a_grow() {
    let block = SharedBlock::growable(8, 64).unwrap();
    let agent = quiet(false);
    assert!(agent.wait_async(&block, 8, Expected::I32(0), MINUTE).is_err());
    let before = pending(&agent, &block, 4, Expected::I32(0), Timeout::Never);
    block.grow(64).unwrap();
    let after = pending(&agent, &block, 60, Expected::I32(0), Timeout::Never);
    assert_eq!(notified(&agent, &block, 4, 1), [before]);
    assert_eq!(notified(&agent, &block, 60, 1), [after]);
    assert_eq!(block.grow(63), Err(GrowError::Shrinks { new_len: 63, len: 64 }));
    assert_eq!(block.grow(65), Err(GrowError::BeyondMaximum { new_len: 65, max_len: 64 }));
    assert_eq!(SharedBlock::new(8).unwrap().grow(8), Err(GrowError::Fixed));
}

#[test]
fn point_15_one_list_for_all_agents_and_several_places_for_each() {
    let block = block();
    let [a, b] = [quiet(false), quiet(false)];
    let queue = [&a, &b, &a, &a, &b].map(|agent| pending_at(agent, &block, 0));
    assert_eq!(waiters(&block, 0), 5);
    assert_eq!(notified(&a, &block, 0, 3), [queue[0], queue[2]]);
    assert_eq!(drained(&b), [queue[1]]);
    assert_eq!(notified(&b, &block, 0, 3), [queue[4]]);
    assert_eq!(drained(&a), [queue[3]]);
}
