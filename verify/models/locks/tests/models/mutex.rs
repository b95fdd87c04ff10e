//! The mutex: every acquirer gets it, and no two hold it at once.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use waitword::word::Table;
use waitword::{Mutex, MutexGuard, OwnedMutexGuard};

use super::{Seen, model, model_of_two, poll, poll_twice, queued, spawn};
use loom::future::block_on;
use loom::thread;

/// How an acquirer takes the mutex and adds one to what is in it.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Blocking,
    Async,
    /// As a future that is dropped after its second poll at the latest, signalled or not.
    Dropped,
    /// As a future whose time is up once it is queued.
    Late,
}
use Turn::*;

impl Turn {
    /// Whether it got the mutex.
    fn take(self, mutex: &Mutex<Seen>) -> bool {
        match self {
            Blocking => mutex.lock().add(),
            Async => block_on(mutex.lock_async()).add(),
            Dropped => match poll_twice(pin!(mutex.lock_async())) {
                Some(guard) => guard.add(),
                None => return false,
            },
            Late => match block_on(mutex.lock_async().timeout(Duration::ZERO)) {
                Ok(guard) => guard.add(),
                Err(_) => return false,
            },
        }
        true
    }
}

fn all_get_it(turns: &'static [Turn]) {
    model(move |mutex: Arc<Mutex<Seen>>| {
        let threads: Vec<_> = turns.iter().map(|turn| spawn(&mutex, |mutex| turn.take(mutex))).collect();
        let entered: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let count = entered.iter().filter(|&&entered| entered).count();
        assert!(count >= turns.iter().filter(|turn| matches!(turn, Blocking | Async)).count());
        // Free, and not reserved.
        assert_eq!(mutex.try_lock().expect("it is free").get() as usize, count);
    });
}

tests! {
    two_threads: all_get_it(&[Blocking, Blocking]);
    a_thread_and_a_task: all_get_it(&[Async, Blocking]);
    two_threads_and_a_task: all_get_it(&[Blocking, Async, Blocking]);
    one_of_three_is_dropped: all_get_it(&[Blocking, Dropped, Async]);
    one_of_three_is_late: all_get_it(&[Blocking, Late, Async]);
}

// A signalled waiter is dropped and forwards the signal, while another acquirer barges.
model_of_two!(a_dropped_signal_is_forwarded, |mutex: Arc<Mutex<Seen>>| {
    let guard = mutex.lock();
    let dropped = queued(mutex.lock_async());
    let behind = queued(mutex.lock_async());
    drop(guard);
    let barges = spawn(&mutex, |mutex| Blocking.take(mutex));
    drop(dropped);
    block_on(behind).add();
    barges.join().unwrap();
    assert_eq!(mutex.try_lock().expect("it is free").get(), 2);
});

// The waiter that a release counts on has left, so its signal finds none; and one that enqueues meanwhile counts on that signal.
model_of_two!(a_waiter_that_enqueues_while_a_signal_finds_none_is_signalled, |mutex: Arc<Mutex<Seen>>| {
    let guard = mutex.lock();
    drop(queued(mutex.lock_async()));
    let waits = spawn(&mutex, |mutex| {
        let barging = mutex.try_lock();
        let mut waiting = Box::pin(mutex.lock_async());
        if barging.is_some() {
            assert!(poll(waiting.as_mut()).is_pending());
        }
        drop(barging);
        block_on(waiting).add();
    });
    drop(guard);
    waits.join().unwrap();
    assert_eq!(mutex.try_lock().expect("it is free").get(), 1);
});

// A thread enqueues while the mutex is reserved, and barges before it sleeps: it forwards the signal that it may have got meanwhile.
model_of_two!(a_thread_that_barges_before_it_sleeps_forwards_its_signal, |mutex: Arc<Mutex<Seen>>| {
    let guard = mutex.lock();
    let signalled = queued(mutex.lock_async());
    MutexGuard::unlock_fair(guard);
    let barges = spawn(&mutex, |mutex| Blocking.take(mutex));
    let behind = queued(mutex.lock_async());
    block_on(signalled).add();
    block_on(behind).add();
    barges.join().unwrap();
    assert_eq!(mutex.try_lock().expect("it is free").get(), 3);
});

// A waiter that was signalled before sees what the holder did that reserves the mutex for it.
model_of_two!(a_barging_holder_reserves_it_for_a_signalled_waiter, |mutex: Arc<Mutex<Seen>>| {
    let guard = mutex.lock();
    let signalled = queued(mutex.lock_async());
    drop(guard);
    let barges = spawn(&mutex, |mutex| {
        if let Some(guard) = mutex.try_lock() {
            guard.add();
            MutexGuard::unlock_fair(guard);
        }
    });
    block_on(signalled).add();
    barges.join().unwrap();
});

// A waiter that is never polled delays the waiter behind it until the watchdog has made its passes.
model_of_two!(one_is_never_polled, |mutex: Arc<Mutex<Seen>>| {
    let guard = mutex.lock();
    let unpolled = queued(mutex.lock_async());
    let behind = spawn(&mutex, |mutex| Blocking.take(mutex));
    drop(guard);
    // What the clock would do: two passes after the signal, whenever that is.
    while Table::global().signal_stalled() {
        thread::yield_now();
    }
    behind.join().unwrap();
    // Perhaps it is reserved for the queued waiter.
    assert_eq!(block_on(unpolled).get(), 1);
});

// Nor does it keep `try_lock` from the mutex, though the mutex is reserved for it and no waiter is behind it.
model_of_two!(try_lock_gets_past_a_waiter_that_is_never_polled, |mutex: Arc<Mutex<Seen>>| {
    let guard = mutex.lock_owned();
    let unpolled = queued(mutex.lock_async());
    let releases = thread::spawn(move || {
        guard.add();
        OwnedMutexGuard::unlock_fair(guard);
    });
    while mutex.try_lock().map(|seen| seen.add()).is_none() {
        Table::global().signal_stalled();
        thread::yield_now();
    }
    releases.join().unwrap();
    assert_eq!(block_on(unpolled).get(), 2);
});
