//! The same waits under real executors, and the conservation law under load.

mod common;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use common::{poll_with, random, until};
use waitword_core::*;

#[test]
fn tokio_current_thread() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(ping_pong(|task| drop(tokio::spawn(task))));
}

#[test]
fn tokio_multi_thread() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
    runtime.block_on(ping_pong(|task| drop(tokio::spawn(task))));
}

#[test]
fn smol_executor() {
    smol::block_on(ping_pong(|task| smol::spawn(task).detach()));
}

/// A thread has one token for all its notifiers. A blocking wait further down the stack must not use up a wake that was
/// meant for the task.
#[test]
fn a_task_woken_while_its_thread_is_blocked_below_it() {
    let words = Arc::new([AtomicI32::new(0), AtomicI32::new(0)]);
    let thread = std::thread::spawn({
        let words = Arc::clone(&words);
        move || {
            let mut task = pin!(wait_async(&words[0], 0));
            let mut first = true;
            block_on(std::future::poll_fn(|cx| {
                let polled = task.as_mut().poll(cx);
                if std::mem::take(&mut first) {
                    assert_eq!(wait(&words[1], 0), Outcome::Notified);
                }
                polled
            }))
        }
    });
    until(|| Table::global().waiters(&words[1]) == 1);
    assert_eq!(notify_one(&words[0]), 1);
    assert_eq!(notify_one(&words[1]), 1);
    until(|| thread.is_finished());
    assert_eq!(thread.join().unwrap(), Outcome::Notified);
}

/// The same below an executor that parks with the standard library alone, as the example of `std::task::Wake` does: the thread's token is all
/// that it has of a wake.
#[test]
fn a_task_woken_while_its_thread_is_blocked_below_it_in_an_executor_of_another_crate() {
    struct Unparks(std::thread::Thread);

    impl std::task::Wake for Unparks {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let words = Arc::new([AtomicI32::new(0), AtomicI32::new(0)]);
    let thread = std::thread::spawn({
        let words = Arc::clone(&words);
        move || {
            let waker = std::task::Waker::from(Arc::new(Unparks(std::thread::current())));
            let mut cx = std::task::Context::from_waker(&waker);
            let mut task = pin!(wait_async(&words[0], 0));
            assert!(task.as_mut().poll(&mut cx).is_pending());
            assert_eq!(wait(&words[1], 0), Outcome::Notified);
            loop {
                std::thread::park();
                if let std::task::Poll::Ready(outcome) = task.as_mut().poll(&mut cx) {
                    return outcome;
                }
            }
        }
    });
    until(|| Table::global().waiters(&words[1]) == 1);
    assert_eq!(notify_one(&words[0]), 1);
    assert_eq!(notify_one(&words[1]), 1);
    until(|| thread.is_finished());
    assert_eq!(thread.join().unwrap(), Outcome::Notified);
}

#[test]
fn hand_written_block_on_in_threads() {
    block_on(ping_pong(|task| drop(std::thread::spawn(|| block_on(task)))));
}

/// A task, a future and a thread hand a word around: each waits for its number.
async fn ping_pong(spawn: impl Fn(std::pin::Pin<Box<dyn Future<Output = ()> + Send>>)) {
    let word = Arc::new(AtomicI32::new(0));
    let (at, there) = (Arc::clone(&word), Arc::clone(&word));
    spawn(Box::pin(async move { laps(&at, 0, |value| wait_async(&*at, value)).await }));
    let thread = std::thread::spawn(move || {
        block_on(laps(&there, 1, |value| std::future::ready(wait(&*there, value))));
    });
    laps(&word, 2, |value| wait_async_for(&*word, value, Duration::from_secs(600))).await;
    assert_eq!(word.load(Ordering::SeqCst), 3 * LAPS);
    thread.join().unwrap();
}

const LAPS: i32 = 300;

async fn laps<W: Future<Output = Outcome>>(word: &AtomicI32, me: i32, wait: impl Fn(i32) -> W) {
    for _ in 0..LAPS {
        loop {
            let value = word.load(Ordering::SeqCst);
            if value % 3 == me {
                break;
            }
            assert_ne!(wait(value).await, Outcome::TimedOut);
        }
        word.fetch_add(1, Ordering::SeqCst);
        notify_all(word);
    }
}

/// Threads and tasks wait with short deadlines on a few words, drop waits midway, and notify at random: the sum of
/// what the notifies return is the number of waits that were notified, and no waiter is left.
#[test]
fn the_sum_of_all_notifies_is_the_number_of_notified() {
    soak(20_000);
}

/// The long form: `cargo test --release -p waitword-core -- --ignored`.
#[test]
#[ignore = "runs for minutes"]
fn soak_for_long() {
    soak(3_000_000);
}

fn soak(rounds: usize) {
    const WAITERS: usize = 4;
    let table = Table::with_shards(2);
    let words: [AtomicI32; 3] = Default::default();
    let (notified, counted, running) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(WAITERS));
    std::thread::scope(|scope| {
        for me in 0..WAITERS {
            let (table, words, notified, counted, running) = (&table, &words, &notified, &counted, &running);
            scope.spawn(move || {
                let mut random = random(me as u64);
                for _ in 0..rounds {
                    let at = table.at(&words[random.below(3)]);
                    let timeout = Duration::from_micros(random.below(200) as u64);
                    let outcome = match random.below(5) {
                        0 => wait_for(at, 0, timeout),
                        1 => block_on(wait_async_for(at, 0, timeout)),
                        2 => dropped_after_one_poll(wait_async(at, 0)),
                        3 => wait(at, 1),
                        _ => {
                            let count = [1, 1, 2, usize::MAX][random.below(4)];
                            counted.fetch_add(notify_many(at, count), Ordering::Relaxed);
                            continue;
                        }
                    };
                    notified.fetch_add(usize::from(outcome == Outcome::Notified), Ordering::Relaxed);
                }
                running.fetch_sub(1, Ordering::SeqCst);
            });
        }
        while running.load(Ordering::SeqCst) > 0 {
            for word in &words {
                counted.fetch_add(notify_one(table.at(word)), Ordering::Relaxed);
            }
        }
    });
    assert_eq!(notified.into_inner(), counted.into_inner());
    assert!(words.iter().all(|word| table.waiters(word) == 0));
}

fn dropped_after_one_poll<L: Location>(wait: WaitAsync<L>) -> Outcome {
    let mut wait = pin!(wait);
    let polled = poll_with(wait.as_mut(), std::task::Waker::noop());
    std::thread::yield_now();
    match polled {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => match wait.cancel() {
            Cancelled::AfterNotify => Outcome::Notified,
            Cancelled::BeforeNotify | Cancelled::AfterSignal | Cancelled::AfterRequeue => Outcome::TimedOut,
        },
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let parker = Parker::current();
    loop {
        match poll_with(future.as_mut(), parker.waker()) {
            Poll::Ready(value) => return value,
            Poll::Pending => parker.park(),
        }
    }
}
