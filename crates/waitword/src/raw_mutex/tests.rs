//! The word's transitions, one by one.

use std::cell::Cell;
use std::pin::Pin;
use std::task::Waker;

use waitword_core::observe::Caller;

use super::*;
use crate::acquire::acquisition::Acquisition;
use crate::acquire::attempts::{take, take_before_park, take_if};
use crate::drive::{Step, Steps};

#[test]
fn a_full_count_frees_the_mutex_and_counts_on() {
    let mutex = RawMutex::new();
    for releases in 1..3 * LOCKED {
        assert!(take(&mutex, ()));
        mutex.release(HoldId::NONE);
        assert_eq!(mutex.state.load(Ordering::Relaxed), releases & COUNT);
    }
}

#[test]
fn no_acquirer_barges_once_the_window_is_closed() {
    for (waiters, reserved) in [(SIGNALLED, true), (QUEUED | SIGNALLED, true), (0, false)] {
        let mutex = RawMutex::new();
        assert!(take(&mutex, ()));
        mutex.state.fetch_or(waiters | CLOSE, Ordering::Relaxed);
        mutex.release(HoldId::NONE);
        assert_eq!(mutex.state.state() & RESERVED != 0, reserved);
        assert_eq!(take(&mutex, ()), !reserved, "reserved for the waiters, if there are any");
        assert_eq!(take_if(&mutex, (), Attempt::THREAD), reserved);
        mutex.release_fair(HoldId::NONE);
    }
}

#[test]
fn a_bump_without_waiters_only_loads_the_word() {
    for queued in [0, QUEUED] {
        let mutex = RawMutex::new();
        assert!(take(&mutex, ()));
        mutex.state.fetch_or(queued, Ordering::Relaxed);
        let before = mutex.state.load(Ordering::Relaxed);
        mutex.bump((), &mut { HoldId::NONE }, None);
        assert_eq!(mutex.state.load(Ordering::Relaxed), before, "a release would have counted");
    }
}

#[test]
fn threads_count_their_acquisitions_since_a_task() {
    let state = Cell::new(CROWDED);
    let took = |kind| {
        state.set(taken_from_queue(state.get(), kind));
        assert_eq!(
            state.get() & !(TASKS | CROWDED),
            LOCKED | QUEUED,
            "the bits beside these are as they were"
        );
        beside_tasks(state.get())
    };
    assert!(!took(Kind::Thread), "there are only threads");
    for _ in 0..2 {
        assert!(!took(Kind::Task) && !took(Kind::Task), "a task has a whole window");
        assert!((1..TASKS / ONE_THREAD).all(|_| took(Kind::Thread)));
        assert!(!took(Kind::Thread) && !took(Kind::Thread), "it was long ago");
    }
}

#[test]
fn a_thread_beside_tasks_leaves_others_a_short_window() {
    /// Whether the window closes before its time has come.
    fn is_short(waiters: usize, tasks: u32) -> bool {
        let mutex = RawMutex::new();
        assert!(take(&mutex, ()));
        let _queued = queued(&mutex, waiters);
        // What counts is how many wait when the window opens.
        let before = if waiters < MANY { CROWDED } else { 0 };
        mutex.state.store(SIGNALLED | before | (tasks * ONE_THREAD), Ordering::Relaxed);
        let barging = |_: &u32| take(&mutex, ());
        let times = (0..COUNT).take_while(barging).map(|_| mutex.release(HoldId::NONE)).count() as u32;
        times < COUNT
    }
    for (tasks, short) in [(0, false), (1, true), (6, true), (7, false)] {
        // Its time may have come if this thread was interrupted.
        assert_eq!((0..100).all(|_| is_short(MANY, tasks)), short, "{tasks}");
        assert!(!(0..100).all(|_| is_short(MANY - 1, tasks)), "few wait");
    }
}

#[test]
fn a_queued_thread_yields_while_the_mutex_is_reserved_and_then_barges() {
    /// What became of the attempt, and how often the thread yielded. After `held` yields the waiter takes the mutex, and releases it.
    fn attempt(others: usize, tasks: u32, held: u32, signalled: u32) -> (bool, u32) {
        let mutex = RawMutex::new();
        assert!(take(&mutex, ()));
        let _queued = queued(&mutex, others);
        mutex.state.store(LOCKED | SIGNALLED | RESERVED | (tasks * ONE_THREAD), Ordering::Relaxed);
        let yields = Cell::new(0);
        let is_signalled = || {
            yields.set(yields.get() + 1);
            if yields.get() == held {
                mutex.state.store(SIGNALLED, Ordering::Relaxed);
            }
            yields.get() == signalled
        };
        (take_before_park(&mutex, (), is_signalled), yields.get())
    }
    const NEVER: u32 = u32::MAX;

    assert_eq!(attempt(5, 0, 1, NEVER), (true, 1));
    assert_eq!(attempt(5, 0, 3, NEVER), (true, 3));
    assert_eq!(attempt(5, 0, NEVER, NEVER), (false, 4), "the waiter has not run: this thread sleeps, too");
    assert_eq!(attempt(5, 0, NEVER, 2), (false, 2), "it is reserved for this thread, perhaps");
    assert_eq!(attempt(4, 0, 1, NEVER), (false, 0), "the queue is short");
    assert_eq!(attempt(5, 1, 1, NEVER), (false, 0), "a task took it lately");
}

#[test]
fn a_thread_does_not_yield_while_the_mutex_is_held() {
    let mutex = RawMutex::new();
    assert!(take(&mutex, ()));
    let _queued = queued(&mutex, MANY);
    assert!(!take_before_park(&mutex, (), || unreachable!("it has yielded")));
}

/// `waiters` waiters of the mutex, which is held.
fn queued(mutex: &RawMutex, waiters: usize) -> Vec<Pin<Box<Acquisition<'_, RawMutex>>>> {
    let queue = || {
        let mut waiter = Box::pin(Acquisition::from_caller(Caller::here(), mutex, ()));
        assert!(matches!(waiter.as_mut().step(Waker::noop(), None), Step::Wait(None)));
        waiter
    };
    std::iter::repeat_with(queue).take(waiters).collect()
}
