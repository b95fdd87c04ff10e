//! One computation per key: kept, or shared and forgotten.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, mpsc};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use waitword::keyed::{ByRef, OnceMap};
use waitword::{Event, Mutex};

use crate::common::{block_on, poll, until};

#[test]
fn a_value_is_computed_once_and_stays() {
    let map = OnceMap::<String, u32>::new();
    assert_eq!(map.get(ByRef("one")), None);
    assert!(map.is_empty(), "a look makes no entry");
    assert_eq!(map.get_or_init(ByRef("one"), || 1), 1);
    assert_eq!(map.get_or_init(ByRef("one"), || unreachable!()), 1);
    assert_eq!(map.get(ByRef("one")), Some(1));
    assert_eq!(map.share(ByRef("one"), || unreachable!()), 1);
    assert_eq!(map.len(), 1);
    assert_eq!(map.remove(ByRef("one")), Some(1));
    assert_eq!(map.remove(ByRef("one")), None);
    assert!(map.is_empty());
    assert_eq!(block_on(map.get_or_init_async(ByRef("one"), async || 2)), 2);
}

/// Its clones are counted, and its drop uses the map, which must not be locked then.
#[derive(PartialEq, Eq, Hash)]
struct Counted(u32);

static COUNTED: LazyLock<OnceMap<Counted, u32>> = LazyLock::new(OnceMap::new);
static CLONES: AtomicUsize = AtomicUsize::new(0);

impl Clone for Counted {
    fn clone(&self) -> Self {
        CLONES.fetch_add(1, Ordering::SeqCst);
        Self(self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let _ = COUNTED.len();
    }
}

#[test]
fn a_look_that_finds_nothing_neither_clones_the_key_nor_drops_it_under_the_lock() {
    let (ended, end) = mpsc::channel();
    thread::spawn(move || {
        assert_eq!(COUNTED.get(ByRef(&Counted(1))), None);
        assert_eq!(COUNTED.remove(ByRef(&Counted(1))), None);
        assert_eq!(CLONES.load(Ordering::SeqCst), 0);
        assert_eq!((COUNTED.get(Counted(1)), COUNTED.remove(Counted(1))), (None, None));
        assert_eq!(COUNTED.get_or_init(ByRef(&Counted(1)), || 1), 1);
        assert_eq!(COUNTED.get_or_init(ByRef(&Counted(1)), || 2), 1);
        assert_eq!(CLONES.load(Ordering::SeqCst), 1, "for the entry");
        ended.send(()).unwrap();
    });
    end.recv_timeout(Duration::from_secs(60)).expect("it failed, or waits for itself");
}

/// Whoever fails, panics or is dropped hands over to the next in line, and leaves no entry.
#[test]
fn the_next_in_line_computes_when_one_fails() {
    let map = OnceMap::<u32, u32>::new();
    assert_eq!(map.get_or_try_init(1, || Err("no")), Err("no"));
    assert_eq!(block_on(map.get_or_try_init_async(1, async || Err("no"))), Err("no"));
    assert!(catch_unwind(AssertUnwindSafe(|| map.get_or_init(1, || panic!("inside")))).is_err());
    assert!(map.is_empty());

    let never = Event::new();
    let mut dropped = Box::pin(map.get_or_init_async(1, async || {
        never.wait_async().await;
        1
    }));
    assert!(poll(dropped.as_mut()).is_pending());
    let mut next = pin!(map.get_or_init_async(1, async || 2));
    assert!(poll(next.as_mut()).is_pending());
    drop(dropped);
    assert_eq!(poll(next), Poll::Ready(2));
    assert_eq!(map.get(1), Some(2));
}

/// Those who wait get the value, threads and tasks; who comes later computes anew.
#[test]
fn a_shared_value_goes_to_those_who_waited_and_is_forgotten() {
    let map = Arc::new(OnceMap::<u32, u32>::new());
    let (gate, computed) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
    let mut first = pin!(map.share_async(1, async || {
        gate.wait_async().await;
        computed.fetch_add(1, Ordering::SeqCst);
        7
    }));
    assert!(poll(first.as_mut()).is_pending());
    let waiting = Arc::new(AtomicUsize::new(0));
    let others: Vec<_> = (0..4)
        .map(|index| {
            let (map, waiting) = (Arc::clone(&map), Arc::clone(&waiting));
            thread::spawn(move || {
                waiting.fetch_add(1, Ordering::SeqCst);
                match index % 2 {
                    0 => map.share(1, || 8),
                    _ => block_on(map.share_async(1, async || 8)),
                }
            })
        })
        .collect();
    let mut unpolled = pin!(map.share_async(1, async || 9));
    assert!(poll(unpolled.as_mut()).is_pending());
    until(|| waiting.load(Ordering::SeqCst) == 4);
    gate.notify_one();
    assert_eq!(poll(first), Poll::Ready(7));
    assert!(map.is_empty(), "forgotten, though a waiter has not been polled since");
    for other in others {
        // One that had not begun to wait computes its own.
        assert!(matches!(other.join().unwrap(), 7 | 8));
    }
    assert_eq!(poll(unpolled), Poll::Ready(7));
    assert_eq!(computed.load(Ordering::SeqCst), 1);
    assert_eq!(map.share(1, || 10), 10);
    assert!(map.is_empty());
}

/// The same in a thread; and a waiter that is not polled does not keep an old value for those who come later.
#[test]
fn a_shared_value_is_forgotten_though_a_waiter_is_not_polled() {
    let map = OnceMap::<u32, u32>::new();
    let mut unpolled = None;
    let value = map.share(1, || {
        let mut waits = Box::pin(map.share_async(1, async || 9));
        assert!(poll(waits.as_mut()).is_pending());
        unpolled = Some(waits);
        7
    });
    assert_eq!(value, 7);
    assert_eq!(map.share(1, || 8), 8);
    assert_eq!(poll(unpolled.unwrap().as_mut()), Poll::Ready(7));
    assert!(map.is_empty());
}

/// A value that is asked for to stay, stays, though a flight that is shared computes it.
#[test]
fn who_joins_a_flight_to_keep_its_value_keeps_it() {
    let map = OnceMap::<u32, u32>::new();
    let gate = Event::new();
    let mut shared = pin!(map.share_async(1, async || {
        gate.wait_async().await;
        7
    }));
    assert!(poll(shared.as_mut()).is_pending());
    let mut kept = pin!(map.get_or_init_async(1, async || unreachable!("it is computed")));
    assert!(poll(kept.as_mut()).is_pending());
    gate.notify_one();
    assert_eq!(poll(shared), Poll::Ready(7));
    assert_eq!(poll(kept), Poll::Ready(7));
    assert_eq!(map.get(1), Some(7));
}

#[test]
fn a_computation_under_way_is_not_stored_after_a_remove() {
    let map = OnceMap::<u32, u32>::new();
    let gate = Event::new();
    let mut old = pin!(map.get_or_init_async(1, async || {
        gate.wait_async().await;
        7
    }));
    assert!(poll(old.as_mut()).is_pending());
    assert_eq!(map.remove(1), None);
    assert_eq!(map.get_or_init(1, || 8), 8);
    gate.notify_one();
    assert_eq!(poll(old), Poll::Ready(7));
    assert_eq!(map.get(1), Some(8));
    assert_eq!(map.len(), 1);
}

/// Values are freed with the map, and those that were removed before.
#[test]
fn values_are_dropped() {
    let alive = Arc::new(());
    let map = OnceMap::<u32, Arc<()>>::new();
    for key in 0..100 {
        map.get_or_init(key, || Arc::clone(&alive));
    }
    for key in 0..50 {
        map.remove(key);
    }
    assert_eq!(Arc::strong_count(&alive), 51);
    drop(map);
    assert_eq!(Arc::strong_count(&alive), 1);
}

/// One computation at a time per key, whoever asks and however it ends.
#[test]
fn computations_of_a_key_never_overlap() {
    const KEYS: usize = 1_000;
    let map = Arc::new(OnceMap::<usize, usize>::new());
    let alone: Arc<Vec<Mutex<()>>> = Arc::new((0..KEYS).map(|_| Mutex::new(())).collect());
    let threads: Vec<_> = (0..4)
        .map(|index| {
            let (map, alone) = (Arc::clone(&map), Arc::clone(&alone));
            thread::spawn(move || {
                for key in 0..KEYS {
                    let compute = || {
                        let _alone = alone[key].try_lock().expect("alone");
                        thread::yield_now();
                        key
                    };
                    match (key + index) % 4 {
                        0 => assert_eq!(map.get_or_init(key, compute), key),
                        1 => drop(map.get_or_try_init(key, || Err::<usize, _>(compute()))),
                        2 => assert_eq!(block_on(map.share_async(key, async || compute())), key),
                        _ => assert_eq!(block_on(map.get_or_init_async(key, async || compute())), key),
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    for key in 0..KEYS {
        assert_eq!(map.remove(key), Some(key));
    }
    assert!(map.is_empty());
}
