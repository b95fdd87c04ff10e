//! An allocator that counts what each thread allocates, so that tests may run side by side.
#![allow(dead_code, reason = "each test file uses another part")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static REFUSES: Cell<bool> = const { Cell::new(false) };
}

/// How often this thread has allocated so far.
pub(crate) fn allocations() -> usize {
    ALLOCATIONS.get()
}

/// Bytes that this thread has allocated and not freed.
pub(crate) fn live() -> isize {
    LIVE.get()
}

/// Runs something without any memory for this thread.
pub(crate) fn without_memory(run: impl FnOnce()) {
    REFUSES.set(true);
    run();
    REFUSES.set(false);
}

struct Counting;

// SAFETY: hands everything to the system's allocator, or refuses; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if REFUSES.get() {
            return std::ptr::null_mut();
        }
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
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
