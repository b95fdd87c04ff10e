//! The Rust half of the workers: what `worker.js` does, on the same words (`words.js` names them) and the same lock.
//!
//! The words are static, so they are the same in all instances that share the module's memory.

use std::hint::black_box;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use waitword_web::AsyncLock;
use wasm_bindgen::prelude::*;

static LOCK: AsyncLock = AsyncLock::new();
static WORDS: [AtomicI32; 64] = [const { AtomicI32::new(0) }; 64];

// As in `words.js`.
const RUN: usize = 0;
const LOCKED: usize = 1;
const COUNTER: usize = 2;
const INSIDE: usize = 3;
const OUTSIDE: usize = 4;
const STATE: usize = 8;
const COUNT: usize = 16;

const WORKS: i32 = 1;
const WAITS: i32 = 2;
const HOLDS: i32 = 3;

#[wasm_bindgen]
extern "C" {
    /// Of `worker.js`: sleeps.
    fn rest(microseconds: i32);
}

/// Where the words begin, as an index of an `Int32Array` over the memory.
#[wasm_bindgen(js_name = wordsIndex)]
pub fn words_index() -> u32 {
    WORDS.as_ptr().addr() as u32 / 4
}

/// The lock's word.
#[wasm_bindgen(js_name = lockIndex)]
pub fn lock_index() -> u32 {
    LOCK.index()
}

/// Finds out that this agent may block.
#[wasm_bindgen]
pub fn begin() {
    waitword_web::start();
}

/// Counts, as worker `number`, until it is told to pause.
#[wasm_bindgen]
pub fn hammer(number: usize) {
    let state = &WORDS[STATE + number];
    while WORDS[RUN].load(Relaxed) != 0 {
        let locked = WORDS[LOCKED].load(Relaxed) != 0;
        state.store(WAITS, Relaxed);
        if locked {
            LOCK.lock();
        }
        state.store(HOLDS, Relaxed);
        increment(&WORDS[COUNTER], WORDS[INSIDE].load(Relaxed));
        WORDS[COUNT + number].fetch_add(1, Relaxed);
        state.store(WORKS, Relaxed);
        if locked {
            LOCK.unlock().expect("this worker holds it");
        }
        rest(WORDS[OUTSIDE].load(Relaxed));
    }
}

/// A load and a store, with time between them: two at once lose a count.
fn increment(counter: &AtomicI32, time: i32) {
    let seen = counter.load(Relaxed);
    spin(time);
    counter.store(seen.wrapping_add(1), Relaxed);
}

fn spin(rounds: i32) {
    for round in 0..rounds {
        black_box(round);
    }
}
