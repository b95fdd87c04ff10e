//! Tasks, which the executor gives numbers.

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use waitword::{Mutex, MutexGuard};
use waitword_observe::{Finding, identify, name};

use crate::common::{in_one_line, leak, masked};
use crate::{assert_found, found_while, one_after_the_other};

fn runtime(threads: usize) -> Runtime {
    identify(|| tokio::task::try_id()?.to_string().parse().ok());
    let mut builder = if threads == 1 { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    builder.worker_threads(threads).build().unwrap()
}

fn pair() -> [&'static Mutex<u32>; 2] {
    [leak(Mutex::new(0)), leak(Mutex::new(0))]
}

/// The second task has the memory of the first: it is another one.
#[test]
fn two_tasks_in_opposite_orders() {
    let locks = pair();
    let _names = [name(locks[0], "a"), name(locks[1], "b")];
    let takes = |first: usize| async move {
        let _held = locks[first].lock_async().await; // the first
        let _next = locks[1 - first].lock_async().await; // the second
        tokio::task::id().to_string()
    };
    let mut ids = [const { String::new() }; 2];
    let found = found_while(|| {
        ids = runtime(1).block_on(async {
            [tokio::spawn(takes(0)).await.unwrap(), tokio::spawn(takes(1)).await.unwrap()]
        });
    });
    let [found] = &found[..] else { panic!("{found:?}") };
    let text = Finding::PotentialDeadlock(found.clone()).to_string();
    // In columns: the second number may have a digit more.
    let wide = ids.iter().map(String::len).max().unwrap();
    let holding = format!("\n       {:wide$}  holding Mutex", "");
    for column in ids.map(|id| format!("\n  task {id:wide$}  took Mutex")).iter().chain([&holding]) {
        assert!(text.contains(column), "{text}");
    }
    let expected = "potential deadlock: 2 locks were taken in opposite orders \
         task 1 took Mutex<u32> \"a\" at <the second> holding Mutex<u32> \"b\", taken at <the first> \
         task 2 took Mutex<u32> \"b\" at <the second> holding Mutex<u32> \"a\", taken at <the first>";
    assert_eq!(in_one_line(&masked(&text)), expected);
}

/// Blocking and asynchronous forms in one task are of one actor, and a thread is another one.
#[test]
fn a_task_that_blocks_and_a_thread() {
    let [a, b] = pair();
    let task = async move {
        let _held = a.lock();
        yield_now().await;
        drop(b.lock_async().await);
    };
    assert_eq!(found_while(|| runtime(2).block_on(async { tokio::spawn(task).await.unwrap() })), []);
    assert_found(1, &[&|| drop((b.lock(), a.lock()))]);
}

/// One thread polls both tasks: what the one holds over its `await` is not the other's.
#[test]
fn a_guard_that_is_kept_over_an_await_is_its_tasks() {
    let [a, b] = pair();
    let found = found_while(|| {
        runtime(1).block_on(async {
            let holds = tokio::spawn(async move {
                let _held = a.try_lock().unwrap();
                yield_now().await;
            });
            tokio::spawn(async move { drop(b.lock()) }).await.unwrap();
            holds.await.unwrap();
        });
        one_after_the_other(&[&|| drop((b.lock(), a.lock()))]);
    });
    assert_eq!(found, []);
}

#[test]
fn a_guard_that_goes_to_another_task_makes_no_alarm() {
    let [a, b] = pair();
    let found = found_while(|| {
        runtime(1).block_on(async {
            let (sender, receiver) = tokio::sync::oneshot::channel::<MutexGuard<'_, u32>>();
            let sends = async move {
                let held = a.lock_async().await;
                drop(b.lock_async().await);
                assert!(sender.send(held).is_ok());
            };
            tokio::spawn(sends).await.unwrap();
            tokio::spawn(async move { drop(receiver.await.unwrap()) }).await.unwrap();
            tokio::spawn(async move { drop((b.lock(), a.lock())) }).await.unwrap();
        });
    });
    assert_eq!(found, []);
}
