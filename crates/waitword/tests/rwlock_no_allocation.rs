//! No wait for the readers-writer lock allocates.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use common::far;
use waitword::{RwLock, RwLockUpgradableReadGuard};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all is left to the system's allocator; counting allocates nothing and cannot unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on, and it was `System` that allocated.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn no_wait_allocates() {
    let lock = RwLock::new(0);
    let mut cx = Context::from_waker(Waker::noop());
    let mut waits = || {
        let held = lock.write();
        {
            let mut reader = pin!(lock.read_async());
            assert!(reader.as_mut().poll(&mut cx).is_pending());
            let mut dropped = pin!(lock.write_async_until(far()));
            assert!(dropped.as_mut().poll(&mut cx).is_pending());
            drop(held);
            assert!(reader.as_mut().poll(&mut cx).is_ready());
        }
        let reader = lock.read();
        let mut upgrade = pin!(RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read()));
        assert!(upgrade.as_mut().poll(&mut cx).is_pending());
        drop(reader);
        let Poll::Ready(writer) = upgrade.as_mut().poll(&mut cx) else { panic!("the reader has left") };
        drop(writer);
    };
    // The first starts the timer's thread.
    waits();
    let before = ALLOCATIONS.get();
    waits();
    assert_eq!(ALLOCATIONS.get() - before, 0);
}
