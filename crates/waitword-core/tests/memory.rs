//! What is allocated: nothing by a wait, little by the table; and what it does when there is no more.

#[path = "common/counting.rs"]
mod counting;

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32};
use std::task::{Context, Waker};
use std::time::Duration;

use counting::live;
use waitword_core::*;

const CROWD: usize = 10_000;

/// Nothing stays allocated for a word without waiters, however its last waiter left.
#[test]
fn the_table_shrinks_back_after_a_crowd() {
    let words: Vec<AtomicU32> = (0..CROWD as u32).map(AtomicU32::new).collect();
    for shards in [1, 8] {
        let table = Table::with_shards(shards);
        let before = live();
        for way in ["notified", "notified backwards", "cancelled", "dropped"] {
            let mut waits = crowd(&table, &words);
            let boxes = live();
            enter(&mut waits);
            let grown = live() - boxes;
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
            assert_eq!(live() - before, 0, "{way}");
        }
    }
}

/// More buckets are a matter of speed; without the memory for them the waiters still wait and are found.
#[test]
fn without_memory_the_table_is_slower_and_right() {
    let words: Vec<AtomicU32> = (0..500).map(AtomicU32::new).collect();
    let table = Table::with_shards(1);
    let mut waits = crowd(&table, &words);
    let mut woken = 0;
    counting::without_memory(|| {
        enter(&mut waits);
        woken = words.iter().map(|word| notify_one(table.at(word))).sum();
    });
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
    let before = counting::allocations();
    all();
    assert_eq!(counting::allocations() - before, 0);
}
