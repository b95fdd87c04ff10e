//! The queue below the locks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use waitword_core::{
    Outcome, notify_all, notify_many, notify_one, wait, wait_async, wait_async_for, wait_for,
};
use waitword_web::spawn;

use crate::tools::{join, sleep, step, workers};
use crate::{model, threads};

const WORDS: usize = 5;

/// Random histories go as the sequential model says, in a worker that polls tasks and agents, and with threads that block.
pub(crate) async fn histories_go_as_the_model_says(scale: u32) {
    const THREADS: u32 = 12;
    let threads: Vec<_> = workers(THREADS, |_| threads::serve());
    let driver = spawn(move || {
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        for _ in 0..100 * scale {
            let bytes: Vec<u8> = (0..1 + 4 * (next() % 60)).map(|_| next() as u8).collect();
            model::run(&model::History::decode(&bytes));
        }
    });
    driver.join_async().await.unwrap();
    // Each of them waits for a job.
    threads.into_iter().for_each(|thread| thread.terminate());
}

/// The sum of what all notifies return is the number of waits that were notified, of workers and of the page's tasks.
pub(crate) async fn conservation(scale: u32) {
    const WAITERS: u32 = 3;
    const TASKS: u32 = 8;
    let waits_each = 5_000 * scale;
    struct Shared {
        words: [AtomicI32; WORDS],
        counted: AtomicU64,
        notified: AtomicU64,
        is_over: AtomicBool,
    }
    let shared = Arc::new(Shared {
        words: [const { AtomicI32::new(0) }; WORDS],
        counted: AtomicU64::new(0),
        notified: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
    });
    let note = |shared: &Shared, outcome| {
        step();
        if outcome == Outcome::Notified {
            shared.notified.fetch_add(1, Ordering::Relaxed);
        }
    };
    let theirs = Arc::clone(&shared);
    let waiters = workers(WAITERS, move |me| {
        for round in 0..waits_each {
            let word = &theirs.words[(round + me) as usize % WORDS];
            let outcome =
                if round % 3 == 0 { wait_for(word, 0, Duration::from_micros(20)) } else { wait(word, 0) };
            note(&theirs, outcome);
        }
    });
    let theirs = Arc::clone(&shared);
    let notifier = spawn(move || {
        let mut round = 0_usize;
        while !theirs.is_over.load(Ordering::Relaxed) {
            let word = &theirs.words[round % WORDS];
            let counted = match round % 7 {
                0 => notify_all(word),
                1 => notify_many(word, 2),
                _ => notify_one(word),
            };
            theirs.counted.fetch_add(counted as u64, Ordering::Relaxed);
            round += 1;
        }
    });
    let done = Arc::new(AtomicI32::new(0));
    for me in 0..TASKS {
        let (shared, done) = (Arc::clone(&shared), Arc::clone(&done));
        waitword_web::spawn_local(async move {
            for round in 0..waits_each / TASKS {
                let word = &shared.words[(round + me) as usize % WORDS];
                let outcome = if round % 16 == 0 {
                    wait_async_for(word, 0, Duration::from_micros(50)).await
                } else {
                    wait_async(word, 0).await
                };
                note(&shared, outcome);
            }
            done.fetch_add(1, Ordering::SeqCst);
        });
    }
    join(waiters).await;
    while done.load(Ordering::SeqCst) < TASKS as i32 {
        sleep(Duration::from_millis(1)).await;
    }
    shared.is_over.store(true, Ordering::Relaxed);
    notifier.join_async().await.unwrap();
    let [counted, notified] = [&shared.counted, &shared.notified].map(|count| count.load(Ordering::Relaxed));
    assert_eq!(counted, notified);
    assert!(notified > 0);
}
