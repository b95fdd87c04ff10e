//! Notifies that change the word in the same step. That it is one step is for the models of waitword's event to show
//! (`models/locks/tests/models/event.rs`).

use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::task::Poll;

use waitword_core::*;

use crate::common::{poll, queued};

#[test]
fn one_is_woken_or_else_the_word_is_replaced() {
    let word = AtomicI32::new(0);
    let (mut first, mut second) = (queued(&word, 0), queued(&word, 0));
    assert_eq!(notify_one_or_replace(&word, 0, 1), Ok(1));
    assert_eq!(
        (poll(first.as_mut()), poll(second.as_mut())),
        (Poll::Ready(Outcome::Notified), Poll::Pending)
    );
    assert_eq!(notify_one_or_replace(&word, 5, 1), Ok(1), "whatever the word holds");
    assert_eq!((poll(second.as_mut()), word.load(Ordering::SeqCst)), (Poll::Ready(Outcome::Notified), 0));
    assert_eq!(notify_one_or_replace(&word, 5, 1), Err(0));
    assert_eq!(notify_one_or_replace(&word, 0, 1), Ok(0));
    assert_eq!(word.load(Ordering::SeqCst), 1);
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

#[test]
fn words_of_every_type_are_replaced_whole() {
    let signed = (AtomicI32::new(i32::MIN), AtomicI64::new(i64::MIN));
    assert_eq!(notify_one_or_replace(&signed.0, i32::MIN, -1), Ok(0));
    assert_eq!(replace_and_notify_all(&signed.1, i64::MIN, -1), Ok(0));
    assert_eq!((signed.0.into_inner(), signed.1.into_inner()), (-1, -1));
    let unsigned = (AtomicU32::new(u32::MAX), AtomicU64::new(1 << 40));
    assert_eq!(notify_one_or_replace(&unsigned.0, u32::MAX, 7), Ok(0));
    assert_eq!(replace_and_notify_all(&unsigned.1, 0, 7), Err(1 << 40));
    assert_eq!((unsigned.0.into_inner(), unsigned.1.into_inner()), (7, 1 << 40));
}

/// The word is replaced only without waiters, and the waiter that came last goes first.
#[test]
fn the_last_is_woken_or_else_the_word_is_replaced() {
    let word = AtomicI32::new(0);
    let (mut first, mut second, mut third) = (queued(&word, 0), queued(&word, 0), queued(&word, 0));
    assert_eq!(notify_last_or_replace(&word, 5, 1), Ok(1), "whatever the word holds");
    assert_eq!((poll(third.as_mut()), poll(first.as_mut())), (Poll::Ready(Outcome::Notified), Poll::Pending));
    assert_eq!(notify_one_or_replace(&word, 0, 1), Ok(1));
    assert_eq!(
        (poll(first.as_mut()), poll(second.as_mut())),
        (Poll::Ready(Outcome::Notified), Poll::Pending)
    );
    assert_eq!(notify_last_or_replace(&word, 0, 1), Ok(1), "first and last in one");
    assert_eq!((poll(second.as_mut()), word.load(Ordering::SeqCst)), (Poll::Ready(Outcome::Notified), 0));
    assert_eq!(notify_last_or_replace(&word, 5, 1), Err(0));
    assert_eq!(notify_last_or_replace(&word, 0, 1), Ok(0));
    assert_eq!(word.load(Ordering::SeqCst), 1);
}
