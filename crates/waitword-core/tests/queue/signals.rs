//! Signals, `notify_last`, and the watchdog.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicI32, AtomicU64};
use std::task::{Context, Poll};
use std::thread;

use waitword_core::*;

use crate::common::{Probe, poll, poll_with, queued, until};

/// A signal wakes the first waiter that is not signalled yet, and changes no position.
#[test]
fn a_signal_takes_no_position() {
    // The watchdog does not check this table.
    let (table, word) = (Table::with_shards(1), AtomicI32::new(0));
    let at = table.at(&word);
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(wait_async(at, 0))).collect();
    let probes = [Probe::new(), Probe::new(), Probe::new()];
    let mut poll = |waiter: usize| poll_with(waits[waiter].as_mut(), &probes[waiter].waker());
    let counts = || probes.each_ref().map(Probe::wakes);
    assert!((0..3).all(|waiter| poll(waiter).is_pending()));
    assert_eq!(signal_one(at), 3);
    assert_eq!(signal_one(at), 3);
    assert_eq!(counts(), [1, 1, 0], "a signalled waiter that has not responded is skipped");
    assert!(poll(0).is_pending());
    assert_eq!(signal_one(at), 3);
    assert_eq!(counts(), [2, 1, 0]);
    assert_eq!(signal_one(at), 3);
    assert_eq!(signal_one(at), 0, "all have been signalled");
    assert_eq!(notify_one(at), 1);
    assert_eq!(poll(0), Poll::Ready(Outcome::Notified), "the first is still the first");
    assert_eq!(counts(), [2, 1, 1], "and was woken by its signal");
    assert_eq!(notify_all(at), 2);
}

/// Asked without the lock, by a lock that spins if the next signal is for its waiter. What comes behind it changes nothing.
#[test]
fn a_wait_says_whether_it_was_enqueued_as_the_first() {
    let (table, words) = (Table::with_shards(1), [const { AtomicI32::new(0) }; 2]);
    let at = |word: usize| table.at(&words[word]);
    let [mut first, mut behind, mut moved] = [0, 0, 1].map(|word| Box::pin(wait_async(at(word), 0)));
    assert!(!first.was_first(), "it is not queued");
    assert!([&mut first, &mut behind, &mut moved].into_iter().all(|wait| poll(wait.as_mut()).is_pending()));
    assert_eq!((first.was_first(), behind.was_first(), moved.was_first()), (true, false, true));
    assert_eq!(signal_one(at(0)), 2);
    assert!(first.was_first(), "signalled");
    assert_eq!(requeue_while_equal(at(1), 0, std::ptr::from_ref(&words[0]).addr(), 1), Ok(1));
    assert!(!moved.was_first(), "behind the others");
    assert_eq!(notify_all(at(0)), 3);
    assert!(!first.was_first(), "it is not queued any more");
}

/// The tail goes, whatever has happened to it or to others: signalled, skipped, moved there from another queue. The waiters
/// that stay keep their order.
#[test]
fn notify_last_takes_the_tail_and_no_other_position() {
    let table = Table::with_shards(1);
    let (word, other) = (AtomicU64::new(0), AtomicU64::new(0));
    let (at, from) = (table.at(&word), table.at(&other));
    assert_eq!(notify_last(at), 0, "the queue is empty");
    let mut here = [(); 4].map(|()| queued(at, 0));
    let mut moved = [(); 2].map(|()| queued(from, 0));
    let to = std::ptr::from_ref(&word).addr();
    // It signals the first here.
    assert_eq!(requeue_while_equal(from, 0, to, usize::MAX), Ok(2));
    assert_eq!((table.waiters(&word), notify_last(from)), (6, 0));
    assert_eq!(notify_last(at), 1);
    assert!(poll(moved[1].as_mut()).is_ready() && poll(moved[0].as_mut()).is_pending());
    assert_eq!(notify_last(at), 1);
    assert!(poll(moved[0].as_mut()).is_ready());
    // All that are left are signalled, and the first three do not respond.
    assert_eq!([signal_one(at), signal_one(at), signal_one(at)], [4, 4, 4]);
    assert!(here.iter().all(|wait| wait.is_signalled()));
    for _ in 0..3 {
        table.signal_stalled();
    }
    assert_eq!(notify_last(at), 1);
    assert_eq!(poll(here[3].as_mut()), Poll::Ready(Outcome::Notified), "signalled before, notified now");
    // The one before it leaves by itself, and the next is the last.
    assert_eq!(here[2].as_mut().cancel(), Cancelled::AfterSignal);
    assert_eq!(notify_last(at), 1);
    assert!(poll(here[1].as_mut()).is_ready() && here[0].is_signalled());
    assert_eq!(notify_last(at), 1, "first and last in one");
    assert!(poll(here[0].as_mut()).is_ready());
    assert_eq!((notify_last(at), table.waiters(&word)), (0, 0));
}

#[test]
fn a_signal_ends_no_blocking_wait() {
    let word = AtomicI32::new(0);
    thread::scope(|scope| {
        let waiter = scope.spawn(|| wait(&word, 0));
        until(|| Table::global().waiters(&word) == 1);
        for _ in 0..3 {
            until(|| signal_one(&word) == 1);
        }
        assert_eq!(Table::global().waiters(&word), 1);
        until(|| notify_one(&word) == 1);
        assert_eq!(waiter.join().unwrap(), Outcome::Notified);
    });
}

/// An agent's wait cannot be signalled. A pass that comes along for the sake of another queue leaves the task behind it alone.
#[test]
fn the_watchdog_leaves_a_task_alone_that_is_behind_an_agent() {
    let (table, [word, other]) = (Table::with_shards(1), [const { AtomicI32::new(0) }; 2]);
    let inbox = Inbox::new(|| {});
    let mut agent = pin!(InboxWait::new(&inbox, table.at(&word), 0));
    assert!(agent.as_mut().enqueue(0));
    let task = queued(table.at(&word), 0);
    let _watched = [(); 2].map(|()| queued(table.at(&other), 0));
    assert_eq!(signal_one(table.at(&other)), 2);
    assert!((0..2).all(|_| table.signal_stalled()), "the shard is watched");
    assert!(!task.is_signalled());
}

/// Behind a signalled waiter that does not respond, the second pass after the signal signals the next.
#[test]
fn the_watchdog_signals_the_next_behind_an_unresponsive_waiter() {
    let (table, word) = (Table::with_shards(1), AtomicI32::new(0));
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(wait_async(table.at(&word), 0))).collect();
    let probes = [Probe::new(), Probe::new(), Probe::new()];
    let mut poll = |waiter: usize| poll_with(waits[waiter].as_mut(), &probes[waiter].waker());
    let counts = || probes.each_ref().map(Probe::wakes);
    assert!((0..3).all(|waiter| poll(waiter).is_pending()));
    assert!(!table.signal_stalled(), "none was signalled");
    assert_eq!(signal_one(table.at(&word)), 3);
    assert!(table.signal_stalled());
    assert_eq!(counts(), [1, 0, 0]);
    assert!(table.signal_stalled());
    assert_eq!(counts(), [1, 1, 0]);
    assert!(table.signal_stalled());
    assert_eq!(counts(), [1, 1, 0], "the second has the same time to respond as the first had");
    assert!(poll(0).is_pending());
    assert!(!table.signal_stalled(), "the first has responded, and the next release will signal it");
    assert_eq!(signal_one(table.at(&word)), 3);
    (0..2).for_each(|_| assert!(table.signal_stalled()));
    assert_eq!(counts(), [2, 1, 1]);
    assert!(!table.signal_stalled(), "all have been signalled");
    waits.push(Box::pin(wait_async(table.at(&word), 0)));
    let late = Probe::new();
    assert!(poll_with(waits[3].as_mut(), &late.waker()).is_pending());
    assert!(table.signal_stalled());
    assert_eq!(late.wakes(), 1, "a later waiter is not forgotten");
    assert!(!table.signal_stalled());
}

/// A waiter that is alone in its queue is checked by a pass if `is_queue_stalled` was asked, and has the same time to respond as if another
/// waiter were queued behind it.
#[test]
fn a_queue_is_stalled_after_two_passes_without_a_response() {
    let (table, word) = (Table::with_shards(1), AtomicI32::new(0));
    let is_stalled = || is_queue_stalled(table.at(&word));
    assert!(is_stalled(), "the queue is empty");
    let probe = Probe::new();
    let mut wait = pin!(wait_async(table.at(&word), 0));
    let mut poll = || wait.as_mut().poll_signalled(&mut Context::from_waker(&probe.waker()));
    assert!(poll().is_pending());
    for _ in 0..3 {
        assert!(!is_stalled() && !table.signal_stalled(), "it was not even signalled");
    }
    for responds in [true, false] {
        assert_eq!(signal_one(table.at(&word)), 1);
        assert!(!table.signal_stalled() && !table.signal_stalled(), "not asked");
        for _ in 0..2 {
            assert!(!is_stalled());
            table.signal_stalled();
        }
        assert!(is_stalled());
        if responds {
            assert_eq!(poll(), Poll::Ready(None));
            assert!(poll().is_pending());
            assert!(!is_stalled() && !table.signal_stalled());
        }
    }
    let _behind = queued(table.at(&word), 0);
    assert!(!is_stalled(), "the new waiter was not signalled");
}

/// A waiter that requests a signal gets one from each pass as long as another is queued behind it or
/// `is_queue_stalled` is asked, and is noticed when it does not respond.
#[test]
fn the_watchdog_signals_a_head_that_requests_it() {
    let (table, word) = (Table::with_shards(1), AtomicI32::new(0));
    let mut waits: Vec<_> = (0..2).map(|_| Box::pin(wait_async(table.at(&word), 0))).collect();
    let probes = [Probe::new(), Probe::new()];
    let poll = |wait: &mut Pin<Box<WaitAsync<_>>>, waiter: usize| {
        wait.as_mut().poll_signalled(&mut Context::from_waker(&probes[waiter].waker()))
    };
    let counts = || probes.each_ref().map(Probe::wakes);
    assert!(poll(&mut waits[0], 0).is_pending());
    waits[0].as_mut().request_signal();
    assert!(!table.signal_stalled(), "no waiter is behind it");
    assert!(!is_queue_stalled(table.at(&word)) && !table.signal_stalled());
    assert_eq!((counts(), poll(&mut waits[0], 0)), ([1, 0], Poll::Ready(None)));
    assert!(poll(&mut waits[0], 0).is_pending());
    waits[0].as_mut().request_signal();
    assert!(poll(&mut waits[1], 1).is_pending());
    for signals in 2..5 {
        assert!(table.signal_stalled());
        assert_eq!(counts(), [signals, 0]);
        assert_eq!(poll(&mut waits[0], 0), Poll::Ready(None));
        assert!(poll(&mut waits[0], 0).is_pending(), "signalled once");
        waits[0].as_mut().request_signal();
        assert!(poll(&mut waits[0], 0).is_pending(), "a poll of its own changes nothing");
    }
    assert_eq!(signal_one(table.at(&word)), 2);
    assert_eq!(counts(), [5, 0], "it can be signalled as any other");
    assert_eq!(poll(&mut waits[0], 0), Poll::Ready(None));
    waits[0].as_mut().request_signal();
    // Signalled; overdue; skipped.
    (0..3).for_each(|_| assert!(table.signal_stalled()));
    assert_eq!(counts(), [6, 1]);
    drop(waits.remove(0));
    assert_eq!(poll(&mut waits[0], 1), Poll::Ready(None));
    waits[0].as_mut().request_signal();
    assert_eq!(notify_one(table.at(&word)), 1);
    waits[0].as_mut().request_signal();
    assert_eq!(poll(&mut waits[0], 1), Poll::Ready(Some(Outcome::Notified)));
}

/// A waiter that lets signals pass keeps its position. The signals and the watchdog go past it; what is for the head is for it.
#[test]
fn signals_and_the_watchdog_go_past_a_waiter_that_lets_them_pass() {
    let (table, word) = (Table::with_shards(1), AtomicI32::new(0));
    let at = table.at(&word);
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(wait_async(at, 0))).collect();
    let waker = std::task::Waker::noop();
    let mut cx = Context::from_waker(waker);
    waits[0].as_mut().let_pass();
    assert!(waits.iter_mut().all(|wait| wait.as_mut().poll_signalled(&mut cx).is_pending()));
    let signalled = |waits: &[Pin<Box<WaitAsync<_>>>]| -> Vec<bool> {
        waits.iter().map(|wait| wait.is_signalled()).collect()
    };
    waits[0].as_mut().let_pass();
    assert!(waits[0].as_mut().poll_signalled(&mut cx).is_pending(), "a poll of its own changes nothing");
    assert!(!table.signal_stalled(), "nobody is signalled");
    assert_eq!(signal_past(at, &|_| ()), 3);
    assert_eq!(signalled(&waits), [false, true, false]);
    // Signalled; overdue: the one behind it is signalled in its place.
    assert!(table.signal_stalled() && table.signal_stalled());
    assert_eq!(signalled(&waits), [false, true, true]);
    assert_eq!(signal_past(at, &|_| ()), 0);
    // Both do not respond, and the first is no waiter that would.
    for _ in 0..5 {
        let _ = is_queue_stalled(at) || table.signal_stalled();
    }
    assert!(is_queue_stalled(at));
    assert_eq!(signal_one(at), 3);
    assert!(waits[0].is_signalled() && !is_queue_stalled(at));
    waits[0].as_mut().let_pass();
    assert_eq!(waits[0].as_mut().poll_signalled(&mut cx), Poll::Ready(None), "it acknowledges as any other");
    assert_eq!(signal_past(at, &|_| ()), 3, "and waits as any other");
    assert!(waits[0].is_signalled());
    assert_eq!(notify_all(at), 3);
    assert!(waits.iter_mut().all(|wait| wait.as_mut().poll(&mut cx) == Poll::Ready(Outcome::Notified)));
}

/// More than are completed in one critical section: every other one a task; or a few, behind which the last section moves none.
#[test]
fn a_requeue_wakes_threads_and_moves_tasks() {
    type IsTask = fn(usize) -> bool;
    let crowds: [(usize, usize, IsTask); 2] =
        [(70, 69, |number| number.is_multiple_of(2)), (105, 105, |number| number < 5)];
    for (queued, count, is_task) in crowds {
        let table = Table::new();
        let (from, to) = (AtomicU64::new(0), AtomicU64::new(0));
        let (here, there) = (table.at(&from), table.at(&to));
        let parker = Parker::current();
        let mut waits: Vec<_> = (0..queued).map(|_| (Box::pin(wait_async(here, 0)), Probe::new())).collect();
        for (number, (wait, probe)) in waits.iter_mut().enumerate() {
            let task = probe.waker();
            let waker = if is_task(number) { &task } else { parker.waker() };
            assert!(poll_with(wait.as_mut(), waker).is_pending());
        }
        assert_eq!(requeue_while_equal(here, 0, std::ptr::from_ref(&to).addr(), count), Ok(count));
        // It was woken, so it does not sleep.
        parker.park();
        assert!(waits[0].0.is_signalled());
        for (number, (wait, probe)) in waits.iter_mut().enumerate().take(count) {
            assert!(!wait.as_mut().was_notified_alone(), "each of several has a wakeup of its own");
            assert_eq!((wait.is_notified(), wait.is_requeued()), (!is_task(number), is_task(number)));
            assert_eq!(probe.wakes(), usize::from(number == 0), "the first of the tasks is signalled");
        }
        for number in (0..count).filter(|number| is_task(*number)) {
            assert_eq!((notify_one(there), waits[number].0.is_notified()), (1, true), "{number}");
        }
        assert_eq!((notify_all(there), notify_all(here)), (0, queued - count), "the others were left");
    }
}

#[test]
fn a_wait_that_was_moved_says_so_when_it_is_cancelled() {
    let table = Table::new();
    let (from, to) = (AtomicU64::new(0), AtomicU64::new(0));
    let here = table.at(&from);
    let mut waits: Vec<_> = (0..4).map(|_| Box::pin(wait_async(here, 0))).collect();
    for wait in waits.iter_mut().take(3) {
        assert!(poll(wait.as_mut()).is_pending());
    }
    assert_eq!(requeue_while_equal(here, 0, std::ptr::from_ref(&to).addr(), 2), Ok(2));
    let left: Vec<_> = waits.iter_mut().map(|wait| wait.as_mut().cancel_requeueable()).collect();
    let expected =
        [Cancelled::AfterSignal, Cancelled::AfterRequeue, Cancelled::BeforeNotify, Cancelled::BeforeNotify];
    assert_eq!(left, expected, "moved and signalled, moved, queued here, never queued");
}
