//! The mutex: everybody gets in, nobody beside another.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use waitword::word::Table;
use waitword::{Mutex, OwnedMutexGuard};

use super::checker::future::block_on;
use super::checker::thread;
use super::{Seen, in_line, model, model_of_two, poll_twice, spawn};

/// How somebody takes it and adds one to what is in it.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Blocking,
    Async,
    /// As a future that is dropped after its second poll at the latest, whatever it was told meanwhile.
    Dropped,
    /// As a future whose time is up once it is queued.
    Late,
}
use Turn::*;

impl Turn {
    /// Whether it got in.
    fn take(self, mutex: &Mutex<Seen>) -> bool {
        match self {
            Blocking => mutex.lock().add(),
            Async => block_on(mutex.lock_async()).add(),
            Dropped => match poll_twice(pin!(mutex.lock_async())) {
                Some(guard) => guard.add(),
                None => return false,
            },
            Late => match block_on(mutex.lock_async_for(Duration::ZERO)) {
                Ok(guard) => guard.add(),
                Err(_) => return false,
            },
        }
        true
    }
}

fn everybody_gets_in(turns: &'static [Turn]) {
    model(move || {
        let mutex = Arc::new(Mutex::new(Seen::default()));
        let threads: Vec<_> = turns.iter().map(|turn| spawn(&mutex, |mutex| turn.take(mutex))).collect();
        let entered: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let count = entered.iter().filter(|&&entered| entered).count();
        assert!(count >= turns.iter().filter(|turn| matches!(turn, Blocking | Async)).count());
        // Free, and kept for nobody.
        assert_eq!(mutex.try_lock().expect("nobody has it").get() as usize, count);
    });
}

#[test]
fn two_threads() {
    everybody_gets_in(&[Blocking, Blocking]);
}

#[test]
fn a_thread_and_a_task() {
    everybody_gets_in(&[Async, Blocking]);
}

#[test]
fn two_threads_and_a_task() {
    everybody_gets_in(&[Blocking, Async, Blocking]);
}

#[test]
fn one_of_three_is_dropped() {
    everybody_gets_in(&[Blocking, Dropped, Async]);
}

#[test]
fn one_of_three_is_late() {
    everybody_gets_in(&[Blocking, Late, Async]);
}

/// The one queued is signalled, dropped, and has forwarded the signal; while another barges in, and leaves.
#[test]
fn a_call_that_is_dropped_goes_to_the_next() {
    model_of_two(|| {
        let mutex = Arc::new(Mutex::new(Seen::default()));
        let guard = mutex.lock();
        let dropped = in_line(mutex.lock_async());
        let behind = in_line(mutex.lock_async());
        drop(guard);
        let barges = spawn(&mutex, |mutex| Blocking.take(mutex));
        drop(dropped);
        block_on(behind).add();
        barges.join().unwrap();
        assert_eq!(mutex.try_lock().expect("nobody has it").get(), 2);
    });
}

/// Who is never polled keeps nobody from the lock once the table has been swept.
#[test]
fn one_is_never_polled() {
    model_of_two(|| {
        let mutex = Arc::new(Mutex::new(Seen::default()));
        let guard = mutex.lock();
        let unpolled = in_line(mutex.lock_async());
        let behind = spawn(&mutex, |mutex| Blocking.take(mutex));
        drop(guard);
        // What the clock would do: two sweeps after the call, whenever that is.
        while Table::global().signal_stalled() {
            thread::yield_now();
        }
        behind.join().unwrap();
        // Perhaps it is reserved for the one queued.
        assert_eq!(block_on(unpolled).get(), 1);
    });
}

/// Nor from who only tries, though nobody stands behind it and the mutex is reserved for it.
#[test]
fn one_that_is_never_polled_is_passed_by_who_tries() {
    model_of_two(|| {
        let mutex = Arc::new(Mutex::new(Seen::default()));
        let guard = mutex.lock_owned();
        let unpolled = in_line(mutex.lock_async());
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
}
