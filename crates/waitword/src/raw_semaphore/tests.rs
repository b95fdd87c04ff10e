use std::sync::atomic::AtomicBool;
use std::thread;

use super::*;
use crate::acquire::Acquire;

#[test]
fn too_many_permits_are_at_no_time_in_the_word() {
    let semaphore = RawSemaphore::new(MAX_PERMITS);
    let ended = AtomicBool::new(false);
    let (taken, added) = thread::scope(|scope| {
        let adds = |n| {
            let (semaphore, ended) = (&semaphore, &ended);
            scope.spawn(move || {
                let mut added = false;
                while !ended.load(Ordering::Relaxed) {
                    added |= semaphore.add(n);
                }
                added
            })
        };
        let (one, many) = (adds(2), adds(MAX_PERMITS));
        let taken = (0..50_000).all(|_| semaphore.available() == MAX_PERMITS && semaphore.take(0));
        ended.store(true, Ordering::Relaxed);
        (taken, one.join().unwrap() | many.join().unwrap())
    });
    assert!(taken && !added);
    assert_eq!(semaphore.available(), MAX_PERMITS);
    assert!(semaphore.take(1) && !semaphore.add(2) && semaphore.add(1));
    assert!(!semaphore.add(usize::MAX));
}
