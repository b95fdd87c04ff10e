//! All locks at once, for as long as one likes: threads and tasks draw what they do, and what has to be conserved is.
//!
//! A round has one lock of each kind (`world.rs`), and players: threads, tasks polled by hand, tasks of tokio and of smol. Each takes
//! a number of steps, and with each draws a lock, what to do with it, the form (plain, timed, owned, `try_`), a deadline
//! (none, past, soon, beyond the soak) and for a future whether it is awaited, dropped at one of its first polls, or left
//! unpolled (`player.rs`). What must hold is beside each lock. A crowd has one lock for all its steps, and polls its
//! futures when they are woken; `tests/signals` plays with one lock at a time, too, for a few steps.
//!
//! ```sh
//! cargo xtask soak --seconds 300
//! WAITWORD_SOAK_SECONDS=300 WAITWORD_SOAK_SEED=1 cargo test --release -p waitword --test soak -- --ignored --nocapture
//! ```

#[path = "../common/mod.rs"]
mod common;

#[path = "world.rs"]
mod world;

use common::given_seed;
use world::each_lock;
use world::rounds::{play, seconds_and_seed, soak};

#[test]
#[ignore = "runs for a minute, or as long as WAITWORD_SOAK_SECONDS says"]
fn everything_is_conserved() {
    let (time, seed) = seconds_and_seed();
    soak(seed, Some(time), &mut || {});
}

#[test]
fn a_round() {
    soak(given_seed().unwrap_or(1), None, &mut || {});
}

each_lock!(a_crowd);

/// At one lock: exclusion holds, nothing is lost, and no waiter is forgotten.
fn a_crowd(lock: &'static str) {
    play((Some(lock), 400), given_seed().unwrap_or(1), &mut |played| played.rounds < 20);
}
