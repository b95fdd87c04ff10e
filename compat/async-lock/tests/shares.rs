//! The guards over an `Arc` hold an `Arc` of the inner lock, in the same allocation: no reference may be leaked, and none released twice.

use std::sync::Arc;

use async_lock::{Barrier, BarrierWaitResult, Mutex, MutexGuardArc, RwLock, Semaphore};

#[test]
fn shares_are_taken_and_given_back() {
    let (mutex, lock, semaphore) =
        (Arc::new(Mutex::new(1)), Arc::new(RwLock::new(1)), Arc::new(Semaphore::new(1)));
    for _ in 0..3 {
        let guard = mutex.lock_arc_blocking();
        assert!(Arc::ptr_eq(MutexGuardArc::source(&guard), &mutex));
        // A program may rely on this count, for `Arc::try_unwrap` of a clone of `source`.
        assert_eq!(Arc::strong_count(&mutex), 2);
        drop(guard);
        assert_eq!(*lock.try_read_arc().unwrap(), 1);
        smol::block_on(async {
            drop((mutex.lock_arc().await, lock.write_arc().await, semaphore.acquire_arc().await));
        });
    }
    assert_eq!(
        (Arc::strong_count(&mutex), Arc::strong_count(&lock), Arc::strong_count(&semaphore)),
        (1, 1, 1)
    );
}

#[test]
fn a_guard_outlives_what_it_was_made_from() {
    let guard = Arc::new(Mutex::new(String::from("alone"))).lock_arc_blocking();
    assert_eq!(*guard, "alone");
}

#[test]
fn values_may_be_unsized() {
    let words: Arc<Mutex<[u8]>> = Arc::new(Mutex::new([1, 2, 3]));
    smol::block_on(words.lock_arc())[2] = 4;
    let shown: Arc<RwLock<dyn std::fmt::Debug + Send + Sync>> = Arc::new(RwLock::new("shown"));
    assert_eq!(
        (&words.try_lock().unwrap()[..], format!("{:?}", shown.read_arc_blocking())),
        (&[1, 2, 4][..], "\"shown\"".into())
    );
}

#[test]
fn texts_are_those_of_the_original() {
    let (mutex, lock, barrier) = (Mutex::new(1), Arc::new(RwLock::new(1)), Barrier::new(1));
    let shown = format!("{mutex:?} {lock:?} {:?} {:?}", mutex.lock(), lock.read_arc());
    let expected = "Mutex { data: 1 } RwLock { value: 1 } Lock { .. } ReadArc { .. }";
    assert_eq!(shown, expected);
    let (_one, _other) = (mutex.lock_blocking(), lock.write_blocking());
    assert_eq!(format!("{mutex:?} {lock:?}"), "Mutex { data: <locked> } RwLock { value: <locked> }");
    assert!(BarrierWaitResult::is_leader(&barrier.wait_blocking()));
}
