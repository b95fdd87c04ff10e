//! Deadlines that pass at any moment, also between a signal and its acknowledgement.

use std::ops::Deref;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use waitword::{LockError, Mutex};

use crate::common::{PlainCounter, block_on};

const ROUNDS: u64 = 5_000;

#[test]
fn deadlines_that_pass_at_any_moment_lose_no_signal() {
    let mutex = Arc::new(Mutex::new(PlainCounter::default()));
    let entered: u64 = thread::scope(|scope| {
        let threads = (0..3).map(|_| scope.spawn(|| as_thread(&mutex))).collect::<Vec<_>>();
        let tasks = (0..3).map(|_| scope.spawn(|| block_on(as_task(&mutex)))).collect::<Vec<_>>();
        threads.into_iter().chain(tasks).map(|each| each.join().unwrap()).sum()
    });
    assert_eq!(mutex.lock().get(), entered);
}

fn as_thread(mutex: &Mutex<PlainCounter>) -> u64 {
    let round = |round| match round % 2 {
        0 => entered(mutex.lock_for(short(round))),
        _ => entered(Ok(mutex.lock())),
    };
    (0..ROUNDS).map(round).sum()
}

async fn as_task(mutex: &Arc<Mutex<PlainCounter>>) -> u64 {
    let mut sum = 0;
    for round in 0..ROUNDS {
        sum += match round % 3 {
            0 => entered(mutex.lock_async_for(short(round)).await),
            1 => entered(mutex.lock_owned_async_for(short(round)).await),
            _ => entered(Ok(mutex.lock_async().await)),
        };
    }
    sum
}

fn short(round: u64) -> Duration {
    Duration::from_micros(round % 40)
}

/// How often the counter was incremented by this.
fn entered(locked: Result<impl Deref<Target = PlainCounter>, LockError>) -> u64 {
    match locked {
        Ok(counter) => {
            counter.increment();
            1
        }
        Err(error) => {
            assert_eq!(error, LockError::TIMED_OUT);
            0
        }
    }
}
