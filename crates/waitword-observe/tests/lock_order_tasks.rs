//! The order of locks in tasks, which the executor gives numbers.

use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use waitword::Mutex;
use waitword_observe::{LockOrder, check_lock_order, identify, name};

#[path = "common/found_order.rs"]
mod found_order;

use found_order::{address, found_in};

fn runtime(threads: usize) -> Runtime {
    identify(|| tokio::task::try_id()?.to_string().parse().ok());
    check_lock_order();
    let mut builder = if threads == 1 { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    builder.worker_threads(threads).build().unwrap()
}

/// What was found of these locks alone.
#[track_caller]
fn found(locks: [u64; 2]) -> LockOrder {
    found_in(include_str!("lock_order_tasks.rs"), std::panic::Location::caller().line() as usize, &locks)
}

type Pair = Arc<[Mutex<u32>; 2]>;

fn pair() -> (Pair, [u64; 2]) {
    let pair: Pair = Arc::new([Mutex::new(0), Mutex::new(0)]);
    let addresses = [address(&pair[0]), address(&pair[1])];
    (pair, addresses)
}

/// The second task has the memory of the first: it is another one.
#[test]
fn two_tasks_in_opposite_orders() {
    let (locks, addresses) = pair();
    let _names = [name(&locks[0], "a"), name(&locks[1], "b")];
    let line = line!();
    let takes = |first: usize| {
        let locks = Arc::clone(&locks);
        async move {
            let _held = locks[first].lock_async().await; // + 4
            let _next = locks[1 - first].lock_async().await; // + 5
            tokio::task::id().to_string()
        }
    };
    let ids = runtime(1)
        .block_on(async { [tokio::spawn(takes(0)).await.unwrap(), tokio::spawn(takes(1)).await.unwrap()] });
    let at = |line: u32| format!("…/tests/lock_order_tasks.rs:{line}");
    let [held, took] = [at(line + 4), at(line + 5)];
    // In columns: the second number may have a digit more.
    let wide = ids.iter().map(String::len).max().unwrap();
    let [one, other] = ids.map(|id| format!("{id:wide$}"));
    let indent = " ".repeat(wide);
    assert_eq!(
        found(addresses).to_string(),
        format!(
            "potential deadlock: 2 locks were taken in opposite orders\n  \
               task {other}  took Mutex<u32> \"a\" at {took}\n  \
                    {indent}       holding Mutex<u32> \"b\", taken at {held}\n  \
               task {one}  took Mutex<u32> \"b\" at {took}\n  \
                    {indent}       holding Mutex<u32> \"a\", taken at {held}\n"
        )
    );
}

/// Blocking and asynchronous forms in one task are of one actor, and a thread is another one.
#[test]
fn a_task_that_blocks_and_a_thread() {
    let (locks, addresses) = pair();
    let task = {
        let locks = Arc::clone(&locks);
        async move {
            let _held = locks[0].lock();
            tokio::task::yield_now().await;
            drop(locks[1].lock_async().await);
        }
    };
    runtime(2).block_on(async { tokio::spawn(task).await.unwrap() });
    assert!(found(addresses).potential_deadlocks.is_empty());
    std::thread::spawn(move || drop((locks[1].lock(), locks[0].lock()))).join().unwrap();
    assert_eq!(found(addresses).potential_deadlocks.len(), 1);
}

/// One thread polls both tasks: what the one holds over its `await` is not the other's.
#[test]
fn a_guard_that_is_kept_over_an_await_is_its_tasks() {
    let (locks, addresses) = pair();
    let holds = {
        let locks = Arc::clone(&locks);
        async move {
            let _held = locks[0].try_lock().unwrap();
            tokio::task::yield_now().await;
        }
    };
    let other = {
        let locks = Arc::clone(&locks);
        async move { drop(locks[1].lock()) }
    };
    runtime(1).block_on(async {
        let holds = tokio::spawn(holds);
        tokio::spawn(other).await.unwrap();
        holds.await.unwrap();
    });
    std::thread::spawn(move || drop((locks[1].lock(), locks[0].lock()))).join().unwrap();
    assert!(found(addresses).potential_deadlocks.is_empty(), "{}", found(addresses));
}

#[test]
fn a_guard_that_goes_to_another_task_makes_no_alarm() {
    type Guard = waitword::OwnedMutexGuard<u32>;
    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let addresses = [address(&*a), address(&*b)];
    let runtime = runtime(1);
    runtime.block_on(async {
        let (sender, receiver) = tokio::sync::oneshot::channel::<Guard>();
        let sends = {
            let [a, b] = [Arc::clone(&a), Arc::clone(&b)];
            async move {
                let held = a.lock_owned_async().await;
                drop(b.lock_async().await);
                assert!(sender.send(held).is_ok());
            }
        };
        tokio::spawn(sends).await.unwrap();
        tokio::spawn(async move { drop(receiver.await.unwrap()) }).await.unwrap();
        let reverse = async move { drop((b.lock(), a.lock())) };
        tokio::spawn(reverse).await.unwrap();
    });
    assert!(found(addresses).potential_deadlocks.is_empty(), "{}", found(addresses));
}
