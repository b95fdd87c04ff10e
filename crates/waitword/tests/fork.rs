//! A process that forks. Its child has the forking thread alone: no thread of the timer, and none of those that waited, whose stacks it gives
//! to the threads that it starts.
//!
//! Each test has a process of its own: a child cannot start a thread if its parent was just starting one, because of a lock of the standard
//! library.

#![cfg(all(unix, not(miri)))]

#[path = "../../waitword-core/tests/common/alone.rs"]
mod alone;
mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use common::{Task, block_on, far, until};
use waitword::word::{Interrupt, Table, notify_all, notify_one, signal_one, wait_async};
use waitword::*;

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
    fn kill(child: i32, signal: i32) -> i32;
    fn _exit(status: i32) -> !;
}

/// Runs `child` in a child, which is to end well.
fn in_a_child(child: impl FnOnce()) {
    match fork_here() {
        None => end_child(child),
        Some(id) => ends_well(id),
    }
}

/// The child, in the parent.
fn fork_here() -> Option<i32> {
    // SAFETY: the child uses what works after a fork, and leaves by `_exit`.
    let id = unsafe { fork() };
    assert!(id >= 0);
    (id > 0).then_some(id)
}

/// In the child.
fn end_child(last: impl FnOnce()) -> ! {
    let panicked = catch_unwind(AssertUnwindSafe(last)).is_err();
    // SAFETY: it may be called at any time.
    unsafe { _exit(i32::from(panicked)) }
}

/// In the parent.
fn ends_well(id: i32) {
    const WITHOUT_WAITING: i32 = 1;
    let mut status = 0;
    // SAFETY: `status` is there while it is written to.
    let ended = || unsafe { waitpid(id, &mut status, WITHOUT_WAITING) } == id;
    let in_time = catch_unwind(AssertUnwindSafe(|| until(ended)));
    if in_time.is_err() {
        // SAFETY: our child, which has not been waited for.
        unsafe { kill(id, 9) };
    }
    assert!(in_time.is_ok() && status == 0, "{status}");
}

/// Threads that use the stacks of those that the child does not have, until they are asked whether anything was written there.
struct UsedStacks {
    threads: Vec<thread::JoinHandle<()>>,
    over: Arc<std::sync::Barrier>,
}

impl UsedStacks {
    fn new() -> Self {
        fn fill(depth: u32, barriers: &[Arc<std::sync::Barrier>; 2]) {
            let mut area = [0x5a5a_5a5a_5a5a_5a5a_u64; 64];
            std::hint::black_box(&mut area);
            if depth > 0 {
                fill(depth - 1, barriers);
            } else {
                for barrier in barriers {
                    barrier.wait();
                }
            }
            assert!(std::hint::black_box(&area).iter().all(|word| *word == 0x5a5a_5a5a_5a5a_5a5a));
        }
        const THREADS: usize = 64;
        let barriers = [(); 2].map(|()| Arc::new(std::sync::Barrier::new(THREADS + 1)));
        let threads = (0..THREADS).map(|_| {
            let barriers = barriers.clone();
            thread::spawn(move || fill(60, &barriers))
        });
        let threads = threads.collect();
        let [all_filled, over] = barriers;
        all_filled.wait();
        Self { threads, over }
    }

    fn are_untouched(self) {
        self.over.wait();
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

fn on_used_stacks(meanwhile: impl FnOnce()) {
    let stacks = UsedStacks::new();
    meanwhile();
    stacks.are_untouched();
}

/// All of this library that blocks a thread or a task, on objects of the child's own.
fn everything_works() {
    let (mutex, condvar, rwlock) = (Mutex::new(0), Condvar::new(), RwLock::new(0));
    let (semaphore, event) = (Semaphore::new(0), Event::new());
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut count = mutex.lock();
            condvar.wait_while(&mut count, |count| *count == 0);
            *count + *rwlock.read()
        });
        let (writer, acquirer) = (scope.spawn(|| *rwlock.write() += 1), scope.spawn(|| semaphore.acquire()));
        let notified = scope.spawn(|| event.wait());
        thread::yield_now();
        *block_on(mutex.lock_async()) = 1;
        condvar.notify_all();
        semaphore.add_permits(1);
        event.notify_one();
        drop(acquirer.join().unwrap());
        writer.join().unwrap();
        notified.join().unwrap();
        assert!(reader.join().unwrap() >= 1);
    });
    let locks: Vec<_> = (0..1000).map(Mutex::new).collect();
    for lock in &locks {
        let guard = lock.lock();
        let waits = Task::queued(lock.lock_async());
        drop(guard);
        drop(waits.finish());
    }
    deadlines_are_kept();
    a_future_that_nobody_polls_is_skipped();
}

fn deadlines_are_kept() {
    let mutex = Mutex::new(());
    let _guard = mutex.lock();
    for timeout in [0, 1, 5].map(Duration::from_millis) {
        assert_eq!(block_on(mutex.lock_async().timeout(timeout)).err(), Some(LockError::TimedOut));
    }
}

fn a_future_that_nobody_polls_is_skipped() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let _never_polled = Task::queued(mutex.lock_async());
    let behind = Task::queued(mutex.lock_async());
    drop(guard);
    drop(behind.finish());
}

fn a_child_keeps_deadlines_and_skips_futures_that_nobody_polls() {
    in_a_child(deadlines_are_kept);
    deadlines_are_kept();
    a_future_that_nobody_polls_is_skipped();
    for round in 0..30 {
        // Due at about the time of the fork.
        let mutex = Mutex::new(());
        let _guard = mutex.lock();
        let mut due: Vec<_> = (0..round)
            .map(|at| Task::new(mutex.lock_async().timeout(Duration::from_micros(20 * at))))
            .collect();
        due.iter_mut().for_each(|task| drop(task.poll()));
        in_a_child(|| {
            a_future_that_nobody_polls_is_skipped();
            deadlines_are_kept();
            // In a child of a child, too.
            in_a_child(deadlines_are_kept);
        });
        deadlines_are_kept();
        a_future_that_nobody_polls_is_skipped();
    }
    // One that is pending across the fork ends in both processes.
    let mutex = Mutex::new(());
    let _guard = mutex.lock();
    let (across, _) =
        Task::queued_until(Duration::from_secs(1), |deadline| mutex.lock_async().deadline(deadline));
    let mut across = Some(across);
    in_a_child(|| {
        deadlines_are_kept();
        assert_eq!(across.take().unwrap().finish().err(), Some(LockError::TimedOut));
    });
    assert_eq!(across.unwrap().finish().err(), Some(LockError::TimedOut));
}

/// What is waited for by threads that a child does not have, and by the test, which forks.
struct Parent {
    mutex: Mutex<u32>,
    rwlock: RwLock<u32>,
    semaphore: Semaphore,
    event: Event,
    waiting: AtomicUsize,
}

/// A waker that stays in its call until it is let go.
struct Stuck {
    calls: mpsc::Sender<()>,
    free: Mutex<()>,
}

impl Wake for Stuck {
    fn wake(self: Arc<Self>) {
        self.calls.send(()).unwrap();
        drop(self.free.lock());
    }
}

/// A waker whose call forks, and returns in both processes.
struct Forks(Mutex<Option<Result<i32, UsedStacks>>>);

impl Wake for Forks {
    fn wake(self: Arc<Self>) {
        *self.0.lock() = Some(fork_here().ok_or_else(UsedStacks::new));
    }
}

/// Who waits for `lock`, in the queue of any of its words, as far as it can be told: a task by what it is woken by.
fn queue_of<T>(lock: &T) -> Vec<String> {
    let begin = std::ptr::from_ref(lock).addr();
    let words = begin..begin + size_of::<T>();
    let seen = Table::global().snapshot();
    let seen = seen.iter().filter(|waiter| words.contains(&waiter.word));
    seen.map(|waiter| format!("{:?}", waiter.actor)).collect()
}

fn waiters_of<T>(lock: &T) -> usize {
    queue_of(lock).len()
}

fn threads_of_the_parent_that_wait_leave_nothing_in_the_child() {
    static PARENT: Parent = Parent {
        mutex: Mutex::new(0),
        rwlock: RwLock::new(0),
        semaphore: Semaphore::new(0),
        event: Event::new(),
        waiting: AtomicUsize::new(0),
    };
    let parent = &PARENT;
    let mutex = parent.mutex.lock();
    let write = parent.rwlock.write();
    // Each waits in another way, most with its node or its alarm on its stack.
    let ways: [fn(&'static Parent); 9] = [
        |parent| drop(parent.mutex.lock()),
        |parent| drop(parent.mutex.lock_until(far())),
        |parent| drop(block_on(parent.mutex.lock_async().deadline(far()))),
        |parent| loop {
            drop(block_on(parent.mutex.lock_async().timeout(Duration::from_millis(3))));
        },
        |parent| drop(parent.rwlock.read()),
        |parent| drop(parent.rwlock.write()),
        |parent| drop(block_on(parent.rwlock.upgradable_read_async())),
        |parent| drop(parent.semaphore.acquire_many(2)),
        |parent| parent.event.wait(),
    ];
    for way in ways.into_iter().cycle().take(5 * ways.len()) {
        thread::spawn(move || {
            parent.waiting.fetch_add(1, Ordering::SeqCst);
            way(parent);
        });
    }
    // Critical sections of shards, and of what knows the threads, are under way at most of the forks.
    let stop = Arc::new(AtomicBool::new(false));
    let busy: [fn(); 3] = [
        || drop(Table::global().snapshot()),
        || {
            let words = [const { AtomicU32::new(0) }; 100];
            words.iter().for_each(|word| assert!(common::poll(pin!(wait_async(word, 0))).is_pending()));
        },
        || drop(Interrupt::for_current_thread()),
    ];
    let busy = busy.map(|busy| {
        let stop = Arc::clone(&stop);
        thread::spawn(move || {
            while !stop.load(Ordering::SeqCst) {
                busy();
            }
        })
    });
    until(|| parent.waiting.load(Ordering::SeqCst) == 5 * ways.len());
    until(|| waiters_of(&parent.mutex) >= 15 && waiters_of(&parent.rwlock) >= 15);
    let mut held = Some((mutex, write));
    for _ in 0..20 {
        in_a_child(|| {
            on_used_stacks(everything_works);
            // What this thread holds it can release here, also to others.
            drop(held.take());
            thread::scope(|scope| {
                scope.spawn(|| *parent.mutex.lock() += 1);
                scope.spawn(|| *parent.rwlock.write() += 1);
                scope.spawn(|| drop(parent.rwlock.read()));
                scope.spawn(|| parent.semaphore.add_permits(2));
                scope.spawn(|| drop(parent.semaphore.acquire_many(2)));
            });
            assert_eq!((*block_on(parent.mutex.lock_async()), *parent.rwlock.upgradable_read()), (1, 1));
        });
    }
    stop.store(true, Ordering::SeqCst);
    busy.into_iter().for_each(|busy| busy.join().unwrap());
    // Nothing has changed in the parent: nobody has got anything yet.
    assert_eq!(**held.as_ref().map(|(mutex, _)| mutex).unwrap(), 0);
    drop(held.take());
    parent.semaphore.add_permits(100);
    until(|| parent.mutex.try_lock().is_some() && parent.rwlock.try_write().is_some());
}

fn futures_of_the_forking_thread_stay_queued_in_their_order() {
    let mutex = Mutex::new(0);
    thread::scope(|scope| {
        let mut guard = Some(mutex.lock());
        let mut tasks = Some((Task::queued(mutex.lock_async()), Vec::new()));
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| drop(mutex.lock()))).collect();
        until(|| queue_of(&mutex).len() == 4);
        tasks.as_mut().unwrap().1.extend((0..5).map(|_| Task::queued(mutex.lock_async())));
        let before = queue_of(&mutex);
        in_a_child(|| {
            assert_eq!(queue_of(&mutex), [&before[..1], &before[4..]].concat());
            on_used_stacks(|| drop(guard.take()));
            let (first, others) = tasks.take().unwrap();
            drop(first.finish());
            others.into_iter().for_each(|other| drop(other.finish()));
        });
        assert_eq!(queue_of(&mutex), before);
        drop(guard.take());
        let (first, others) = tasks.take().unwrap();
        drop(first.finish());
        others.into_iter().for_each(|other| drop(other.finish()));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A notify of all that is in the call of the first waiter's waker: what it has not completed yet is detached.
fn waiters_that_a_notify_of_the_parent_has_detached_are_not_linked_to_its_stack() {
    static WORD: AtomicU32 = AtomicU32::new(0);
    let (calls, called) = mpsc::channel();
    let stuck = Arc::new(Stuck { calls, free: Mutex::new(()) });
    let mut head = pin!(wait_async(&WORD, 0));
    assert!(head.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(&stuck)))).is_pending());
    thread::scope(|scope| {
        let stays = stuck.free.lock();
        // More than a batch, and some of this thread among them.
        let (mut own, mut threads) = (Vec::new(), Vec::new());
        for queued in 1..=60 {
            if queued % 6 == 0 {
                own.push(Some(Task::queued(wait_async(&WORD, 0))));
            } else {
                threads.push(scope.spawn(|| word::wait(&WORD, 0)));
            }
            until(|| waiters_of(&WORD) == queued + 1);
        }
        let notify = scope.spawn(|| notify_all(&WORD));
        called.recv().unwrap();
        let in_the_child = || {
            // Those that the notify had completed in its first batch; the others are queued, and leave or are notified.
            let mut left = own.iter_mut().map(|own| own.take().unwrap());
            let completed: Vec<_> = left.by_ref().take(5).collect();
            completed.into_iter().for_each(|mut own| assert!(own.poll().is_ready()));
            drop(left.next());
            let late = Task::queued(wait_async(&WORD, 0));
            assert_eq!(notify_all(&WORD), 5);
            left.for_each(|own| assert_eq!(own.finish(), word::Outcome::Notified));
            assert_eq!(late.finish(), word::Outcome::Notified);
            everything_works();
        };
        in_a_child(|| on_used_stacks(in_the_child));
        drop(stays);
        assert_eq!(notify.join().unwrap(), 61);
        own.into_iter().for_each(|own| assert_eq!(own.unwrap().finish(), word::Outcome::Notified));
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), word::Outcome::Notified));
    });
}

/// The notify of the forking thread itself continues in the child, where it wakes the waiters of this thread alone.
fn a_notify_in_which_a_waker_forks_continues_in_both_processes() {
    static WORD: AtomicU32 = AtomicU32::new(0);
    let forks = Arc::new(Forks(Mutex::new(None)));
    let mut head = pin!(wait_async(&WORD, 0));
    assert!(head.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(&forks)))).is_pending());
    thread::scope(|scope| {
        // More than a batch, so that most of them are detached meanwhile.
        let threads: Vec<_> = (0..100).map(|_| scope.spawn(|| word::wait(&WORD, 0))).collect();
        until(|| waiters_of(&WORD) == 101);
        let own = Task::queued(wait_async(&WORD, 0));
        let counted = notify_all(&WORD);
        match forks.0.lock().take().unwrap() {
            Err(stacks) => end_child(|| {
                stacks.are_untouched();
                assert_eq!((counted, own.finish()), (102, word::Outcome::Notified));
                everything_works();
            }),
            Ok(child) => ends_well(child),
        }
        assert_eq!((counted, own.finish()), (102, word::Outcome::Notified));
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), word::Outcome::Notified));
    });
}

/// It is enqueued anew: its node was in the queue of a thread that the child does not have.
fn a_future_that_another_thread_had_queued_can_be_polled_in_the_child() {
    let mutex = Mutex::new(0);
    let guard = mutex.lock();
    let (mut lock, mut word) = (Box::pin(mutex.lock_async()), Box::pin(wait_async(&WORD, 0)));
    static WORD: AtomicU32 = AtomicU32::new(0);
    thread::scope(|scope| {
        let enqueue =
            || assert!(common::poll(lock.as_mut()).is_pending() && common::poll(word.as_mut()).is_pending());
        scope.spawn(enqueue).join().unwrap();
    });
    let mut both = Some((guard, lock, word));
    in_a_child(|| {
        let (guard, lock, mut word) = both.take().unwrap();
        assert_eq!(notify_one(&WORD), 0);
        assert_eq!(common::poll(word.as_mut()), Poll::Ready(word::Outcome::NotEqual));
        let first = Task::queued(mutex.lock_async());
        let mut second = Task::new(lock);
        assert!(second.poll().is_pending());
        drop(guard);
        drop(first.finish());
        drop(second.finish());
    });
    let (guard, lock, word) = both.take().unwrap();
    drop(guard);
    drop(Task::new(lock).finish());
    assert_eq!(notify_one(&WORD), 1);
    assert_eq!(Task::new(word).finish(), word::Outcome::Notified);
}

/// Also if it keeps its waker, and if that was taken by a signal.
fn a_future_belongs_to_the_thread_that_has_polled_it_last() {
    static WORDS: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
    let mut futures = [0, 1].map(|word| Box::pin(wait_async(&WORDS[word], 0)));
    let waker = word::Parker::current().waker().clone();
    let mut poll = || {
        let mut cx = Context::from_waker(&waker);
        futures.iter_mut().for_each(|future| assert!(future.as_mut().poll(&mut cx).is_pending()));
    };
    thread::scope(|scope| scope.spawn(&mut poll).join().unwrap());
    assert_eq!(signal_one(&WORDS[1]), 1);
    poll();
    in_a_child(|| {
        assert_eq!(WORDS.each_ref().map(notify_all), [1, 1]);
        assert!(futures.iter().all(|future| future.is_notified()));
    });
    assert_eq!(WORDS.each_ref().map(notify_all), [1, 1]);
}

/// All threads that the timer may have are in calls that do not return. The child has none of them.
fn the_timer_of_the_child_starts_anew() {
    let (calls, called) = mpsc::channel();
    let stuck = Arc::new(Stuck { calls, free: Mutex::new(()) });
    let stays = stuck.free.lock();
    let held = Mutex::new(());
    let _guard = held.lock();
    const MOST_THREADS: usize = 32;
    let mut waits: Vec<_> = (0..MOST_THREADS)
        .map(|_| {
            let waker = Waker::from(Arc::clone(&stuck));
            loop {
                // On a slow machine the deadline may have passed before the poll.
                let mut wait = Box::pin(held.lock_async().timeout(Duration::from_millis(5)));
                if wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                    return wait;
                }
            }
        })
        .collect();
    for _ in 0..MOST_THREADS {
        called.recv_timeout(Duration::from_secs(60)).unwrap();
    }
    let far_away = Task::queued(held.lock_async().deadline(far()));
    in_a_child(|| {
        deadlines_are_kept();
        // A deadline before one that the leader sleeps for: it is unparked, because it is in no call.
        let far_away = Task::queued(held.lock_async().deadline(far()));
        for _ in 0..3 {
            deadlines_are_kept();
        }
        drop(far_away);
    });
    drop((far_away, stays));
    waits.iter_mut().for_each(|wait| drop(block_on(wait.as_mut())));
}

fn the_watchdog_of_the_child_passes_over_a_future_that_was_signalled_in_the_parent() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let mut unpolled = Some(Task::queued(mutex.lock_async()));
    let mut behind = Some(Task::queued(mutex.lock_async()));
    drop(guard);
    in_a_child(|| {
        // Any critical section of a shard starts the timer of the child.
        let event = Event::new();
        let _waits = Task::queued(event.wait_async());
        drop(behind.take().unwrap().finish());
    });
    drop(unpolled.take());
    drop(behind.take().unwrap().finish());
}

/// A lock of the parent may have been released by a thread that did not come to signal.
fn the_first_waiters_of_the_forking_thread_recheck_in_the_child() {
    let mutex = Mutex::new(());
    let _guard = mutex.lock();
    let first = Task::queued(mutex.lock_async());
    let mut event = Some(Event::new());
    in_a_child(|| {
        let event = event.take().unwrap();
        let _waits = Task::queued(event.wait_async());
        until(|| first.is_woken());
    });
    assert!(!first.is_woken());
}

mod each {
    macro_rules! alone {
        ($($scenario:ident),*) => { $(
            #[test]
            fn $scenario() {
                crate::alone::passes_alone(concat!("each::", stringify!($scenario)), super::$scenario);
            }
        )* };
    }

    alone!(
        a_child_keeps_deadlines_and_skips_futures_that_nobody_polls,
        threads_of_the_parent_that_wait_leave_nothing_in_the_child,
        futures_of_the_forking_thread_stay_queued_in_their_order,
        waiters_that_a_notify_of_the_parent_has_detached_are_not_linked_to_its_stack,
        a_notify_in_which_a_waker_forks_continues_in_both_processes,
        a_future_that_another_thread_had_queued_can_be_polled_in_the_child,
        a_future_belongs_to_the_thread_that_has_polled_it_last,
        the_timer_of_the_child_starts_anew,
        the_watchdog_of_the_child_passes_over_a_future_that_was_signalled_in_the_parent,
        the_first_waiters_of_the_forking_thread_recheck_in_the_child
    );
}
