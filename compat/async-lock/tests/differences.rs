//! The differences from async-lock that `lib.rs` lists.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use async_lock::{Barrier, OnceCell, RwLock, Semaphore};

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn eight_slow_readers_pass_a_writer_that_waits() {
    let lock = RwLock::new(());
    let _reader = lock.read_blocking();
    let mut writer = pin!(lock.write());
    assert!(poll(writer.as_mut()).is_pending());
    let mut passed = 0;
    while poll(pin!(lock.read())).is_ready() {
        passed += 1;
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(passed, 8);
}

/// With async-lock, both readers acquire the lock.
#[test]
fn those_that_wait_get_in_in_order() {
    let lock = RwLock::new(());
    let first = lock.write_blocking();
    let (mut reader, mut writer, mut last) = (pin!(lock.read()), pin!(lock.write()), pin!(lock.read()));
    assert!(poll(reader.as_mut()).is_pending());
    assert!(poll(writer.as_mut()).is_pending() && poll(last.as_mut()).is_pending());
    drop(first);
    let Poll::Ready(guard) = poll(reader) else { panic!("the first waits") };
    assert!(poll(last.as_mut()).is_pending() && poll(writer.as_mut()).is_pending());
    drop(guard);
    assert!(poll(writer).is_ready());
    assert!(poll(last).is_ready());
}

#[test]
fn a_future_that_is_polled_after_it_was_ready_panics() {
    fn panics<F: Future>(future: F) -> bool {
        let mut future = pin!(future);
        assert!(poll(future.as_mut()).is_ready());
        catch_unwind(AssertUnwindSafe(|| drop(poll(future)))).is_err()
    }
    let (lock, semaphore) = (RwLock::new(()), Semaphore::new(2));
    assert_eq!([panics(lock.read()), panics(lock.upgradable_read()), panics(semaphore.acquire())], [true; 3]);
}

#[test]
fn texts_that_are_not_those_of_the_original() {
    let (barrier, semaphore, cell) = (Barrier::new(1), Semaphore::new(2), OnceCell::<i32>::new());
    let shown = format!("{barrier:?} {:?} {semaphore:?} {:?}", barrier.wait(), semaphore.try_acquire());
    let expected = "Barrier(Barrier { parties: 1, arrived: 0 }) BarrierWait { waiting: false, .. } \
        Semaphore(Semaphore { available_permits: 1, is_closed: false }) Some(SemaphorePermit { permits: 1, .. })";
    assert_eq!(shown, expected);
    let mut initialiser = pin!(cell.get_or_init(std::future::pending));
    assert!(poll(initialiser.as_mut()).is_pending());
    assert_eq!(format!("{cell:?}"), "OnceCell(<uninitialized>)");
}

/// As with async-lock, because the upgradable reader that holds the lock may wait for these readers.
#[test]
fn readers_pass_an_upgradable_reader_that_waits_for_another() {
    let lock = RwLock::new(());
    let holder = lock.upgradable_read_blocking();
    let mut waits = pin!(lock.upgradable_read());
    assert!(poll(waits.as_mut()).is_pending());
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(20) {
        assert!(poll(pin!(lock.read())).is_ready());
    }
    drop(holder);
    assert!(poll(waits).is_ready());
}
