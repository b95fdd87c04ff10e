//! Tasks as holders that have no numbers: of one its waker alone is known, which a later task may get.

use std::pin::pin;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc;
use std::task::Waker;
use std::thread;

use tokio::runtime::Builder;
use tokio::task::{LocalSet, spawn_local};
use waitword::Mutex;
use waitword::observe::{Actor, snapshot};
use waitword_core::{signal_one, wait_async};
use waitword_observe::{Finding, Unless};

use crate::common::{
    a_tick_later, address_of, cycles, ended, holders_of, in_one_line, leak, observed, poll, turn, until,
    waker,
};

/// Of a task alone nothing else is known than its waker. So it may be the holder, or not.
#[test]
fn a_task_with_the_waker_of_the_holder_may_be_another() {
    let _turn = observed();
    let (lock, waker) = (Mutex::new(0), waker());
    let sent = ended(lock.lock_async(), &waker);
    let mut waits = pin!(lock.lock_async());
    assert!(poll(waits.as_mut(), &waker).is_pending());
    let cycles = cycles();
    let [cycle] = &cycles[..] else { panic!("{cycles:?}") };
    assert!(!cycle.is_certain() && cycle.unless.iter().any(|it| matches!(it, Unless::AnotherTask { .. })));
    let text = in_one_line(&Finding::Cycle(cycle.clone()).to_string());
    let (_, task) = text.split_once("deadlock unless ").unwrap();
    let (task, _) = task.split_once(" awaits ").unwrap();
    let unless = format!(
        "deadlock unless {task} awaits something else too (timeout, select!), or {task} is not the task that took the lock (identify tells them \
         apart)"
    );
    assert!(text.ends_with(&unless) && task.starts_with("task "), "{text}");
    drop(sent);
}

/// A thread blocks for a lock of a task that another thread polls. An earlier task with its waker took another lock on this thread.
#[test]
fn the_thread_that_polled_an_earlier_task_need_not_poll_this_one() {
    let _turn = observed();
    let (first, second, waker) = (&Mutex::new(0), &Mutex::new(0), &waker());
    let (began, begins) = mpsc::channel();
    thread::scope(|scope| {
        let sent = ended(first.lock_async(), waker);
        a_tick_later();
        let held = scope.spawn(|| ended(second.lock_async(), waker)).join().unwrap();
        let this = thread::current().id();
        scope.spawn(move || {
            let is_this = |actor: &Actor| matches!(actor, Actor::Thread(thread) if thread.id() == this);
            until(|| snapshot().iter().any(|waiter| is_this(&waiter.actor)));
            began.send(cycles()).unwrap();
            drop(held);
        });
        drop(second.lock());
        drop(sent);
    });
    assert_eq!(begins.recv().unwrap(), []);
}

/// Such a waker says nothing of who polls: all of them are the same.
#[test]
fn futures_that_are_polled_without_a_waker_are_not_one_task() {
    let _turn = observed();
    let lock = Mutex::new(0);
    let _taken = ended(lock.lock_async(), Waker::noop());
    let mut waits = pin!(lock.lock_async());
    assert!(poll(waits.as_mut(), Waker::noop()).is_pending());
    assert_eq!(cycles(), []);
    // As with `try_lock`, it is its thread's.
    let [seen] = &holders_of(&lock)[..] else { panic!("held") };
    let this = thread::current().name().map(str::to_owned);
    assert!(matches!(&seen.actor, waitword_observe::Actor::Thread { name, .. } if *name == this));
}

/// Threads of another executor enter a runtime for its timers: that does not make it theirs alone to poll a task.
#[test]
fn a_runtime_that_was_entered_polls_only_tasks_of_its_own() {
    let _turn = observed();
    let lock: &'static Mutex<i32> = leak(Mutex::new(0));
    let runtime = Builder::new_current_thread().build().unwrap();
    let is_alone = move || {
        let holder = holders_of(lock).swap_remove(0).actor;
        let polls = waitword_observe::snapshot().last_polls;
        polls.iter().find(|poll| poll.task == holder).expect("polled here").only_there
    };
    {
        let _entered = runtime.enter();
        let _held = ended(lock.lock_async(), &waker());
        assert!(!is_alone());
    }
    let task = async move {
        let _held = lock.lock_async().await;
        assert!(is_alone());
    };
    LocalSet::new().block_on(&runtime, async { spawn_local(task).await.unwrap() });
}

/// A signalled task has not run since the first snapshot that saw it so, unless it was polled in between.
#[test]
fn a_task_that_ran_between_two_snapshots_is_not_one_that_has_not_run() {
    let _turn = turn();
    let (word, waker) = (AtomicU32::new(0), waker());
    let mut task = pin!(wait_async(&word, 0));
    assert!(poll(task.as_mut(), &waker).is_pending());
    let signalled = || {
        let locks = waitword_observe::snapshot().locks;
        let lock = locks.iter().find(|lock| lock.name.address.0 == address_of(&word)).expect("it waits");
        lock.waiters[0].signalled
    };
    assert_eq!(signalled(), None, "it waits");
    assert_eq!(signal_one(&word), 1);
    assert_eq!(signalled(), None, "the first to see it");
    let first = signalled().expect("not polled since");
    let later = signalled();
    assert!(later > Some(first), "{later:?} {first:?}");
    assert!(poll(task.as_mut(), &waker).is_pending());
    assert_eq!(signal_one(&word), 1);
    assert_eq!(signalled(), None, "it ran in between, and was signalled again");
    assert!(signalled().is_some());
    assert!(poll(task.as_mut(), &waker).is_pending());
    assert_eq!(signalled(), None, "it waits");
}
