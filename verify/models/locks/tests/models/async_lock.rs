//! The lock on a word that scripts share: one at a time holds it, and no notify is lost. No waiter rechecks here: that would hide it.

use std::sync::Arc;
use std::time::Duration;

use waitword::word::AsyncLock;

use super::{Seen, model, model_of_two, poll, queued, spawn};
use loom::future::block_on;

model!(threads_and_a_task_exclude_one_another, |shared: Arc<(AsyncLock, Seen)>| {
    let locks = |(lock, seen): &(AsyncLock, Seen)| {
        lock.lock();
        seen.add();
        lock.unlock().unwrap();
    };
    let thread = spawn(&shared, locks);
    let task = spawn(&shared, |(lock, seen)| block_on(lock.execute_locked(|| seen.add())));
    locks(&shared);
    thread.join().unwrap();
    task.join().unwrap();
    assert_eq!(shared.1.get(), 3);
});

// Who takes it after a wait cannot know whether more wait behind it.
model_of_two!(a_waiter_that_takes_it_wakes_the_next, |lock: Arc<AsyncLock>| {
    lock.lock();
    let (first, second) = (queued(lock.lock_async()), queued(lock.lock_async()));
    let releases = spawn(&lock, |lock| lock.unlock().unwrap());
    for waiter in [first, second] {
        block_on(waiter);
        lock.unlock().unwrap();
    }
    releases.join().unwrap();
});

// Also to the release of one that has barged in between.
model_of_two!(a_waiter_that_is_dropped_forwards_its_notify, |lock: Arc<AsyncLock>| {
    lock.lock();
    let (dropped, behind) = (queued(lock.lock_async()), queued(lock.lock_async()));
    let others = spawn(&lock, |lock| {
        lock.unlock().unwrap();
        if lock.try_lock() {
            lock.unlock().unwrap();
        }
    });
    drop(dropped);
    block_on(behind);
    lock.unlock().unwrap();
    others.join().unwrap();
});

// The one behind it is queued when the release comes.
model_of_two!(a_waiter_whose_time_is_up_loses_no_notify, |lock: Arc<AsyncLock>| {
    lock.lock();
    let others = spawn(&lock, |lock| {
        let behind = queued(lock.lock_async());
        lock.unlock().unwrap();
        block_on(behind);
        lock.unlock().unwrap();
    });
    let mut late = Box::pin(lock.lock_async().timeout(Duration::ZERO));
    if let std::task::Poll::Ready(Ok(())) = poll(late.as_mut()) {
        lock.unlock().unwrap();
    }
    drop(late);
    others.join().unwrap();
});
