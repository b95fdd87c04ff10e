//! Threads that are woken together, or for two reasons. loom reports a thread that stays parked as a deadlock.

use std::future::Future;
use std::task::{Context, Poll, Waker};

use loom::sync::Arc;
use loom::sync::atomic::Ordering;
use loom::sync::mpsc::Sender;
use loom::thread::JoinHandle;
use waitword_core::*;

use super::{Shared, leave, model, model_within, spawn};

/// A thread that waits on these words at once, and sends its waker once it is queued.
fn waiter(shared: &Arc<Shared>, words: &'static [usize], send: Sender<Waker>) -> JoinHandle<()> {
    spawn(shared, move |shared| {
        let parker = Parker::current();
        let mut waits = words.iter().map(|&word| Some(shared.wait(word))).collect::<Vec<_>>();
        let mut send = Some(send);
        loop {
            for wait in &mut waits {
                let mut cx = Context::from_waker(parker.waker());
                if wait.as_mut().is_some_and(|wait| wait.as_mut().poll(&mut cx) != Poll::Pending) {
                    *wait = None;
                }
            }
            send.take().into_iter().for_each(|send| send.send(parker.waker().clone()).unwrap());
            if waits.iter().all(Option::is_none) {
                return;
            }
            parker.park();
        }
    })
}

model!(both_threads_of_a_herd_are_woken, |shared| {
    notify_all_of([0, 1].map(|_| spawn(shared, |shared| wait(shared.at(0), 0))), shared);
});

/// All that are counted are notified, and the others find the word changed.
fn notify_all_of(threads: [JoinHandle<Outcome>; 2], shared: &Shared) {
    shared.words[0].store(1, Ordering::Relaxed);
    let woken = notify_all(shared.at(0));
    let outcomes = threads.map(|thread| thread.join().unwrap());
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Notified).count(), woken);
}

// Two notifiers wake one thread, which waits on two words.
model!(two_notifies_of_one_thread, |shared| {
    let (send, receive) = loom::sync::mpsc::channel();
    let thread = waiter(shared, &[0, 1], send);
    receive.recv().unwrap();
    let notifier = spawn(shared, |shared| assert_eq!(notify_all(shared.at(0)), 1));
    assert_eq!(notify_all(shared.at(1)), 1);
    notifier.join().unwrap();
    thread.join().unwrap();
});

// The same of a thread in a blocking wait, which reads its outcome without the shard's lock. The waker of the future outside it is the same.
model_within!(two_notifies_of_one_thread_that_blocks, 2, |shared| {
    let notifier = spawn(shared, |shared| notify_all(shared.at(1)));
    let thread = spawn(shared, |shared| {
        let (parker, mut outer) = (Parker::current(), shared.wait(1));
        assert!(outer.as_mut().poll(&mut Context::from_waker(parker.waker())).is_pending());
        let _ = wait(shared.at(0), 0);
        leave(outer);
    });
    shared.words[0].store(1, Ordering::Relaxed);
    notify_all(shared.at(0));
    notifier.join().unwrap();
    thread.join().unwrap();
});

// A thread blocks below a task that it drives, and uses up the wake for the task.
model_within!(a_thread_that_blocks_below_a_task_does_not_use_up_its_wake, 2, |shared| {
    let (send, receive) = loom::sync::mpsc::channel();
    let thread = spawn(shared, move |shared| {
        let (parker, mut task) = (Parker::current(), shared.wait(1));
        let mut cx = Context::from_waker(parker.waker());
        assert!(task.as_mut().poll(&mut cx).is_pending());
        send.send(()).unwrap();
        // What the poll above has called blocks; then the task's executor parks.
        let _ = wait(shared.at(0), 0);
        parker.park();
        while task.as_mut().poll(&mut cx).is_pending() {
            parker.park();
        }
    });
    receive.recv().unwrap();
    assert_eq!(notify_one(shared.at(1)), 1);
    shared.words[0].store(1, Ordering::Relaxed);
    notify_one(shared.at(0));
    thread.join().unwrap();
});
