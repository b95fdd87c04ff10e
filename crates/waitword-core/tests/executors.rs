//! The same waits under real executors, and the conservation law under load, for few and for herds.

mod common;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use common::{Random, poll_with, random, until};
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

/// A thread has one token for all its notifiers. A blocking wait further down the stack must not use up a wake that was meant for the task:
/// below this crate's executor, and below one that parks with the standard library alone, as the example of `std::task::Wake` does, which has
/// no more of a wake than that token.
#[test]
fn a_task_woken_while_its_thread_is_blocked_below_it() {
    struct Unparks(Thread);
    impl Wake for Unparks {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    type Executor = fn() -> (Waker, Box<dyn Fn()>);
    let executors: [Executor; 2] = [
        || (Parker::current().waker().clone(), Box::new(|| Parker::current().park())),
        || (Waker::from(Arc::new(Unparks(thread::current()))), Box::new(thread::park)),
    ];
    for executor in executors {
        let words = Arc::new([AtomicI32::new(0), AtomicI32::new(0)]);
        let of_thread = Arc::clone(&words);
        let thread = thread::spawn(move || {
            let (waker, park) = executor();
            let mut task = pin!(wait_async(&of_thread[0], 0));
            assert!(poll_with(task.as_mut(), &waker).is_pending());
            assert_eq!(wait(&of_thread[1], 0), Outcome::Notified);
            loop {
                park();
                if let Poll::Ready(outcome) = poll_with(task.as_mut(), &waker) {
                    return outcome;
                }
            }
        });
        until(|| Table::global().waiters(&words[1]) == 1);
        assert_eq!(notify_one(&words[0]), 1);
        assert_eq!(notify_one(&words[1]), 1);
        until(|| thread.is_finished());
        assert_eq!(thread.join().unwrap(), Outcome::Notified);
    }
}

#[test]
fn hand_written_block_on_in_threads() {
    block_on(ping_pong(|task| drop(thread::spawn(|| block_on(task)))));
}

/// A task, a future and a thread hand a word around: each waits for its number.
async fn ping_pong(spawn: impl Fn(std::pin::Pin<Box<dyn Future<Output = ()> + Send>>)) {
    let word = Arc::new(AtomicI32::new(0));
    let (at, there) = (Arc::clone(&word), Arc::clone(&word));
    spawn(Box::pin(async move { laps(&at, 0, |value| wait_async(&*at, value)).await }));
    let thread = thread::spawn(move || {
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

/// Threads and tasks wait with short deadlines on a few words, drop waits midway, and notify at random.
#[test]
fn the_sum_of_all_notifies_is_the_number_of_notified() {
    soak::<3>(4, 20_000, &EVERYTHING, &[1]);
}

/// The long form: `cargo test --release -p waitword-core -- --ignored`.
#[test]
#[ignore = "runs for minutes"]
fn soak_for_long() {
    soak::<3>(4, 3_000_000, &EVERYTHING, &[1]);
}

/// Threads leave their parks for a deadline of their own while notifiers give them others to wake, which have no deadline and
/// would sleep for ever.
#[test]
fn a_thread_whose_deadline_comes_loses_none_that_it_is_to_wake() {
    soak::<1>(24, 400, &[wait_briefly, |at, _| Ok(wait(at, 0))], &[usize::MAX, 7]);
}

/// A wait, and how it ended; or a notify, and how many it has counted.
type Act = fn(At<'_, AtomicI32>, &mut Random) -> Result<Outcome, usize>;

const EVERYTHING: [Act; 5] = [
    wait_briefly,
    |at, random| Ok(block_on(wait_async_for(at, 0, briefly(random)))),
    |at, _| Ok(dropped_after_one_poll(wait_async(at, 0))),
    |at, _| Ok(wait(at, 1)),
    |at, random| Err(notify_many(at, [1, 1, 2, usize::MAX][random.below(4)])),
];

fn wait_briefly(at: At<'_, AtomicI32>, random: &mut Random) -> Result<Outcome, usize> {
    Ok(wait_for(at, 0, briefly(random)))
}

fn briefly(random: &mut Random) -> Duration {
    Duration::from_micros(random.below(200) as u64)
}

/// So many threads draw from `acts` so many times, beside a notifier for each of `counts`: the sum of what the notifies return is the number of
/// waits that were notified, and no waiter is left.
fn soak<const WORDS: usize>(threads: usize, rounds: usize, acts: &[Act], counts: &[usize]) {
    let (table, words) = (&Table::with_shards(2), &[const { AtomicI32::new(0) }; WORDS]);
    let [notified, counted, running] = &[0, 0, threads].map(AtomicUsize::new);
    thread::scope(|scope| {
        for me in 0..threads {
            scope.spawn(move || {
                let mut random = random(me as u64);
                for _ in 0..rounds {
                    let at = table.at(&words[random.below(WORDS)]);
                    match acts[random.below(acts.len())](at, &mut random) {
                        Ok(Outcome::Notified) => _ = notified.fetch_add(1, Ordering::Relaxed),
                        Ok(_) => {}
                        Err(count) => _ = counted.fetch_add(count, Ordering::Relaxed),
                    }
                }
                running.fetch_sub(1, Ordering::SeqCst);
            });
        }
        for &count in counts {
            scope.spawn(move || {
                while running.load(Ordering::SeqCst) > 0 {
                    for word in words {
                        counted.fetch_add(notify_many(table.at(word), count), Ordering::Relaxed);
                    }
                    thread::yield_now();
                }
            });
        }
    });
    assert_eq!(notified.load(Ordering::SeqCst), counted.load(Ordering::SeqCst));
    assert!(words.iter().all(|word| table.waiters(word) == 0));
}

/// More than three batches.
#[test]
fn every_thread_of_a_herd_returns() {
    const THREADS: usize = 100;
    const TIMES: i32 = 20;
    let (table, word) = (Table::with_shards(1), AtomicI32::new(0));
    let at = table.at(&word);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(move || (0..TIMES).for_each(|time| assert_eq!(wait(at, time), Outcome::Notified)));
        }
        for time in 0..TIMES {
            until(|| table.waiters(&word) == THREADS);
            word.store(time + 1, Ordering::SeqCst);
            assert_eq!(notify_all(at), THREADS);
        }
    });
}

fn dropped_after_one_poll<L: Location>(wait: WaitAsync<L>) -> Outcome {
    let mut wait = pin!(wait);
    let polled = poll_with(wait.as_mut(), Waker::noop());
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
