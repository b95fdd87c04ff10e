//! The condition variable: no notify is missed, or lost with one who goes.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use waitword::{Condvar, Mutex};

use super::checker::future::block_on;
use super::{Seen, in_line, model, model_of_two, poll, poll_twice, spawn};

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Thread,
    Task,
    /// As a future that is dropped after its second poll at the latest.
    Dropped,
}

impl Way {
    /// Waits until it is not zero, and adds one.
    fn wait(self, mutex: &Mutex<Seen>, changed: &Condvar) {
        let is_zero = |seen: &mut Seen| seen.get() == 0;
        match self {
            Way::Thread => {
                let mut guard = mutex.lock();
                changed.wait_while(&mut guard, is_zero);
                guard.add();
            }
            Way::Task => block_on(async {
                changed.wait_while_async(mutex.lock_async().await, is_zero).await.add();
            }),
            Way::Dropped => {
                poll_twice(pin!(changed.wait_async(mutex.lock())));
            }
        }
    }
}

/// What is changed under the mutex while somebody waits for it, and told.
fn a_notify_is_never_missed(way: Way, all: bool) {
    model_of_two(move || {
        let shared = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let waiter = spawn(&shared, move |(mutex, changed)| way.wait(mutex, changed));
        let notifier = spawn(&shared, move |(mutex, changed)| {
            mutex.lock().add();
            if all {
                changed.notify_all();
            } else {
                changed.notify_one();
            }
        });
        waiter.join().unwrap();
        notifier.join().unwrap();
        let seen = shared.0.try_lock().expect("nobody has it").get();
        assert_eq!(seen, if way == Way::Dropped { 1 } else { 2 });
    });
}

#[test]
fn a_thread_never_misses_a_notify() {
    a_notify_is_never_missed(Way::Thread, false);
}

#[test]
fn a_task_never_misses_a_notify() {
    a_notify_is_never_missed(Way::Task, true);
}

#[test]
fn one_is_dropped_at_any_time() {
    a_notify_is_never_missed(Way::Dropped, false);
}

/// Two are queued, and one of them is dropped at some time: the notify reaches the other.
#[test]
fn a_notify_that_is_dropped_goes_to_the_next() {
    model_of_two(|| {
        let shared = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let (mutex, changed) = &*shared;
        let dropped = in_line(changed.wait_async(mutex.lock()));
        let stays = in_line(changed.wait_async(mutex.lock()));
        let notifier = spawn(&shared, |(_, changed)| changed.notify_one());
        drop(dropped);
        drop(block_on(stays));
        assert_eq!(notifier.join().unwrap(), 1);
    });
}

/// The same, by waits that have a share in the mutex and in the condition variable, which the notifier has, too.
#[test]
fn a_notify_of_an_owned_wait_that_is_dropped_goes_to_the_next() {
    model_of_two(|| {
        let (mutex, changed) = (Arc::new(Mutex::new(Seen::default())), Arc::new(Condvar::new()));
        let dropped = in_line(changed.wait_owned_async(mutex.lock_owned()));
        let stays = in_line(changed.wait_owned_async(mutex.lock_owned()));
        let notifier = spawn(&changed, Condvar::notify_one);
        drop((changed, mutex));
        drop(dropped);
        drop(block_on(stays));
        assert_eq!(notifier.join().unwrap(), 1);
    });
}

/// The same, with the mutex held when the notify comes, and released while the one that it moved goes.
#[test]
fn a_notify_that_is_dropped_in_the_line_of_the_mutex_goes_to_the_next() {
    model_of_two(|| {
        let shared = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let (mutex, changed) = &*shared;
        let dropped = in_line(changed.wait_async(mutex.lock()));
        let stays = in_line(changed.wait_async(mutex.lock()));
        let guard = mutex.lock();
        assert_eq!(changed.notify_one(), 1);
        let other = spawn(&shared, |(mutex, _)| mutex.lock().add());
        drop(guard);
        drop(dropped);
        block_on(stays).add();
        other.join().unwrap();
        assert_eq!(mutex.try_lock().expect("nobody has it").get(), 2);
    });
}

/// The same, behind another in the queue of the mutex, which is signalled instead of it.
#[test]
fn a_notify_that_is_dropped_before_it_is_called_goes_to_the_next() {
    model_of_two(|| {
        let shared = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let (mutex, changed) = &*shared;
        let dropped = in_line(changed.wait_async(mutex.lock()));
        let stays = in_line(changed.wait_async(mutex.lock()));
        let guard = mutex.lock();
        let before = in_line(mutex.lock_async());
        let notifier = spawn(&shared, |(_, changed)| changed.notify_one());
        drop(dropped);
        drop(guard);
        block_on(before).add();
        block_on(stays).add();
        assert_eq!(notifier.join().unwrap(), 1);
    });
}

/// Nobody else waits for the condition: what goes on is the call that the release had for it.
#[test]
fn a_call_that_is_dropped_goes_to_the_next_in_the_line_of_the_mutex() {
    model_of_two(|| {
        let shared = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let (mutex, changed) = &*shared;
        let mut dropped = in_line(changed.wait_async(mutex.lock()));
        let guard = mutex.lock();
        assert_eq!(changed.notify_one(), 1);
        assert!(poll(dropped.as_mut()).is_pending(), "it has looked in vain, so the release calls it again");
        let behind = in_line(mutex.lock_async());
        let other = spawn(&shared, |(mutex, _)| mutex.lock().add());
        drop(guard);
        drop(dropped);
        block_on(behind).add();
        other.join().unwrap();
        assert_eq!(mutex.try_lock().expect("nobody has it").get(), 2);
    });
}

/// All are moved, in two batches, while one task polls them, the last first, which may be in neither line then.
#[test]
fn one_is_polled_while_it_is_moved() {
    model(|| {
        let shared = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let (mutex, changed) = &*shared;
        let mut waits = [0, 1, 2].map(|_| in_line(changed.wait_async(mutex.lock())));
        waits.reverse();
        let mut waits = Vec::from(waits);
        let notifier = spawn(&shared, |(_, changed)| changed.notify_all());
        block_on(poll_fn(|cx| {
            waits.retain_mut(|wait| wait.as_mut().poll(cx).map(|guard| guard.add()).is_pending());
            if waits.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        }));
        assert_eq!(notifier.join().unwrap(), 3);
    });
}

/// All are moved at once, and each gets the mutex from the one before.
#[test]
fn all_go_on_one_by_one() {
    model_of_two(|| {
        let shared = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let (mutex, changed) = &*shared;
        let task = in_line(changed.wait_async(mutex.lock()));
        let thread = spawn(&shared, |(mutex, changed)| Way::Thread.wait(mutex, changed));
        mutex.lock().add();
        changed.notify_all();
        block_on(task).add();
        thread.join().unwrap();
        assert_eq!(mutex.try_lock().expect("nobody has it").get(), 3);
    });
}
