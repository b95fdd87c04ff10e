//! The instructions of WebAssembly: points 54 and 55.

use std::thread;

use waitword_agents::*;

use crate::common::*;

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
