//! Locks by key: an entry is there exactly while somebody holds or waits, in threads and tasks, however they end.

#[path = "../../../waitword-core/tests/common/alone.rs"]
mod alone;
#[path = "../common/mod.rs"]
mod common;
#[path = "../../../waitword-core/tests/common/counting.rs"]
mod counting;
mod once_map;

use std::hash::{BuildHasherDefault, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use common::{block_on, poll, until};
use waitword::LockError;
use waitword::keyed::{ByRef, KeyedMutex, KeyedRwLock};

const SOON: Duration = Duration::from_millis(1);

#[test]
fn keys_do_not_disturb_each_other() {
    let locks = KeyedMutex::new();
    let one = locks.lock(1);
    let two = locks.try_lock(2).expect("another key");
    assert!(locks.try_lock(1).is_none());
    assert_eq!((one.key(), two.key(), locks.len()), (&1, &2, 2));
    drop(one);
    assert!(locks.try_lock(1).is_some());
    drop(two);
    assert!(locks.is_empty());
}

/// Their entries are in one chain, which is left at its ends and in between.
#[test]
fn keys_of_one_hash_are_not_one_key() {
    #[derive(Default)]
    struct Same;
    impl Hasher for Same {
        fn write(&mut self, _: &[u8]) {}

        fn finish(&self) -> u64 {
            0
        }
    }
    let locks = KeyedMutex::<u32, BuildHasherDefault<Same>>::default();
    let mut held: Vec<_> = (0..20).map(|key| locks.try_lock(key).expect("another key")).collect();
    assert_eq!(locks.len(), held.len());
    while !held.is_empty() {
        assert!(held.iter().all(|guard| locks.try_lock(*guard.key()).is_none()));
        let released = *held.swap_remove(held.len() / 2).key();
        assert!(locks.try_lock(released).is_some());
    }
    assert!(locks.is_empty());
}

/// Whatever ends a wait or a hold, its user goes; the last one takes the entry along.
#[test]
fn every_way_to_end_leaves_the_map_empty() {
    let locks = Arc::new(KeyedMutex::new());
    let held = locks.lock_owned("key");
    assert!(locks.try_lock("key").is_none());
    assert_eq!(locks.lock_for("key", SOON).map(drop), Err(LockError::TimedOut));
    assert_eq!(block_on(locks.lock_async("key").timeout(SOON)).map(drop), Err(LockError::TimedOut));
    {
        let _forbidden = waitword::forbid_blocking();
        assert_eq!(locks.lock_for("key", SOON).map(drop), Err(LockError::BlockingForbidden));
        assert!(catch_unwind(AssertUnwindSafe(|| drop(locks.lock("key")))).is_err());
    }
    drop(locks.lock_async("key"));
    {
        let mut queued = pin!(locks.lock_owned_async("key"));
        assert!(poll(queued.as_mut()).is_pending());
    }
    assert_eq!(locks.len(), 1, "the holder's");
    drop(held);
    assert!(locks.is_empty());

    let panics = || {
        let _guard = locks.lock("key");
        panic!("inside");
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert!(locks.is_empty());
    assert!(block_on(locks.lock_async("key").timeout(SOON)).is_ok());
    assert!(locks.is_empty());
}

#[test]
fn a_waiter_keeps_the_entry_of_a_holder_who_left() {
    let locks = KeyedMutex::new();
    let held = locks.lock(1);
    let mut queued = pin!(locks.lock_async(1));
    assert!(poll(queued.as_mut()).is_pending());
    drop(held);
    assert_eq!(locks.len(), 1);
    let Poll::Ready(guard) = poll(queued) else { panic!("it is free") };
    drop(guard);
    assert!(locks.is_empty());
}

/// Threads and tasks in turns, each queued before the next begins. In a process of its own, in which nobody serves the timer: on a slow
/// machine, the watchdog would pass over a task.
#[test]
fn a_key_is_acquired_in_the_order_of_arrival() {
    alone::passes_alone("a_key_is_acquired_in_the_order_of_arrival", || {
        assert!(waitword::timer::serve_by_hand(|| ()));
        (0..20).for_each(|_| six_in_order());
    });
}

fn six_in_order() {
    let locks = Arc::new(KeyedMutex::<u8>::new());
    let order = Arc::new(waitword::Mutex::new(Vec::new()));
    let held = locks.lock(7);
    let waiters: Vec<_> = (0..6)
        .map(|index| {
            let (locks_of_waiter, order) = (Arc::clone(&locks), Arc::clone(&order));
            let before = locks.waiters(7);
            let waiter = thread::spawn(move || {
                let guard = match index % 2 {
                    0 => locks_of_waiter.lock_owned(7),
                    _ => block_on(locks_of_waiter.lock_owned_async(7)),
                };
                order.lock().push(index);
                drop(guard);
            });
            until(|| locks.waiters(7) > before);
            waiter
        })
        .collect();
    drop(held);
    for waiter in waiters {
        waiter.join().unwrap();
    }
    assert_eq!(*order.lock(), [0, 1, 2, 3, 4, 5]);
    assert!(locks.is_empty());
}

#[test]
fn readers_share_a_key_and_writers_do_not() {
    let locks = KeyedRwLock::new();
    let readers = (locks.read("key"), block_on(locks.read_async("key")));
    assert!(locks.try_write("key").is_none());
    assert_eq!(locks.write_for("key", SOON).map(drop), Err(LockError::TimedOut));
    assert_eq!(locks.len(), 1);
    drop(readers);
    let writer = locks.write("key");
    assert!(locks.try_read("key").is_none());
    assert!(locks.try_write("other").is_some());
    drop(writer);
    assert!(locks.is_empty());
}

/// A borrowed key is cloned for a new entry alone.
#[test]
fn a_borrowed_key_is_cloned_once() {
    static CLONES: AtomicUsize = AtomicUsize::new(0);
    #[derive(PartialEq, Eq, Hash)]
    struct Counted(u32);
    impl Clone for Counted {
        fn clone(&self) -> Self {
            CLONES.fetch_add(1, Ordering::SeqCst);
            Self(self.0)
        }
    }
    let locks = KeyedMutex::<Counted>::new();
    let key = Counted(1);
    let guard = locks.lock(ByRef(&key));
    assert!(locks.try_lock(ByRef(&key)).is_none());
    assert!(locks.try_lock(Counted(1)).is_none());
    assert_eq!(CLONES.load(Ordering::SeqCst), 1);
    drop(guard);
    drop(locks.lock(key));
    assert_eq!(CLONES.load(Ordering::SeqCst), 1);
    assert!(locks.is_empty());
}

/// The panic is the caller's, nothing is held, and the map goes on.
#[test]
fn a_key_that_panics_holds_nothing() {
    struct Panics {
        number: u32,
        in_hash: bool,
        in_eq: bool,
        in_clone: bool,
    }
    impl std::hash::Hash for Panics {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            assert!(!self.in_hash, "hash");
            self.number.hash(state);
        }
    }
    impl PartialEq for Panics {
        fn eq(&self, other: &Self) -> bool {
            assert!(!self.in_eq && !other.in_eq, "eq");
            self.number == other.number
        }
    }
    impl Eq for Panics {}
    impl Clone for Panics {
        fn clone(&self) -> Self {
            assert!(!self.in_clone, "clone");
            Self { ..*self }
        }
    }
    let good = |number| Panics { number, in_hash: false, in_eq: false, in_clone: false };
    let locks = KeyedMutex::<Panics>::new();
    let guard = locks.lock(good(1));
    let fails = |attempt: &dyn Fn()| assert!(catch_unwind(AssertUnwindSafe(attempt)).is_err());
    fails(&|| drop(locks.lock(Panics { in_hash: true, ..good(1) })));
    fails(&|| drop(locks.lock(Panics { in_eq: true, ..good(1) })));
    fails(&|| drop(locks.try_lock(Panics { in_eq: true, ..good(1) })));
    fails(&|| drop(locks.lock(ByRef(&Panics { in_clone: true, ..good(2) }))));
    fails(&|| drop(locks.lock_async(Panics { in_eq: true, ..good(1) })));
    assert_eq!(locks.len(), 1);
    assert!(locks.try_lock(good(1)).is_none());
    drop(guard);
    assert!(locks.try_lock(good(1)).is_some());
    assert!(locks.try_lock(good(2)).is_some());
    assert!(locks.is_empty());
}

/// Of a million keys that were locked, and of a hundred thousand that were held at a time, nothing is left.
#[test]
fn a_million_keys_leave_nothing_behind() {
    let locks = KeyedMutex::new();
    let hold_many = |keys: u32| {
        let held: Vec<_> = (0..keys).map(|key| locks.lock(key)).collect();
        assert_eq!(locks.len(), held.len());
    };
    hold_many(1_000);
    assert!(locks.is_empty());
    let before = counting::live();
    for key in 0..1_000_000_u32 {
        drop(locks.lock(key));
    }
    hold_many(100_000);
    assert!(locks.is_empty());
    assert_eq!(counting::live(), before);
}

/// One after the other on each key, while entries come and go; and at the end no entry is left.
#[test]
fn threads_and_tasks_exclude_each_other_by_key() {
    const KEYS: usize = 3;
    const TIMES: usize = 2_000;
    let locks = Arc::new(KeyedMutex::<usize>::new());
    let inside: Arc<[AtomicUsize; KEYS]> = Arc::default();
    let waiters: Vec<_> = (0..4)
        .map(|index| {
            let (locks, inside) = (Arc::clone(&locks), Arc::clone(&inside));
            thread::spawn(move || {
                for turn in 0..TIMES {
                    let key = (turn * 7 + index) % KEYS;
                    let guard = match (turn + index) % 4 {
                        0 => locks.lock_owned(key),
                        1 => block_on(locks.lock_owned_async(key)),
                        2 => match block_on(locks.lock_owned_async(key).timeout(Duration::from_micros(50))) {
                            Ok(guard) => guard,
                            Err(_) => continue,
                        },
                        _ => {
                            let mut dropped = pin!(locks.lock_owned_async(key));
                            match poll(dropped.as_mut()) {
                                Poll::Ready(guard) => guard,
                                Poll::Pending => continue,
                            }
                        }
                    };
                    assert_eq!(inside[key].fetch_add(1, Ordering::Relaxed), 0, "alone");
                    if turn % 16 == 0 {
                        thread::yield_now();
                    }
                    inside[key].fetch_sub(1, Ordering::Relaxed);
                    drop(guard);
                }
            })
        })
        .collect();
    for waiter in waiters {
        waiter.join().unwrap();
    }
    assert!(locks.is_empty());
}

/// Each user is often the last of an entry, and the first of the next one.
#[test]
fn the_last_user_and_the_next_first_one() {
    let locks = KeyedMutex::new();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..100_000 {
                    drop(locks.try_lock(1));
                }
            });
        }
    });
    assert!(locks.is_empty());
}

/// Guards and futures are as sendable as the keys are.
#[test]
fn an_owned_guard_is_released_on_another_thread() {
    let locks = Arc::new(KeyedRwLock::<String>::new());
    let guard = locks.write_owned("key".to_owned());
    let reading = locks.read_owned_async("key".to_owned());
    let reader = thread::spawn(move || drop(block_on(reading)));
    thread::spawn(move || drop(guard)).join().unwrap();
    reader.join().unwrap();
    assert!(locks.is_empty());
}
