//! In an `AsyncRuntime`, whose driver is a task.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use rquickjs::{AsyncContext, AsyncRuntime, Ctx, Function, Promise};
use tokio::task::{JoinHandle, spawn_local, yield_now};
use waitword_core::{notify_all, notify_one};
use waitword_quickjs::{SharedBlock, install_async};

use crate::{PLAIN, context_on, notifier, set_words, waiters};

/// A context with `block` as `i32`, and the driver of its runtime.
async fn async_context_on(runtime: &AsyncRuntime, block: &SharedBlock) -> (AsyncContext, JoinHandle<()>) {
    let context = AsyncContext::full(runtime).await.unwrap();
    let (agent, driver) = install_async(&context, PLAIN).await.unwrap();
    let block = block.clone();
    context.with(move |ctx| set_words(&ctx, agent, &block)).await;
    (context, spawn_local(driver))
}

/// Runs a script whose value is not asked for.
async fn run(context: &AsyncContext, source: &str) {
    context.with(|ctx| ctx.eval::<(), _>(source)).await.unwrap();
}

async fn awaited(context: &AsyncContext, source: &str) -> String {
    context.async_with(async |ctx| ctx.eval::<Promise, _>(source)?.into_future().await).await.unwrap()
}

/// All tasks that can run have run until they sleep.
async fn rounds() {
    for _ in 0..1000 {
        yield_now().await;
    }
}

/// Runs a test of the async side, which fails if it has not ended after a minute.
fn within_a_minute(test: impl Future<Output = ()>) {
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let limited = async { tokio::time::timeout(Duration::from_secs(60), test).await };
    tokio::task::LocalSet::new().block_on(&executor, limited).expect("nothing woke the runtime");
}

/// In either kind of runtime. Notifies that come sooner or later after the wait: one may fall between the look into the inbox and the sleep.
#[test]
fn no_ring_is_lost() {
    const WAITS: &str =
        "(async () => { for (let i = 0; i < 5000; i++) await Atomics.waitAsync(i32, 0, 0).value })()";
    let block = SharedBlock::new(4).unwrap();
    let thread = thread::spawn({
        let block = block.clone();
        move || {
            for round in 0..10_000 {
                while waiters(&block) == 0 {}
                (0..round % 1000).for_each(|_| std::hint::spin_loop());
                notify_one(block.i32(0).unwrap());
            }
        }
    });
    let (context, agent) = context_on(&block, PLAIN);
    context.with(|ctx| agent.finish::<()>(&ctx.eval(WAITS).unwrap()).unwrap());
    within_a_minute(async {
        let (context, _) = async_context_on(&AsyncRuntime::new().unwrap(), &block).await;
        let waits =
            async |ctx: Ctx<'_>| ctx.eval::<Promise, _>(WAITS).unwrap().into_future::<()>().await.unwrap();
        context.async_with(waits).await;
    });
    thread.join().unwrap();
}

#[test]
fn a_dropped_async_runtime_ends_its_driver() {
    within_a_minute(async {
        let block = SharedBlock::new(4).unwrap();
        let runtime = AsyncRuntime::new().unwrap();
        let (context, driver) = async_context_on(&runtime, &block).await;
        run(&context, "Atomics.waitAsync(i32, 0, 0, 1e6); Atomics.waitAsync(i32, 0, 0)").await;
        rounds().await;
        assert_eq!(waiters(&block), 2);
        drop((context, runtime));
        driver.await.unwrap();
        assert_eq!((waiters(&block), notify_one(block.i32(0).unwrap())), (0, 0));
    });
}

#[test]
fn an_async_runtime_is_polled_only_when_something_is_settled() {
    within_a_minute(async {
        let block = SharedBlock::new(4).unwrap();
        let context = AsyncContext::full(&AsyncRuntime::new().unwrap()).await.unwrap();
        let (agent, driver) = install_async(&context, PLAIN).await.unwrap();
        context.with(|ctx| set_words(&ctx, agent, &block)).await;
        let polls = Rc::new(Cell::new(0));
        let counter = Rc::clone(&polls);
        spawn_local(async move {
            let mut driver = pin!(driver);
            let counted = poll_fn(|cx| {
                counter.set(counter.get() + 1);
                driver.as_mut().poll(cx)
            });
            counted.await;
        });
        let (sender, mut outcomes) = tokio::sync::mpsc::unbounded_channel::<String>();
        let begin = |ctx: Ctx<'_>| {
            let settled = Function::new(ctx.clone(), move |outcome| sender.send(outcome).unwrap());
            ctx.globals().set("settled", settled.unwrap()).unwrap();
        };
        context.with(begin).await;
        run(&context, "Atomics.waitAsync(i32, 0, 0).value.then(settled)").await;
        // What wakes itself is polled in each round.
        rounds().await;
        let before = polls.get();
        rounds().await;
        assert_eq!(polls.get(), before);
        let thread = notifier(&block);
        assert_eq!(outcomes.recv().await.as_deref(), Some("ok"));
        thread.join().unwrap();
        // A deadline that comes while the driver sleeps needs no timer of the executor's.
        for wait in ["Atomics.waitAsync(i32, 0, 0)", "Atomics.waitAsync(i32, 0, 0, 10).value.then(settled)"] {
            run(&context, wait).await;
            rounds().await;
        }
        assert_eq!(outcomes.recv().await.as_deref(), Some("timed-out"));
        assert!(polls.get() < before + 20, "{} polls for three waits", polls.get() - before);
    });
}

/// With nothing but that to wake the driver; twice, for it is forgotten by whom it was woken.
#[test]
fn a_future_that_a_script_spawns_is_run() {
    within_a_minute(async {
        let block = SharedBlock::new(4).unwrap();
        let (context, _) = async_context_on(&AsyncRuntime::new().unwrap(), &block).await;
        let begins = Rc::new(tokio::sync::Notify::new());
        let (sender, mut ends) = tokio::sync::mpsc::unbounded_channel();
        let may_begin = Rc::clone(&begins);
        let spawns = move |ctx: Ctx<'_>, number: i32| {
            let (begins, sender) = (Rc::clone(&may_begin), sender.clone());
            ctx.spawn(async move {
                begins.notified().await;
                sender.send(number).unwrap();
            });
        };
        context
            .with(|ctx| ctx.globals().set("spawns", Function::new(ctx.clone(), spawns).unwrap()).unwrap())
            .await;
        rounds().await;
        for number in 0..3 {
            run(&context, &format!("spawns({number})")).await;
            rounds().await;
            begins.notify_one();
            assert_eq!(ends.recv().await, Some(number));
            rounds().await;
        }
    });
}

/// rquickjs wakes the task that has polled the runtime last. Here that is one that has ended, or one that waits for something else.
#[test]
fn promises_are_settled_whoever_has_polled_last() {
    within_a_minute(async {
        let block = SharedBlock::new(8).unwrap();
        let (context, _) = async_context_on(&AsyncRuntime::new().unwrap(), &block).await;
        let notify = |word: usize| assert_eq!(notify_one(block.i32(4 * word).unwrap()), 1);
        let requests: Vec<_> = (0..2)
            .map(|word| {
                let context = context.clone();
                let wait = format!("Atomics.waitAsync(i32, {word}, 0).value");
                spawn_local(async move { awaited(&context, &wait).await })
            })
            .collect();
        rounds().await;
        for (word, request) in requests.into_iter().enumerate().rev() {
            notify(word);
            assert_eq!(request.await.unwrap(), "ok");
            rounds().await;
        }
        let by_another = spawn_local({
            let context = context.clone();
            async move { awaited(&context, "new Promise(resolve => { globalThis.resolve = resolve })").await }
        });
        rounds().await;
        run(&context, "Atomics.waitAsync(i32, 0, 0).value.then(resolve)").await;
        rounds().await;
        assert_eq!(awaited(&context, "(async () => { await 0; return 'at once' })()").await, "at once");
        notify(0);
        assert_eq!(by_another.await.unwrap(), "ok");
    });
}

/// The engine asks after some 10,000 calls whether it is to stop, here while waits are settled. Three times it is.
#[test]
fn a_promise_that_an_interrupt_has_kept_pending_is_settled_later() {
    within_a_minute(async {
        let block = SharedBlock::new(4).unwrap();
        let runtime = AsyncRuntime::new().unwrap();
        let (context, _) = async_context_on(&runtime, &block).await;
        let waits =
            "var all = []; for (let i = 0; i < 50000; i++) all.push(Atomics.waitAsync(i32, 0, 0).value)";
        run(&context, waits).await;
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let handler = move || counter.fetch_add(1, Ordering::Relaxed) < 3;
        runtime.set_interrupt_handler(Some(Box::new(handler))).await;
        assert_eq!(notify_all(block.i32(0).unwrap()), 50_000);
        while asked.load(Ordering::Relaxed) < 3 {
            yield_now().await;
        }
        runtime.set_interrupt_handler(None).await;
        assert_eq!(awaited(&context, "Promise.all(all).then(all => String(new Set(all).size))").await, "1");
    });
}

/// As above, but while buffers are brought up to date with what has grown, at the end of `waitAsync`: one call for each.
#[test]
fn a_wait_ends_at_its_deadline_though_its_call_was_interrupted() {
    within_a_minute(async {
        let block = SharedBlock::growable(4, 8).unwrap();
        let runtime = AsyncRuntime::new().unwrap();
        let (context, _) = async_context_on(&runtime, &block).await;
        let interrupts = Arc::new(AtomicBool::new(false));
        let handler = {
            let interrupts = Arc::clone(&interrupts);
            move || interrupts.swap(false, Ordering::Relaxed)
        };
        runtime.set_interrupt_handler(Some(Box::new(handler))).await;
        let grows = {
            let block = block.clone();
            move || {
                block.grow(8).unwrap();
                interrupts.store(true, Ordering::Relaxed);
            }
        };
        let wait = "var all = [];
            for (let i = 0; i < 20000; i++) all.push(new SharedArrayBuffer(0, { maxByteLength: 4 }));
            Atomics.waitAsync(i32, 0, 0, { valueOf() { grows(); return 10 } })";
        let interrupted = |ctx: Ctx<'_>| {
            ctx.globals().set("grows", Function::new(ctx.clone(), grows).unwrap()).unwrap();
            ctx.eval::<(), _>(wait).is_err()
        };
        assert!(context.with(interrupted).await);
        assert_eq!(waiters(&block), 1);
        while waiters(&block) == 1 {
            yield_now().await;
        }
    });
}

#[test]
fn idle_ends_when_no_wait_is_pending() {
    within_a_minute(async {
        let block = SharedBlock::new(4).unwrap();
        let runtime = AsyncRuntime::new().unwrap();
        let (context, _) = async_context_on(&runtime, &block).await;
        run(&context, "var rounds = 0").await;
        for round in 1..3 {
            run(&context, "Atomics.waitAsync(i32, 0, 0).value.then(() => rounds++)").await;
            let thread = notifier(&block);
            runtime.idle().await;
            thread.join().unwrap();
            assert_eq!(context.with(|ctx| ctx.eval::<i32, _>("rounds").unwrap()).await, round);
        }
        run(&context, "Atomics.waitAsync(i32, 0, 0)").await;
        rounds().await;
        run(&context, "Atomics.notify(i32, 0)").await;
        runtime.idle().await;
        // The driver, whose bell was rung while it waited for the runtime, goes on.
        run(&context, "Atomics.waitAsync(i32, 0, 0).value.then(() => rounds++)").await;
        notifier(&block).join().unwrap();
        while context.with(|ctx| ctx.eval::<i32, _>("rounds").unwrap()).await < 3 {
            yield_now().await;
        }
    });
}

/// While a future yields, rquickjs keeps the runtime's lock from one poll of its jobs to the next.
#[test]
fn others_get_the_runtime_while_a_future_yields() {
    within_a_minute(async {
        let runtime = AsyncRuntime::new().unwrap();
        let context = AsyncContext::full(&runtime).await.unwrap();
        let (_, driver) = install_async(&context, PLAIN).await.unwrap();
        let mut driver = Box::pin(driver);
        let is_over = Rc::new(Cell::new(false));
        for ends in [true, false] {
            let is_over = Rc::clone(&is_over);
            let yields = poll_fn(move |cx| {
                cx.waker().wake_by_ref();
                if is_over.get() && ends { Poll::Ready(()) } else { Poll::Pending }
            });
            context.with(|ctx| ctx.spawn(yields)).await;
            // Woken, and not polled again meanwhile.
            (0..3).for_each(|_| {
                assert!(driver.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending())
            });
        }
        context.with(|_| ()).await;
        let driver = spawn_local(driver);
        rounds().await;
        context.with(|_| is_over.set(true)).await;
        rounds().await;
        drop((context, runtime));
        driver.await.unwrap();
    });
}
