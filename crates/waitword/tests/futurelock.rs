//! Futures that nobody polls (Oxide RFD 609): called, they take nothing and say nothing, and those behind them get
//! the lock all the same.
//!
//! None of these tests measures time. Each would hang if an unpolled future could keep the lock from the others.

mod common;

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::task::Poll;
use std::thread;
use std::time::Instant;

use common::{Task, block_on, far, until};
use waitword::{AsyncLock, PATIENCE, Table};

/// The shape of the report: one branch of a `select!` waits for the lock, another wins and, in its handler, wants the
/// same lock, while the first is alive and not polled.
#[test]
fn select_whose_handler_wants_what_an_unpolled_branch_was_offered() {
    async fn body(lock: Arc<AsyncLock>) {
        lock.lock_async().await;
        let (tell, told) = tokio::sync::oneshot::channel();
        let releases = tokio::spawn({
            let lock = Arc::clone(&lock);
            async move {
                let () = told.await.unwrap();
                lock.unlock().unwrap();
            }
        });
        let mut first = pin!(lock.lock_async());
        tokio::select! {
            biased;
            () = &mut first => unreachable!("the lock is held"),
            () = tokio::task::yield_now() => {
                tell.send(()).unwrap();
                // `first` is called, and this waits behind it.
                lock.lock_async().await;
                lock.unlock().unwrap();
            }
        }
        releases.await.unwrap();
        // Its place was lost to us, its call was not.
        first.await;
        lock.unlock().unwrap();
    }
    let current = tokio::runtime::Builder::new_current_thread().build().unwrap();
    current.block_on(body(Arc::default()));
    let multi = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    multi.block_on(async { tokio::spawn(body(Arc::default())).await.unwrap() });
}

#[test]
fn a_task_waits_behind_its_own_unpolled_future() {
    async fn body(lock: &AsyncLock) {
        lock.lock();
        let mut first = pin!(lock.lock_async());
        assert!(poll_once(first.as_mut()).await.is_pending());
        lock.unlock().unwrap();
        assert!(lock.try_lock(), "the offer is not taken yet");
        let mut second = pin!(lock.lock_async());
        assert!(poll_once(second.as_mut()).await.is_pending());
        lock.unlock().unwrap();
        second.await;
        lock.unlock().unwrap();
        assert_eq!(lock.execute_locked(|| 1).await, 1);
        first.await;
        lock.unlock().unwrap();
    }
    smol::block_on(body(&AsyncLock::new()));
    block_on(body(&AsyncLock::new()));
}

/// Futures of which only one is polled at a time, as a stream of buffered futures does while its body runs.
#[test]
fn a_join_that_polls_one_future_at_a_time() {
    let lock = AsyncLock::new();
    lock.lock();
    block_on(async {
        let mut buffered: Vec<_> = (0..4).map(|_| Box::pin(lock.lock_async())).collect();
        for future in &mut buffered {
            assert!(poll_once(future.as_mut()).await.is_pending());
        }
        lock.unlock().unwrap();
        // From the last, so that all those not polled are before it.
        for future in buffered.iter_mut().rev() {
            future.await;
            lock.unlock().unwrap();
        }
        assert!(!lock.is_locked());
    });
}

#[test]
fn threads_behind_futures_that_nobody_polls() {
    let word = AtomicI32::new(0);
    let lock = AsyncLock::on(&word);
    for unpolled in 1..4 {
        lock.lock();
        let mut futures: Vec<_> = (0..unpolled).map(|_| Task::new(lock.lock_async())).collect();
        assert!(futures.iter_mut().all(|future| future.poll().is_pending()));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    lock.lock();
                    lock.unlock().unwrap();
                    lock.lock_until(far()).unwrap();
                    lock.unlock().unwrap();
                });
            }
            until(|| Table::global().waiters(&word) == unpolled + 3);
            lock.unlock().unwrap();
        });
        // What they were offered harms nobody when they go.
        drop(futures);
        assert!(lock.try_lock());
        lock.unlock().unwrap();
        assert_eq!(Table::global().waiters(&word), 0);
    }
}

/// The second race of `acquire`: a newcomer takes the lock from under an unpolled future, and knows nothing of those
/// behind it.
#[test]
fn a_look_puts_the_mark_back_that_a_newcomer_lost() {
    let word = AtomicI32::new(0);
    let lock = AsyncLock::on(&word);
    lock.lock();
    let mut unpolled = Task::new(lock.lock_async());
    let mut behind = Task::new(lock.lock_async());
    assert!(unpolled.poll().is_pending() && behind.poll().is_pending());
    lock.unlock().unwrap();
    assert!(lock.try_lock());
    assert_eq!(format!("{lock:?}"), "AsyncLock { state: locked }", "the mark is lost");
    // Its alarm goes off; nobody has called it.
    until(|| behind.is_woken());
    assert!(behind.poll().is_pending());
    assert_eq!(format!("{lock:?}"), "AsyncLock { state: locked with waiters }");
    assert_eq!(Table::global().waiters(&word), 1, "it has kept its place");
    lock.unlock().unwrap();
    assert!(behind.is_woken(), "the newcomer has called it");
    assert!(behind.poll().is_ready());
    lock.unlock().unwrap();
    assert!(unpolled.poll().is_ready());
}

#[test]
fn a_look_that_succeeds_leaves_the_line() {
    let word = AtomicI32::new(0);
    let lock = AsyncLock::on(&word);
    lock.lock();
    let mut unpolled = Task::new(lock.lock_async());
    let mut behind = Task::new(lock.lock_async());
    assert!(unpolled.poll().is_pending() && behind.poll().is_pending());
    lock.unlock().unwrap();
    until(|| behind.is_woken());
    assert!(behind.poll().is_ready());
    assert_eq!(Table::global().waiters(&word), 0, "else it would be called in somebody's place");
    lock.unlock().unwrap();
}

#[test]
fn looks_in_vain_become_rare() {
    let lock = AsyncLock::new();
    lock.lock();
    let mut task = Task::new(lock.lock_async());
    let mut rest = PATIENCE;
    for _ in 0..4 {
        let before = Instant::now();
        assert!(task.poll().is_pending());
        until(|| task.is_woken());
        assert!(before.elapsed() >= rest);
        rest *= 2;
    }
}

/// A future that is leaked while it is in line is never polled again, and never leaves.
#[test]
fn a_leaked_future_costs_the_others_their_patience_once() {
    let lock: &'static AsyncLock = Box::leak(Box::new(AsyncLock::new()));
    lock.lock();
    let mut leaked = Box::pin(lock.lock_async());
    assert!(block_on(poll_once(leaked.as_mut())).is_pending());
    std::mem::forget(leaked);
    let thread = thread::spawn(|| lock.lock());
    lock.unlock().unwrap();
    thread.join().unwrap();
    lock.unlock().unwrap();
}

async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}
