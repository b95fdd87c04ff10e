//! All locks at once, for as long as one likes: threads and tasks draw what they do, and what has to be conserved is.
//!
//! A round has one lock of each kind, and players: threads, tasks polled by hand, tasks of tokio and of smol. Each takes
//! a number of steps, and with each draws a lock, what to do with it, the form (plain, timed, owned, `try_`), a deadline
//! (none, past, soon, beyond the soak) and for a future whether it is awaited, dropped at one of its first polls, or left
//! unpolled. What must hold is beside each lock (`exclusive.rs`, ..., `once.rs`); how a step is drawn in `player.rs`.
//!
//! Some wait for what only others do: an item, a notify, the last to arrive. So there is a *partner* (`World::help`), who
//! does what is missing, and nothing where it is there already: a wakeup that was lost stays lost, and the waiter for
//! it is found stuck.
//!
//! ```sh
//! cargo xtask soak --seconds 300
//! WAITWORD_SOAK_SECONDS=300 WAITWORD_SOAK_SEED=1 cargo test --release -p waitword --test soak -- --ignored --nocapture
//! ```

#![allow(
    clippy::unit_arg,
    reason = "what the forms of a wait give is handed on alike, also where it is nothing"
)]

#[path = "../common/mod.rs"]
mod common;

mod barrier;
mod event;
mod mutex;
mod once;
mod player;
mod queue;
mod rounds;
mod rwlock;
mod semaphore;
mod wait_group;
mod world;

use common::given_seed;
use rounds::{Cast, seconds_and_seed, soak};

#[test]
#[ignore = "runs for a minute, or as long as WAITWORD_SOAK_SECONDS says"]
fn everything_is_conserved() {
    let (time, seed) = seconds_and_seed();
    soak(Cast::Everybody, seed, Some(time), &mut || {});
}

#[test]
fn a_round_of_threads_and_hand_polled_tasks() {
    soak(Cast::ThreadsAlone, given_seed().unwrap_or(1), None, &mut || {});
}

#[test]
fn a_round_with_tokio_and_smol() {
    soak(Cast::Everybody, given_seed().unwrap_or(1), None, &mut || {});
}
