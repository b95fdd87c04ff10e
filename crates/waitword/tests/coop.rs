//! Locks that are free, in a loop of a task: the other tasks of its thread get to run all the same, with tokio's `cooperative`
//! around the future, or with the feature `tokio`.

mod common;
#[cfg(feature = "tokio")]
#[path = "common/rows.rs"]
mod rows;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime;
use tokio::task::coop::cooperative;
use waitword::word::Outcome;
use waitword::{Event, Mutex, RwLock, Semaphore, wait_async};

/// Many times tokio's budget, which is 128 today.
const ROUNDS: usize = 100_000;

/// Whether another task of the thread gets to run while this one completes one future after the other. None of them waits.
fn lets_others_run(mut once: impl AsyncFnMut()) -> bool {
    let runtime = runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let other = tokio::spawn(async {});
        for _ in 0..ROUNDS {
            once().await;
            if other.is_finished() {
                return true;
            }
        }
        false
    })
}

/// The program that this is about: one task works on a lock until another, which sleeps, says that it is over. Fails if the
/// timer does not get its turn.
fn is_over_in_time(mut once: impl AsyncFnMut()) -> bool {
    let runtime = runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        static OVER: AtomicBool = AtomicBool::new(false);
        OVER.store(false, Ordering::Relaxed);
        tokio::spawn(async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            OVER.store(true, Ordering::Relaxed);
        });
        let start = Instant::now();
        while !OVER.load(Ordering::Relaxed) {
            once().await;
            // Far more than 50 ms, also on a machine with much else to do.
            if start.elapsed() > Duration::from_secs(60) {
                return false;
            }
        }
        true
    })
}

#[test]
fn the_remedy_lets_others_run() {
    let (mutex, rwlock, semaphore, event) = (Mutex::new(0), RwLock::new(0), Semaphore::new(1), Event::new());
    assert!(lets_others_run(async || *cooperative(mutex.lock_async()).await += 1), "Mutex");
    assert!(lets_others_run(async || *cooperative(rwlock.write_async()).await += 1), "RwLock");
    assert!(lets_others_run(async || drop(cooperative(semaphore.acquire_async()).await)), "Semaphore");
    let event = async || {
        event.notify_one();
        cooperative(event.wait_async()).await;
    };
    assert!(lets_others_run(event), "Event");
    assert!(is_over_in_time(async || *cooperative(mutex.lock_async()).await += 1), "the timer");
}

/// The word level takes no part, also with the feature.
#[test]
fn the_remedy_serves_for_a_word() {
    let word = std::sync::atomic::AtomicI32::new(1);
    let once = async || assert_eq!(cooperative(wait_async(&word, 0)).await, Outcome::NotEqual);
    assert!(lets_others_run(once));
}

#[cfg(not(feature = "tokio"))]
#[test]
fn without_the_feature_a_task_that_never_waits_keeps_its_thread() {
    let mutex = Mutex::new(0);
    assert!(!lets_others_run(async || *mutex.lock_async().await += 1));
}

#[cfg(feature = "tokio")]
mod with_the_feature {
    use std::future::{Future, poll_fn};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use tokio::task::coop::{has_budget_remaining, poll_proceed};
    use waitword::word::AsyncLock;
    use waitword::*;

    use super::*;
    use crate::common::law::{Call, Row, law, laws};

    laws! {
        [mutex reader upgradable_reader writer upgrade permit permits async_lock callback event wait_group barrier cell initialiser]:
            a_future_that_completes_at_once_lets_others_run;
        [mutex reader upgradable_reader writer upgrade permit permits async_lock event wait_group barrier cell]:
            a_future_whose_time_is_up_lets_others_run;
    }

    fn a_future_that_completes_at_once_lets_others_run<L>(row: &Row<L>) {
        for way in &row.ways {
            if let Call::Task(call, _) = way.call {
                let once = async || drop(call(&(row.open)(), Duration::ZERO).await.unwrap());
                assert!(lets_others_run(once), "{}", way.name);
            }
        }
    }

    fn a_future_whose_time_is_up_lets_others_run<L>(row: &Row<L>) {
        let lock = (row.closed)();
        let _open = (row.close)(&lock);
        for way in row.ways.iter().filter(|way| way.is_timed()) {
            if let Call::Task(call, _) = way.call {
                let once = async || assert!(call(&lock, Duration::ZERO).await.is_err());
                assert!(lets_others_run(once), "{}", way.name);
            }
        }
    }

    /// What has no row, or one that locks the mutex in the future.
    #[test]
    fn other_futures_that_complete_at_once_let_others_run() {
        let (mutex, condvar, lazy) = (Mutex::new(0), Condvar::new(), LazyLock::new(|| 1));
        let guard = || mutex.try_lock().unwrap();
        assert!(lets_others_run(async || _ = condvar.wait_async(guard()).timeout(Duration::ZERO).await));
        let wait = async || _ = condvar.wait_while_async(guard(), |_| true).timeout(Duration::ZERO).await;
        assert!(lets_others_run(wait));
        assert!(lets_others_run(async || _ = LazyLock::force_async(&lazy).await));
        assert!(is_over_in_time(async || *mutex.lock_async().await += 1), "the timer");
    }

    /// Runs `body` in a task that has no budget any more, until it awaits.
    fn exhausted<T>(body: impl AsyncFnOnce() -> T) -> T {
        let runtime = runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            while has_budget_remaining() {
                poll_fn(|cx| poll_proceed(cx).map(|unit| unit.made_progress())).await;
            }
            body().await
        })
    }

    /// One poll, in the budget of the task that polls.
    async fn polled<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
        poll_fn(|cx| Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx))).await
    }

    #[test]
    fn what_is_free_is_left_free_until_the_task_has_yielded() {
        let (mutex, semaphore, lock) = (Mutex::new(1), Semaphore::new(2), AsyncLock::new());
        let rwlock = RwLock::new(1);
        exhausted(async || {
            let mut locked = pin!(mutex.lock_async());
            assert!(polled(&mut locked).await.is_pending() && !mutex.is_locked());
            let mut acquired = pin!(semaphore.acquire_many_async(2));
            assert!(polled(&mut acquired).await.is_pending() && semaphore.available_permits() == 2);
            let mut entered = pin!(lock.lock_async());
            assert!(polled(&mut entered).await.is_pending() && !lock.is_locked());
            let mut read = pin!(rwlock.read_async().timeout(Duration::from_secs(60)));
            assert!(polled(&mut read).await.is_pending() && rwlock.try_write().is_some());
            let mut upgraded = pin!(RwLockUpgradableReadGuard::upgrade_async(rwlock.upgradable_read()));
            assert!(polled(&mut upgraded).await.is_pending());
            assert!(rwlock.try_read().is_some() && rwlock.try_upgradable_read().is_none());

            tokio::task::yield_now().await;
            assert!(polled(&mut locked).await.is_ready());
            assert!(polled(&mut acquired).await.is_ready());
            assert!(polled(&mut entered).await.is_ready());
            assert!(polled(&mut upgraded).await.is_ready());
            assert!(polled(&mut read).await.is_ready());
        });
    }

    /// Else all acquirers that come until the next poll of a task without budget would be queued before it. Once more if the
    /// watchdog may have skipped the first, on a slow machine.
    #[test]
    fn a_waiter_enqueues_without_budget() {
        let once = || {
            let mutex = Mutex::new(());
            let guard = mutex.lock();
            exhausted(async || {
                let mut first = pin!(mutex.lock_async());
                assert!(polled(&mut first).await.is_pending());
                assert!(format!("{first:?}").contains("waiting: true"), "{first:?}");
                let mut second = common::Task::queued(mutex.lock_async());

                let released = Instant::now();
                drop(guard);
                assert!(polled(&mut first).await.is_pending(), "no budget");
                assert!(second.poll().is_pending(), "no budget, and not first in the queue");
                tokio::task::yield_now().await;
                let waits = second.poll().is_pending();
                if released.elapsed() >= STALL_TIMEOUT {
                    return false;
                }
                assert!(waits, "not first in the queue");
                let Poll::Ready(guard) = polled(&mut first).await else {
                    panic!("signalled, and has budget")
                };
                drop(guard);
                assert!(second.is_woken(), "by the release, and not by the watchdog later");
                assert!(second.poll().is_ready());
                true
            })
        };
        common::until(once);
    }

    #[test]
    fn a_waiter_for_a_lock_of_scripts_enqueues_without_budget() {
        let lock = AsyncLock::new();
        lock.lock();
        exhausted(async || {
            let mut wait = pin!(lock.lock_async());
            assert!(polled(&mut wait).await.is_pending());
            assert!(format!("{wait:?}").contains("waiting: true"), "{wait:?}");
            lock.unlock().unwrap();
            assert!(polled(&mut wait).await.is_pending() && !lock.is_locked(), "no budget");
            tokio::task::yield_now().await;
            assert!(polled(&mut wait).await.is_ready());
        });
    }

    /// Others need it.
    #[test]
    fn a_wait_for_a_condition_releases_the_mutex_without_budget() {
        let (mutex, changed) = (Mutex::new(false), Condvar::new());
        exhausted(async || {
            let guard = mutex.lock();
            let mut wait = pin!(changed.wait_while_async(guard, |done| !*done));
            assert!(polled(&mut wait).await.is_pending());
            *mutex.try_lock().expect("released") = true;
            assert!(changed.notify_one(), "queued");
            assert!(polled(&mut wait).await.is_pending() && !mutex.is_locked());
            tokio::task::yield_now().await;
            assert!(polled(&mut wait).await.is_ready());
        });
    }

    #[test]
    fn a_wakeup_that_waits_for_budget_is_forwarded_when_the_future_is_dropped() {
        let event = Event::new();
        exhausted(async || {
            event.notify_one();
            {
                let mut wait = pin!(event.wait_async());
                assert!(polled(&mut wait).await.is_pending());
                assert!(!event.try_wait(), "the future has it");
            }
            assert!(event.try_wait());

            let mut one = pin!(event.wait_async());
            event.notify_all();
            assert!(polled(&mut one).await.is_pending());
            tokio::task::yield_now().await;
            assert!(polled(&mut one).await.is_ready());
        });
    }

    /// Another task that blocks for it would keep the thread from coming back.
    #[test]
    fn a_task_without_budget_does_not_yield_with_what_excludes_others() {
        let (mutex, changed) = (Mutex::new(1), Condvar::new());
        exhausted(async || {
            let mut wait = pin!(changed.wait_while_async(mutex.lock(), |count| *count == 0));
            assert!(polled(&mut wait).await.is_ready(), "the mutex");
            let far = Instant::now() + Duration::from_secs(600);
            let mut wait = pin!(changed.wait_while_async(mutex.lock(), |count| *count == 0).deadline(far));
            assert!(polled(&mut wait).await.is_ready(), "the mutex");
        });
        let cell = OnceLock::new();
        exhausted(async || {
            let mut made = pin!(cell.get_or_init_async(async || 1));
            assert!(polled(&mut made).await.is_ready(), "the turn of the initialiser");
        });
    }

    /// It would never be polled again, since its task does not come back before it returns.
    #[test]
    fn a_thread_consumes_no_budget() {
        let (event, mutex) = (Event::new(), Mutex::new(1));
        exhausted(async || {
            let mut listener = pin!(event.listen());
            event.notify_one();
            assert!(listener.as_mut().try_wait());
            event.notify_one();
            listener.as_mut().wait();
            event.notify_all();
            assert_eq!(listener.wait_for(Duration::ZERO), Ok(()));
            drop(mutex.lock());
            assert!(mutex.lock_for(Duration::from_secs(60)).is_ok());
        });
    }

    #[test]
    fn outside_of_tokio_there_is_no_end_of_it() {
        let (mutex, event) = (Mutex::new(0), Event::new());
        for _ in 0..1_000 {
            let mut cx = Context::from_waker(Waker::noop());
            assert!(pin!(mutex.lock_async()).poll(&mut cx).is_ready());
            event.notify_one();
            assert!(pin!(event.wait_async()).poll(&mut cx).is_ready());
        }
        smol::future::block_on(async {
            for _ in 0..1_000 {
                *mutex.lock_async().await += 1;
            }
        });
        assert_eq!(mutex.into_inner(), 1_000);
    }

    /// Nobody pays for a wait that goes on.
    #[test]
    fn a_future_that_stays_pending_consumes_nothing() {
        let mutex = Mutex::new(());
        let _held = mutex.lock();
        let runtime = runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut locked = pin!(mutex.lock_async());
            for _ in 0..ROUNDS {
                assert!(polled(&mut locked).await.is_pending());
            }
            assert!(has_budget_remaining());
        });
    }
}
