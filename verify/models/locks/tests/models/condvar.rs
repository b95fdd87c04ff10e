//! The condition variable: no notify is missed, or lost with a waiter that is dropped.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use waitword::{Condvar, Mutex, MutexGuard};

use super::{Seen, model, model_of_two, poll, poll_twice, queued, spawn};
use loom::future::block_on;

#[derive(Default)]
struct Shared {
    mutex: Mutex<Seen>,
    changed: Condvar,
}

impl Shared {
    /// A wait that is queued on the condition variable.
    fn queued(&self) -> Pin<Box<impl Future<Output = MutexGuard<'_, Seen>>>> {
        queued(self.changed.wait_async(self.mutex.lock()))
    }

    fn add(&self) {
        self.mutex.lock().add();
    }

    /// How many have added one. The mutex is free.
    fn count(&self) -> u32 {
        self.mutex.try_lock().expect("it is free").get()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Thread,
    Task,
    /// As a future that is dropped after its second poll at the latest.
    Dropped,
}

impl Way {
    /// Waits until it is not zero, and adds one.
    fn wait(self, Shared { mutex, changed }: &Shared) {
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

/// The number is changed under the mutex and the change notified, while another waits for it.
fn a_notify_is_never_missed(way: Way, notify: fn(&Condvar)) {
    model_of_two(move |shared: Arc<Shared>| {
        let waiter = spawn(&shared, move |shared| way.wait(shared));
        let notifier = spawn(&shared, move |shared| {
            shared.add();
            notify(&shared.changed);
        });
        waiter.join().unwrap();
        notifier.join().unwrap();
        assert_eq!(shared.count(), if way == Way::Dropped { 1 } else { 2 });
    });
}

fn notify_one(changed: &Condvar) {
    changed.notify_one();
}

tests! {
    a_thread_never_misses_a_notify: a_notify_is_never_missed(Way::Thread, notify_one);
    a_task_never_misses_a_notify: a_notify_is_never_missed(Way::Task, |changed| _ = changed.notify_all());
    a_waiter_is_dropped_at_any_time: a_notify_is_never_missed(Way::Dropped, notify_one);
}

// Two waits are queued, and one of them is dropped at some time: the other gets the notify.
model_of_two!(a_dropped_notify_is_forwarded, |shared: Arc<Shared>| {
    let (dropped, stays) = (shared.queued(), shared.queued());
    let notifier = spawn(&shared, |shared| shared.changed.notify_one());
    drop(dropped);
    drop(block_on(stays));
    assert!(notifier.join().unwrap());
});

// The same, by waits that own a share in the mutex and in the condition variable, as the notifier does.
model_of_two!(a_dropped_notify_of_an_owned_wait_is_forwarded, |mutex: Arc<Mutex<Seen>>| {
    let changed = Arc::new(Condvar::new());
    let dropped = queued(changed.wait_owned_async(mutex.lock_owned()));
    let stays = queued(changed.wait_owned_async(mutex.lock_owned()));
    let notifier = spawn(&changed, Condvar::notify_one);
    drop((changed, mutex));
    drop(dropped);
    drop(block_on(stays));
    assert!(notifier.join().unwrap());
});

// A notify of all is not forwarded to one that has come since: not by a waiter that was moved to the queue of the mutex and is signalled there, ...
model_of_two!(a_notify_of_all_that_is_dropped_in_the_mutex_queue_ends_no_later_wait, |shared: Arc<
    Shared,
>| {
    let dropped = shared.queued();
    let guard = shared.mutex.lock();
    assert_eq!(shared.changed.notify_all(), 1);
    let other = spawn(&shared, Shared::add);
    let mut stays = queued(shared.changed.wait_async(guard));
    drop(dropped);
    other.join().unwrap();
    assert!(poll(stays.as_mut()).is_pending());
    assert_eq!((shared.changed.notify_one(), shared.count()), (true, 1));
});

// ... nor behind others in that queue, which the notify and the release signal instead of it.
model_of_two!(a_notify_of_all_that_is_dropped_before_its_signal_ends_no_later_wait, |shared: Arc<Shared>| {
    let dropped = shared.queued();
    let guard = shared.mutex.lock();
    let before = [(); 2].map(|()| queued(shared.mutex.lock_async()));
    assert_eq!(shared.changed.notify_all(), 1);
    let mut stays = queued(shared.changed.wait_async(guard));
    drop(dropped);
    for waiter in before {
        block_on(waiter).add();
    }
    assert!(poll(stays.as_mut()).is_pending());
    assert_eq!((shared.changed.notify_one(), shared.count()), (true, 2));
});

// No other waiter waits for the condition: the dropped one forwards the signal of the release.
model_of_two!(a_signal_that_is_dropped_in_the_mutex_queue_is_forwarded, |shared: Arc<Shared>| {
    let mut dropped = shared.queued();
    let guard = shared.mutex.lock();
    assert_eq!(shared.changed.notify_all(), 1);
    assert!(poll(dropped.as_mut()).is_pending(), "it rechecked in vain, so the release signals it again");
    let behind = queued(shared.mutex.lock_async());
    let other = spawn(&shared, Shared::add);
    drop(guard);
    drop(dropped);
    block_on(behind).add();
    other.join().unwrap();
    assert_eq!(shared.count(), 2);
});

// All are moved, in two batches, while one task polls them, the last first, which may be in neither queue then.
model!(one_is_polled_while_it_is_moved, |shared: Arc<Shared>| {
    let mut waits = Vec::from([(); 3].map(|()| shared.queued()));
    waits.reverse();
    let notifier = spawn(&shared, |shared| shared.changed.notify_all());
    block_on(poll_fn(|cx| {
        waits.retain_mut(|wait| wait.as_mut().poll(cx).map(|guard| guard.add()).is_pending());
        if waits.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    }));
    assert_eq!(notifier.join().unwrap(), 3);
});

// A task and a thread behind it are notified at once. The task is moved to the queue of the mutex, and the thread locks it.
model!(a_task_and_a_thread_go_on, |shared: Arc<Shared>| {
    let task = shared.queued();
    let thread = spawn(&shared, |shared| Way::Thread.wait(shared));
    shared.add();
    shared.changed.notify_all();
    block_on(task).add();
    thread.join().unwrap();
    assert_eq!(shared.count(), 3);
});
