//! A wait allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicI32, AtomicI64};
use std::task::{Context, Waker};
use std::time::Duration;

use waitword_core::*;

struct Counting;

thread_local! {
    /// This thread's only: the timer and the test harness start threads, which allocate when they come to it.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: hands everything to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn waits_of_every_kind_allocate_nothing() {
    let words: Vec<AtomicI64> = (0..1_000).map(|_| AtomicI64::new(0)).collect();
    let word = AtomicI32::new(0);
    let all = || {
        for word in &words {
            assert_eq!(wait(word, 1), Outcome::NotEqual);
            assert_eq!(wait_for(word, 0, Duration::from_nanos(1)), Outcome::TimedOut);
            let mut cx = Context::from_waker(Waker::noop());
            let mut plain = pin!(wait_async(word, 0));
            let mut timed = pin!(wait_async_for(word, 0, Duration::from_secs(600)));
            let mut dropped = pin!(wait_async_for(word, 0, Duration::from_secs(600)));
            assert!(plain.as_mut().poll(&mut cx).is_pending());
            assert!(timed.as_mut().poll(&mut cx).is_pending());
            assert!(dropped.as_mut().poll(&mut cx).is_pending());
            assert_eq!(dropped.cancel(), Cancelled::BeforeNotify);
            assert_eq!(notify_many(word, 1), 1);
            assert_eq!(notify_all(word), 1);
            assert!(plain.as_mut().poll(&mut cx).is_ready());
            assert!(timed.as_mut().poll(&mut cx).is_ready());
        }
        // A crowd on one word.
        let mut crowd = pin!(std::array::from_fn::<_, 100, _>(|_| wait_async(&word, 0)));
        for place in 0..100 {
            // SAFETY: the array is pinned, and its elements with it.
            let wait = unsafe { crowd.as_mut().map_unchecked_mut(|crowd| &mut crowd[place]) };
            assert!(wait.poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert_eq!(notify_many(&word, 60), 60);
    };
    // The table, the thread's waker and the timer are made once.
    all();
    let before = ALLOCATIONS.get();
    all();
    assert_eq!(ALLOCATIONS.get() - before, 0);
}
