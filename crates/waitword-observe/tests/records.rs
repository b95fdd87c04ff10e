//! The records of holders are their threads' own: what becomes of them when threads hold many locks, end, or send their guards.

#[cfg(all(unix, not(miri)))]
#[path = "../../waitword-core/tests/common/alone.rs"]
mod alone;
#[path = "common/mod.rs"]
mod common;

use std::cell::RefCell;
use std::collections::BTreeMap;
#[cfg(all(unix, not(miri)))]
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use common::{NOBODY, address_of, held, is_within};
use waitword::{Mutex, MutexGuard, OwnedMutexGuard, Semaphore};
use waitword_observe::internals::start_holders;
use waitword_observe::{Actor, Holder, snapshot};

fn seen() -> Vec<Holder> {
    snapshot().holders.expect("on")
}

fn line_of(holder: &Holder) -> u32 {
    holder.site.as_ref().expect("known").line
}

#[test]
fn a_thread_has_a_record_of_each_lock_that_it_holds() {
    start_holders();
    let locks: Vec<Mutex<u32>> = (0..1000).map(Mutex::new).collect();
    let mut guards: Vec<MutexGuard<'_, u32>> = Vec::new();
    let line = line!() + 2;
    for lock in &locks {
        guards.push(lock.lock());
    }
    let is_one = |seen: &&Holder| is_within(seen.lock.0, &locks[..]) && line_of(seen) == line;
    let all = || seen().iter().filter(is_one).count();
    assert_eq!((all(), snapshot().recording.expect("on").unrecorded), (1000, 0));
    // Any may be released first, and the records of the others stay.
    guards.retain(|guard| **guard % 3 == 0);
    assert_eq!(all(), 334);
    guards.clear();
    assert_eq!(all(), 0);
}

/// The thread's own records are gone by then, or go.
#[test]
fn a_lock_that_a_thread_takes_while_it_ends_is_recorded() {
    struct Takes(Arc<Mutex<u32>>, mpsc::Sender<OwnedMutexGuard<u32>>);
    impl Drop for Takes {
        fn drop(&mut self) {
            let _ = self.1.send(self.0.lock_owned()); // takes
        }
    }
    thread_local!(static FIRST: RefCell<Option<Takes>> = const { RefCell::new(None) });
    thread_local!(static LAST: RefCell<Option<Takes>> = const { RefCell::new(None) });
    start_holders();
    let [first, last] = [0, 1].map(|value| Arc::new(Mutex::new(value)));
    let (to_us, guards) = mpsc::channel();
    let takes = [&first, &last].map(|mutex| Takes(Arc::clone(mutex), to_us.clone()));
    drop(to_us);
    let ends = thread::spawn(move || {
        let [first, last] = takes;
        FIRST.set(Some(first));
        // Has records from here on.
        drop(Mutex::new(0).lock());
        LAST.set(Some(last));
    });
    ends.join().unwrap();
    let guards: Vec<_> = guards.iter().collect();
    assert_eq!(guards.len(), 2);
    assert_eq!([&first, &last].map(|mutex| held(&**mutex)), [["Mutex <takes>"]; 2]);
    drop(guards);
    assert_eq!([&first, &last].map(|mutex| held(&**mutex)), [NOBODY; 2]);
}

/// Ends the threads, also if an assertion fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Each mutex is taken in one line, by one thread at a time, and each permit by the thread that its number of permits says.
#[test]
fn a_snapshot_beside_threads_that_come_and_go_reads_what_one_hold_was() {
    start_holders();
    let outer: Mutex<u32> = Mutex::new(0);
    let inner: Mutex<u32> = Mutex::new(0);
    let permits = Semaphore::new(100);
    let end = AtomicBool::new(false);
    let (outer_line, inner_line, permit_line) = (line!() + 2, line!() + 3, line!() + 4);
    let work = |permits_taken: usize, yields: bool| {
        let _outer = outer.lock();
        let _inner = inner.lock();
        let _permits = permits.acquire_many(permits_taken).unwrap();
        if yields {
            // Or a snapshot on the same CPU hardly ever finds a hold.
            thread::yield_now();
        }
    };
    let expected: BTreeMap<u64, u32> = [
        (address_of(&outer), outer_line),
        (address_of(&inner), inner_line),
        (address_of(&permits), permit_line),
    ]
    .into();
    let (end, work) = (&end, &work);
    thread::scope(|scope| {
        for number in 1..=2 {
            scope.spawn(move || {
                while !end.load(Ordering::Relaxed) {
                    // A few holds of a thread of its own, which ends.
                    thread::scope(|scope| {
                        let named = thread::Builder::new().name(number.to_string());
                        let works = || (0..20).for_each(|turn| work(number, turn == 10));
                        let spawned = named.spawn_scoped(scope, works);
                        spawned.expect("a thread");
                    });
                }
            });
        }
        let _ends = Ends(end);
        let mut found = BTreeMap::new();
        while found.len() < 3 || *found.values().min().unwrap() < 20_000 {
            for seen in seen() {
                let Some(line) = expected.get(&seen.lock.0) else { continue };
                *found.entry(seen.lock).or_insert(0) += 1;
                assert_eq!(line_of(&seen), *line, "{seen:?}");
                if let (Actor::Thread { name: Some(name), .. }, Some(permits)) = (&seen.actor, seen.permits) {
                    assert_eq!(*name, permits.to_string(), "{seen:?}");
                }
            }
        }
    });
}

/// Other threads record at the fork, and do not exist in the child. Alone, because threads that start hold a lock of the standard library.
#[cfg(all(unix, not(miri)))]
#[test]
fn a_child_of_a_fork_waits_for_no_thread_of_its_parent() {
    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
        fn alarm(seconds: u32) -> u32;
        fn _exit(status: i32) -> !;
    }
    alone::passes_alone("a_child_of_a_fork_waits_for_no_thread_of_its_parent", || {
        start_holders();
        let end = AtomicBool::new(false);
        let in_child = || {
            let own = Mutex::new(0);
            let _guard = own.lock();
            assert!(own.lock_for(Duration::from_millis(1)).unwrap_err().held_by().is_some());
        };
        thread::scope(|scope| {
            let _ends = Ends(&end);
            for _ in 0..2 {
                scope.spawn(|| {
                    let lock = Mutex::new(0);
                    while !end.load(Ordering::Relaxed) {
                        drop(lock.lock());
                    }
                });
            }
            for round in 0..200 {
                // SAFETY: the child uses what works after a fork, and leaves by `_exit`; `status` is there while it is written to.
                let (child, status) = unsafe {
                    let (child, mut status) = (fork(), 0);
                    if child == 0 {
                        // Ends a child that hangs.
                        alarm(20);
                        _exit(i32::from(catch_unwind(AssertUnwindSafe(in_child)).is_err()));
                    }
                    (waitpid(child, &raw mut status, 0), status)
                };
                assert!(child > 0 && status == 0, "round {round}: {status}");
            }
        });
    });
}
