//! Wakers that panic, and wakers whose destructors do: exclusion holds, and no waiter waits in vain.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread;
use std::time::Duration;

use waitword::word::AsyncLock;
use waitword::{Condvar, Mutex, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, Semaphore};

use crate::alone;
use crate::common::{Panics, Task, panics, panics_at_its_end, poll, until, waiters};

struct PanicsAtItsEnd;

impl Wake for PanicsAtItsEnd {
    fn wake(self: Arc<Self>) {}
}

impl Drop for PanicsAtItsEnd {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("the waker's destructor");
        }
    }
}

/// Polls with a waker of which only the wait has a clone then.
fn poll_with<F: Future>(future: Pin<&mut F>, waker: impl Wake + Send + Sync + 'static) -> Poll<F::Output> {
    let waker = Waker::from(Arc::new(waker));
    future.poll(&mut Context::from_waker(&waker))
}

fn queued<F: Future>(future: F, waker: impl Wake + Send + Sync + 'static) -> Pin<Box<F>> {
    let mut future = Box::pin(future);
    assert!(poll_with(future.as_mut(), waker).is_pending());
    future
}

/// The wait releases the mutex, and the waker of the waiter that it signals panics.
#[test]
fn a_blocking_wait_whose_release_meets_a_waker_that_panics_waits() {
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    let mut guard = mutex.lock();
    let mut signalled = queued(mutex.lock_async(), Panics);
    thread::scope(|scope| {
        scope.spawn(|| until(|| condvar.notify_one()));
        condvar.wait(&mut guard);
    });
    assert!(mutex.try_lock().is_none(), "there is a guard");
    drop(guard);
    assert!(poll(signalled.as_mut()).is_ready());
}

/// The last reader leaves while the waker is cloned, so the upgrade does not enqueue; and the clone's destructor panics.
#[test]
fn an_upgrade_that_panics_before_it_waits_lets_readers_in() {
    static LOCK: RwLock<()> = RwLock::new(());
    static READER: std::sync::Mutex<Option<RwLockReadGuard<'static, ()>>> = std::sync::Mutex::new(None);
    const CLONED: *const () = std::ptr::without_provenance(1);
    fn clone(_: *const ()) -> RawWaker {
        drop(READER.lock().unwrap().take());
        RawWaker::new(CLONED, &VTABLE)
    }
    fn nothing(_: *const ()) {}
    fn end(of: *const ()) {
        assert!(of != CLONED || std::thread::panicking(), "the waker's destructor");
    }
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, nothing, nothing, end);
    *READER.lock().unwrap() = Some(LOCK.read());
    let mut upgrade = Box::pin(RwLockUpgradableReadGuard::upgrade_async(LOCK.upgradable_read()));
    // SAFETY: the functions use no data.
    let waker = unsafe { Waker::new(std::ptr::null(), &VTABLE) };
    assert!(panics(|| drop(upgrade.as_mut().poll(&mut Context::from_waker(&waker)))));
    drop(upgrade);
    assert!(LOCK.try_read().is_some(), "there is no writer");
    assert!(LOCK.try_write().is_some());
}

/// It was notified, and the waker that its alarm had goes as it ends: the poll panics, and the notify goes to the next waiter.
#[test]
fn a_notify_reaches_somebody_whatever_the_waker_of_an_alarm_does() {
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    let guard = mutex.lock();
    let mut timed = queued(condvar.wait_async(guard).timeout(Duration::from_secs(600)), PanicsAtItsEnd);
    let next = Task::queued(condvar.wait_async(mutex.lock()));
    assert!(condvar.notify_one());
    let mut cx = Context::from_waker(Waker::noop());
    assert!(panics(|| drop(timed.as_mut().poll(&mut cx))));
    assert!(!mutex.is_locked());
    drop(timed);
    drop(next.finish());
}

#[test]
fn permits_reserved_for_a_waiter_that_gives_up_go_to_the_next_whatever_its_waker_does() {
    let semaphore = Semaphore::new(1);
    let mut wants_many = queued(semaphore.acquire_many_async(2), PanicsAtItsEnd);
    let mut next = Task::new(semaphore.acquire_async());
    // Signalled, and too few: reserved from now on.
    let _ = panics(|| semaphore.add_permits(0));
    assert!(poll_with(wants_many.as_mut(), PanicsAtItsEnd).is_pending());
    assert!(next.poll().is_pending());
    // Unless the watchdog was faster, the wait has the last clone of its waker.
    let _ = panics(|| drop(wants_many));
    drop(next.finish().unwrap());
}

/// Notified, and moved to the end of the mutex's queue; dropped there.
#[test]
fn those_queued_for_the_mutex_get_it_whatever_the_waker_of_a_moved_wait_does() {
    let has_panicked = |_| {
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        let first = queued(condvar.wait_async(mutex.lock()), PanicsAtItsEnd);
        let guard = mutex.lock();
        // One is signalled by the notify, one by the release.
        let before = [(); 2].map(|()| Task::queued(mutex.lock_async()));
        assert_eq!(condvar.notify_all(), 1);
        let second = Task::queued(condvar.wait_async(guard));
        let has_panicked = panics(|| drop(first));
        before.into_iter().for_each(|task| drop(task.finish()));
        assert!(condvar.notify_one(), "it began after the notify of all");
        drop(second.finish());
        has_panicked
    };
    // Unless the watchdog was faster, and called it.
    assert!((0..10).any(has_panicked));
}

/// As above, signalled there; and the waker of the waiter that it forwards the signal to panics.
#[test]
fn a_moved_wait_is_dropped_whatever_the_waker_of_the_next_waiter_does() {
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    let first = Task::queued(condvar.wait_async(mutex.lock()));
    let guard = mutex.lock();
    let _on_its_way = Task::queued(mutex.lock_async());
    drop(guard);
    let guard = mutex.lock();
    assert_eq!(condvar.notify_all(), 1);
    assert!(first.is_woken());
    let _next = queued(mutex.lock_async(), Panics);
    // Releases the mutex. No waiter is signalled, because one signal is pending.
    let second = Task::queued(condvar.wait_async(guard));
    // Unless the watchdog was faster, this signals the next.
    let _ = panics(|| drop(first));
    assert!(!mutex.is_locked() && !second.is_woken());
    assert_eq!(condvar.notify_all(), 1, "it began after the other notify of all");
    drop(second.finish());
}

/// It rechecks on its own, because the head waiter is woken and not polled; so its waker is still queued when it has it, and
/// panics as it goes. Then the poll panics, and the lock is as if it had not been taken.
#[test]
fn what_a_future_has_acquired_is_not_lost_whatever_each_clone_of_its_waker_does() {
    let lock = AsyncLock::new();
    lock.lock();
    let woken = Task::queued(lock.lock_async());
    let mut rechecks = Box::pin(lock.lock_async());
    let waker = panics_at_its_end();
    let mut poll = || {
        let mut polled = None;
        panics(|| polled = Some(rechecks.as_mut().poll(&mut Context::from_waker(&waker))));
        polled
    };
    let _ = poll();
    lock.unlock().unwrap();
    until(|| match poll() {
        Some(Poll::Ready(())) => {
            lock.unlock().unwrap();
            true
        }
        Some(Poll::Pending) => false,
        None => {
            assert!(!lock.is_locked(), "it is taken, and its taker did not return");
            // If it has left the queue.
            waiters(&lock) == 0
        }
    });
    let _ = panics(|| drop(rechecks));
    drop(woken);
    assert!(lock.try_lock());
}

/// In a process of its own: the very signal whose waker panics starts the watchdog.
#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_waker_that_panics_does_not_keep_the_waiters_behind_it_from_their_signals() {
    let name = "foreign_panics::a_waker_that_panics_does_not_keep_the_waiters_behind_it_from_their_signals";
    alone::passes_alone(name, || {
        let mutex = Mutex::new(());
        let guard = mutex.lock();
        let _first = queued(mutex.lock_async(), Panics);
        let behind = Task::queued(mutex.lock_async());
        drop(guard);
        drop(behind.finish());
    });
}
