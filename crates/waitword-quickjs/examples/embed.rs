//! A Rust thread and a script share a lock and words of memory.
//!
//! `cargo run --release -p waitword-quickjs --example embed`
//!
//! The script runs on the main thread, in an agent of this program. The other thread is plain Rust. Both use a block of shared memory:
//!
//! | word | contents |
//! |---|---|
//! | 0 | a lock: `AsyncLock` here, the same three states there |
//! | 1 | a plain counter that both increment under the lock |
//! | 2 | the start: the script waits for the thread with `Atomics.waitAsync` |
//! | 3 | the end: the thread waits for the script with `wait` |

use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::thread;

use waitword::word::AsyncLock;
use waitword::{notify_all, wait};
use waitword_quickjs::{JsAgent, JsAgentOptions, SharedBlock};

const ROUNDS: i32 = 2_000;
// Where the words begin, in bytes.
const LOCK: usize = 0;
const COUNTER: usize = 4;
const BEGUN: usize = 8;
const DONE: usize = 12;

const SCRIPT: &str = "
    const words = new Int32Array(shared);
    // The states of `AsyncLock`: 0 free, 1 locked, 2 locked and somebody may wait.
    async function executeLocked(callback) {
        if (Atomics.compareExchange(words, 0, 0, 1) !== 0) {
            while (Atomics.exchange(words, 0, 2) !== 0) await Atomics.waitAsync(words, 0, 2).value;
        }
        try {
            return await callback();
        } finally {
            if (Atomics.exchange(words, 0, 0) === 2) Atomics.notify(words, 0, 1);
        }
    }

    async function main() {
        // A Rust thread notifies this.
        await Atomics.waitAsync(words, 2, 0).value;
        for (let round = 0; round < rounds; round++) {
            await executeLocked(() => { words[1]++; });
        }
        Atomics.store(words, 3, 1);
        // A Rust thread waits for this. How many were woken: 1, or 0 if it has not come so far yet.
        return Atomics.notify(words, 3);
    }
    main();
";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let block = SharedBlock::new(16)?;
    let thread = thread::spawn({
        let block = block.clone();
        move || rust_side(&block)
    });

    // The main agent must not block, as in a browser: the script could not call `Atomics.wait`.
    let js = JsAgent::new(&JsAgentOptions { can_block: false, ..Default::default() })?;
    js.set_global("shared", block.clone())?;
    js.set_global("rounds", ROUNDS)?;
    let promise = js.eval("script.js", SCRIPT)?;
    let woken = js.run_until_settled(&promise)?;
    thread.join().expect("the Rust side has no reason to panic");

    let total = block.i32(COUNTER)?.load(Ordering::Relaxed);
    let right = total == 2 * ROUNDS;
    println!("A Rust thread and a script on one lock, one plain counter\n");
    println!("  the script entered  {ROUNDS} times with executeLocked, and never blocked its thread");
    println!("  the thread entered  {ROUNDS} times with lock and unlock");
    println!("  the script's last notify woke {} Rust thread(s)", woken.as_number().unwrap_or(0.0));
    println!("\n  total {total} of {}: {}", 2 * ROUNDS, if right { "nothing lost" } else { "COUNTS LOST" });
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn rust_side(block: &SharedBlock) {
    let word = |index| block.i32(index).expect("the block has four words");
    let (counter, begun, done) = (word(COUNTER), word(BEGUN), word(DONE));
    // The same word, the same three states: the same lock as the script's.
    let lock = AsyncLock::on(word(LOCK));

    begun.store(1, Ordering::SeqCst);
    notify_all(&begun);
    for _ in 0..ROUNDS {
        lock.lock();
        // A load and a store, not `fetch_add`: without the lock, increments would be lost.
        counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        lock.unlock().expect("locked two lines above");
    }
    // A notifier that stores first is not missed: this returns at once if the script has come first.
    while done.load(Ordering::SeqCst) == 0 {
        let _ = wait(&done, 0);
    }
}
