//! Two runtimes of `rquickjs` on two threads, and a task of tokio, take turns on one block of shared memory.
//!
//! `cargo run --release -p waitword-quickjs --features rquickjs --example rquickjs`
//!
//! One script runs in a `Runtime`, whose thread sleeps while it waits; the other in an `AsyncRuntime`, which tokio wakes. The task is plain
//! Rust. Word 0 says whose turn it is, word 1 is a plain counter. (`tests/rquickjs` calls `main` as well.)

use std::error::Error;
use std::sync::atomic::Ordering;
use std::thread;

use rquickjs::{AsyncContext, AsyncRuntime, Context, Ctx, Promise, Runtime};
use waitword::{notify_all, wait_async};
use waitword_quickjs::{InstallOptions, InstalledAgent, SharedBlock, install, install_async};

const ROUNDS: i32 = 1_000;
// Whose turn it is.
const SYNC: i32 = 0;
const ASYNC: i32 = 1;
const TASK: i32 = 2;

const SCRIPT: &str = "
    const words = new Int32Array(shared);

    async function main() {
        for (let round = 0; round < rounds; round++) {
            for (let turn; (turn = Atomics.load(words, 0)) !== mine; ) {
                await Atomics.waitAsync(words, 0, turn).value;
            }
            words[1]++;
            Atomics.store(words, 0, (mine + 1) % 3);
            Atomics.notify(words, 0);
        }
    }
    main();
";

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let block = SharedBlock::new(8)?;
    let executor = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;

    let thread = thread::spawn({
        let block = block.clone();
        move || in_a_runtime(&block)
    });
    let task = executor.spawn(in_a_task(block.clone()));
    tokio::task::LocalSet::new().block_on(&executor, in_an_async_runtime(&block))?;
    thread.join().expect("the thread has no reason to panic")?;
    executor.block_on(task)?;

    let total = block.i32(4)?.load(Ordering::SeqCst);
    println!("{ROUNDS} turns each of two scripts and a task: {total} of {}", 3 * ROUNDS);
    assert_eq!(total, 3 * ROUNDS, "a turn was lost");
    Ok(())
}

fn in_a_runtime(block: &SharedBlock) -> Result<(), rquickjs::Error> {
    let context = Context::full(&Runtime::new()?)?;
    let agent = install(&context, InstallOptions::default()).expect("a new context has all it takes");
    context.with(|ctx| agent.finish(&begin(&ctx, agent, block, SYNC)?))
}

async fn in_an_async_runtime(block: &SharedBlock) -> Result<(), rquickjs::Error> {
    let context = AsyncContext::full(&AsyncRuntime::new()?).await?;
    let (agent, driver) =
        install_async(&context, InstallOptions::default()).await.expect("a new context has all it takes");
    tokio::task::spawn_local(driver);
    context.async_with(async |ctx| begin(&ctx, agent, block, ASYNC)?.into_future().await).await
}

/// Runs the script. The promise is for its end.
fn begin<'js>(
    ctx: &Ctx<'js>,
    agent: InstalledAgent,
    block: &SharedBlock,
    mine: i32,
) -> Result<Promise<'js>, rquickjs::Error> {
    let globals = ctx.globals();
    globals.set("shared", agent.share(ctx, block)?)?;
    globals.set("mine", mine)?;
    globals.set("rounds", ROUNDS)?;
    ctx.eval(SCRIPT)
}

async fn in_a_task(block: SharedBlock) {
    let word = |byte_index| block.i32(byte_index).expect("the block has two words");
    let (turn, counter) = (word(0), word(4));
    for _ in 0..ROUNDS {
        loop {
            match turn.load(Ordering::SeqCst) {
                TASK => break,
                // A turn that has passed on meanwhile is not waited for: the word is compared as the task gets into the queue.
                other => drop(wait_async(&turn, other).await),
            }
        }
        // A load and a store: only one has the turn.
        counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        turn.store(SYNC, Ordering::SeqCst);
        notify_all(&turn);
    }
}
