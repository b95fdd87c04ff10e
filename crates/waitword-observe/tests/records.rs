//! The records of holders are their threads' own: what becomes of them when threads hold many locks, end, or send their guards.

#[path = "common/mod.rs"]
mod common;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use common::{NOBODY, address_of, held, is_within};
use waitword::observe::Actor;
use waitword::{Mutex, MutexGuard, OwnedMutexGuard, Semaphore};
use waitword_observe::internals::{HolderSeen, holders, start_holders};

fn seen() -> Vec<HolderSeen> {
    holders().expect("on").seen
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
    let is_one = |seen: &&HolderSeen| is_within(seen.word as u64, &locks[..]) && seen.site.line() == line;
    let all = || seen().iter().filter(is_one).count();
    assert_eq!((all(), holders().expect("on").unrecorded), (1000, 0));
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
                let Some(line) = expected.get(&(seen.word as u64)) else { continue };
                *found.entry(seen.word).or_insert(0) += 1;
                assert_eq!(seen.site.line(), *line, "{seen:?}");
                let Some(Actor::Thread(thread)) = &seen.actor else { continue };
                if *line == permit_line {
                    assert_eq!(thread.name(), Some(&*seen.permits.to_string()), "{seen:?}");
                }
            }
        }
    });
}
