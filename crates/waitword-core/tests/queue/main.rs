//! The queue from outside: order, counts, outcomes, for threads and futures mixed.

#[path = "../common/mod.rs"]
mod common;
mod leaving;
mod signals;

use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use common::{poll, queued, until};
use waitword_core::*;

#[test]
fn every_type_of_word_waits_is_notified_and_is_replaced_whole() {
    fn check<W: Word>(word: &W, held: W::Value, other: W::Value)
    where
        for<'a> &'a W: Location<Word = W>,
    {
        assert_eq!(wait(word, other), Outcome::NotEqual);
        assert_eq!(wait_for(word, held, Duration::ZERO), Outcome::TimedOut);
        let mut waiting = queued(word, held);
        assert_eq!(notify_one(word), 1);
        assert_eq!(poll(waiting.as_mut()), Poll::Ready(Outcome::Notified));
        assert_eq!(Table::global().waiters(word), 0);
        assert_eq!(replace_and_notify_all(word, other, other), Err(held));
        assert_eq!(notify_one_or_replace(word, held, other), Ok(0));
        assert_eq!(replace_and_notify_all(word, other, held), Ok(0));
        assert_eq!(word.load(), held);
    }
    check(&AtomicI32::new(i32::MIN), i32::MIN, -1);
    check(&AtomicU32::new(u32::MAX), u32::MAX, 0);
    check(&AtomicI64::new(i64::MIN), i64::MIN, -1);
    // The upper half is compared too.
    check(&AtomicI64::new(1 << 40), 1 << 40, 0);
    check(&AtomicU64::new(1 << 63), 1 << 63, 0);
}

#[test]
fn views_of_the_same_bytes_share_a_queue() {
    let word = AtomicI64::new(0);
    // The low half on a little-endian machine, the high half otherwise: what counts is the address.
    // SAFETY: in bounds, aligned, and only accessed atomically.
    let half = unsafe { AtomicI32::from_ptr(word.as_ptr().cast()) };
    // SAFETY: as above.
    let other_half = unsafe { AtomicI32::from_ptr(word.as_ptr().cast::<i32>().add(1)) };
    let (mut long, mut short, mut elsewhere) = (queued(&word, 0), queued(half, 0), queued(other_half, 0));
    assert_eq!(notify_one(half), 1);
    assert_eq!(poll(long.as_mut()), Poll::Ready(Outcome::Notified));
    assert!(poll(short.as_mut()).is_pending());
    assert_eq!(notify_all(&word), 1);
    assert_eq!(poll(short.as_mut()), Poll::Ready(Outcome::Notified));
    assert_eq!(notify_all(other_half), 1);
    assert_eq!(poll(elsewhere.as_mut()), Poll::Ready(Outcome::Notified));
}

#[test]
fn tables_are_apart() {
    let word = AtomicI32::new(0);
    let (here, there) = (Table::new(), Table::with_shards(0));
    let _wait = queued(here.at(&word), 0);
    assert_eq!(notify_all(there.at(&word)), 0);
    assert_eq!(notify_all(&word), 0);
    assert_eq!(notify_all(here.at(&word)), 1);
}

#[test]
fn a_stray_unpark_ends_no_wait() {
    let word = AtomicI32::new(0);
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| wait(&word, 0));
        until(|| Table::global().waiters(&word) == 1);
        for _ in 0..100 {
            thread.thread().unpark();
            std::thread::yield_now();
        }
        assert_eq!(Table::global().waiters(&word), 1);
        word.store(1, Ordering::SeqCst);
        thread.thread().unpark();
        assert_eq!(Table::global().waiters(&word), 1, "a store without a notify wakes no waiter");
        assert_eq!(notify_one(&word), 1);
        assert_eq!(thread.join().unwrap(), Outcome::Notified);
    });
}

#[test]
fn forbidden_to_block() {
    let word = AtomicI32::new(0);
    let forbidden = forbid_blocking();
    let nested = forbid_blocking();
    assert_eq!(wait(&word, 1), Outcome::NotEqual);
    assert_eq!(wait_for(&word, 0, Duration::ZERO), Outcome::TimedOut, "nothing to wait for");
    drop(nested);
    let panic = std::panic::catch_unwind(|| wait(&word, 0)).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("wait_async"));
    drop(forbidden);
    assert_eq!(wait_for(&word, 0, Duration::ZERO), Outcome::TimedOut);
}

// Notifies that change the word in the same step. That it is one step is for the models of waitword's event to show
// (`verify/models/locks/tests/models/event.rs`).

/// From the front, or from the back, and never beside waiters.
#[test]
fn one_is_woken_or_else_the_word_is_replaced() {
    type Notify = fn(&AtomicI32, i32, i32) -> Result<usize, i32>;
    let notifies: [(Notify, [usize; 3]); 2] = [
        (|word, expected, new| notify_one_or_replace(word, expected, new), [0, 1, 2]),
        (|word, expected, new| notify_last_or_replace(word, expected, new), [2, 1, 0]),
    ];
    for (notify, order) in notifies {
        let word = AtomicI32::new(0);
        let mut waits = [(); 3].map(|()| queued(&word, 0));
        for (left, (next, expected)) in (0..3).rev().zip(order.into_iter().zip([0, 5, 0])) {
            assert_eq!(notify(&word, expected, 1), Ok(1), "whatever the word holds");
            assert_eq!(poll(waits[next].as_mut()), Poll::Ready(Outcome::Notified));
            assert_eq!((Table::global().waiters(&word), word.load(Ordering::SeqCst)), (left, 0));
        }
        assert_eq!([notify(&word, 5, 1), notify(&word, 0, 1)], [Err(0), Ok(0)]);
        assert_eq!(word.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn all_are_woken_if_the_word_is_replaced() {
    let word = AtomicU64::new(u64::MAX);
    let mut waits = [(); 40].map(|()| queued(&word, u64::MAX));
    assert_eq!(replace_and_notify_all(&word, 0, 1), Err(u64::MAX));
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
    assert_eq!(replace_and_notify_all(&word, u64::MAX, 1), Ok(40));
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()) == Poll::Ready(Outcome::Notified)));
    assert_eq!(replace_and_notify_all(&word, 1, 2), Ok(0));
    assert_eq!(word.load(Ordering::SeqCst), 2);
}
