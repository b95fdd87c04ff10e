//! What the table keeps, and what it does when there is no more. Counted per thread, so that tests may run side by side.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::AtomicU32;
use std::task::{Context, Waker};

use waitword_core::*;

struct Counting;

thread_local! {
    /// Bytes that this thread allocated and has not freed.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static REFUSES: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: hands everything to the system's allocator, or refuses.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if REFUSES.get() {
            return std::ptr::null_mut();
        }
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

const CROWD: usize = 10_000;

/// Nothing stays allocated for a word without waiters, however its last waiter left.
#[test]
fn the_table_shrinks_back_after_a_crowd() {
    let words: Vec<AtomicU32> = (0..CROWD as u32).map(AtomicU32::new).collect();
    for shards in [1, 8] {
        let table = Table::with_shards(shards);
        let before = LIVE.get();
        for way in ["notified", "notified backwards", "cancelled", "dropped"] {
            let mut waits = crowd(&table, &words);
            let boxes = LIVE.get();
            enter(&mut waits);
            let grown = LIVE.get() - boxes;
            assert!(grown >= (CROWD / 2 * size_of::<usize>()) as isize, "grew by {grown} bytes only");
            match way {
                "notified" => words.iter().for_each(|word| assert_eq!(notify_all(table.at(word)), 1)),
                "notified backwards" => {
                    words.iter().rev().for_each(|word| assert_eq!(notify_one(table.at(word)), 1));
                }
                "cancelled" => {
                    for wait in &mut waits {
                        assert_eq!(wait.as_mut().cancel(), Cancelled::BeforeNotify);
                    }
                }
                _ => (),
            }
            drop(waits);
            assert_eq!(LIVE.get() - before, 0, "{way}");
        }
    }
}

/// More buckets are a matter of speed; without the memory for them the waiters still wait and are found.
#[test]
fn without_memory_the_table_is_slower_and_right() {
    let words: Vec<AtomicU32> = (0..500).map(AtomicU32::new).collect();
    let table = Table::with_shards(1);
    let mut waits = crowd(&table, &words);
    REFUSES.set(true);
    enter(&mut waits);
    let woken: usize = words.iter().map(|word| notify_one(table.at(word))).sum();
    REFUSES.set(false);
    assert_eq!(woken, words.len());
    for wait in &mut waits {
        assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    }
}

type Wait<'a> = Pin<Box<WaitAsync<At<'a, AtomicU32>>>>;

fn crowd<'a>(table: &'a Table, words: &'a [AtomicU32]) -> Vec<Wait<'a>> {
    (0..).zip(words).map(|(value, word)| Box::pin(wait_async(table.at(word), value))).collect()
}

fn enter(waits: &mut [Wait<'_>]) {
    for wait in waits {
        assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
}
