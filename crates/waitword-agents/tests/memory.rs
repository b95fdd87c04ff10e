//! What an agent keeps. Counted per thread: an agent allocates and frees on its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use waitword_agents::*;

struct Counting;

thread_local! {
    /// Bytes that this thread allocated and has not freed.
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: hands everything to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.set(LIVE.get() + layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
        let live = LIVE.get();
        for word in 0..size {
            assert_eq!(agent.notify(&block, 4 * word, 1, |_| ()), Ok(1));
        }
        live
    };
    crowd(10);
    let before = LIVE.get();
    assert!(crowd(10_000) > before + 500_000);
    let kept = LIVE.get() - before;
    assert!(kept < 4_096, "{kept} bytes are kept for nothing");
}
