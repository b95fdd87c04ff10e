//! Every signal arrives, with nothing that makes up for one that does not.
//!
//! Whatever signal a lock loses, the watchdog repairs it within some 20 ms, and the next release makes up for it even sooner. So a
//! test that runs for hours with the watchdog on sees none of it. Here the watchdog is off
//! ([`disable_stall_timeout`](waitword::disable_stall_timeout)), and a lock is used for a round: 2 to 16 threads and tasks, each of which
//! takes a few steps and leaves for good, so that behind the last signals of a round comes nothing that could cover up for them.
//! All waiters respond: a future is polled when it is woken, or dropped. The locks and the players are those of `tests/soak`;
//! the partner that helps them makes up for no wakeup that was lost (`world.rs`).
//!
//! A round that does not end has lost a signal.

#[path = "../common/mod.rs"]
mod common;
#[path = "../soak/world.rs"]
mod world;

use std::sync::Mutex;
use std::thread;

use common::{block_on, far, given_seed, until, waiters};
use waitword::Semaphore;
use world::rounds::{play, seconds_and_seed};
use world::{LOCKS, each_lock};

/// Rounds of every lock in each `cargo test`.
const ROUNDS: u64 = 400;

/// The most of a player in a round.
const STEPS: usize = 4;

each_lock!(every_signal_arrives);

/// Each player takes a few steps and leaves, so that behind the last signals of a round comes nothing that could make
/// up for them.
fn every_signal_arrives(lock: &'static str) {
    waitword::disable_stall_timeout();
    play((Some(lock), STEPS), given_seed().unwrap_or(1), &mut |played| played.rounds < ROUNDS);
}

#[test]
#[ignore = "runs for a minute, or as long as WAITWORD_SOAK_SECONDS says"]
fn every_signal_arrives_for_long() {
    waitword::disable_stall_timeout();
    let (time, seed) = seconds_and_seed();
    for lock in LOCKS {
        let each = time / LOCKS.len() as u32;
        let played = play((Some(lock), STEPS), seed, &mut |played| played.time < each);
        println!("{lock}: seed {seed}, {} rounds", played.rounds);
    }
}

/// Waiters of all kinds get their permits in the order in which they enqueued. The watchdog would skip one that does not run for 20 ms.
#[test]
fn first_in_first_out_for_threads_and_tasks() {
    waitword::disable_stall_timeout();
    let semaphore = Semaphore::new(0);
    let order = Mutex::new(Vec::new());
    // The order is noted while no other has a permit.
    let note = |waiter| order.lock().unwrap().push(waiter);
    thread::scope(|scope| {
        for waiter in 0..9 {
            let (semaphore, note) = (&semaphore, &note);
            scope.spawn(move || {
                let _permits = match waiter % 3 {
                    0 => semaphore.acquire().unwrap(),
                    1 => block_on(semaphore.acquire_many_async(2)).unwrap(),
                    _ => block_on(semaphore.acquire_many_async(3).deadline(far())).unwrap(),
                };
                note(waiter);
            });
            until(|| waiters(semaphore) > waiter);
        }
        semaphore.add_permits(3);
    });
    // Some run at the same time, but none before its turn: a holder of all three is alone.
    let order = order.into_inner().unwrap();
    for (turn, waiter) in order.iter().enumerate() {
        assert_eq!(turn / 3, waiter / 3, "{order:?}");
        assert_eq!(turn % 3 == 2, waiter % 3 == 2, "{order:?}");
    }
}
