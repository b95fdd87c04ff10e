//! The system's allocator, with a count of the bytes that are allocated.
//!
//! It counts only while it is asked to: two threads that count share a cache line, and contenders that allocate would
//! pay for that in all other workloads.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};

static ON: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicIsize = AtomicIsize::new(0);
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

/// Allocates from the system.
pub(crate) struct Counting;

/// What was allocated since counting began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    /// Bytes allocated and not freed; below zero when more was freed than allocated.
    pub(crate) bytes: isize,
    /// Calls that allocated.
    pub(crate) allocations: usize,
}

/// Runs `work` with counting on. `work` may ask for what was counted so far.
pub(crate) fn counting<R>(work: impl FnOnce(&dyn Fn() -> Counted) -> R) -> R {
    BYTES.store(0, Ordering::SeqCst);
    ALLOCATIONS.store(0, Ordering::SeqCst);
    ON.store(true, Ordering::SeqCst);
    let result = work(&|| Counted {
        bytes: BYTES.load(Ordering::SeqCst),
        allocations: ALLOCATIONS.load(Ordering::SeqCst),
    });
    ON.store(false, Ordering::SeqCst);
    result
}

fn allocated(bytes: usize) {
    if ON.load(Ordering::Relaxed) {
        BYTES.fetch_add(bytes as isize, Ordering::Relaxed);
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

fn freed(bytes: usize) {
    if ON.load(Ordering::Relaxed) {
        BYTES.fetch_sub(bytes as isize, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        freed(layout.size());
        allocated(size);
        // SAFETY: the caller's contract is the same.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        freed(layout.size());
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(block, layout) }
    }
}
