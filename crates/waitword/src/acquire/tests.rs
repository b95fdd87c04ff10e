//! The acquisition loop, with another thread's step between two of its own.

mod laws;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use waitword_core::time::{Duration, Instant};

use waitword_core::observe::Caller;
use waitword_core::{spin_in_poll, wait_async};

use super::acquisition::Acquisition;
use super::attempts::{has_waiters, left, take, take_or_mark};
use super::future::AcquireAsync;
use super::{Acquire, Ask, Attempt, Left};
use crate::STALL_TIMEOUT;
use crate::drive::{Step, Steps};
use crate::error::LockError;
use crate::holders::HoldId;
use crate::raw_mutex::RawMutex;
use crate::raw_rwlock::{Mode, RawRwLock};
use crate::raw_semaphore::RawSemaphore;

thread_local! {
    /// A step of another thread, and the step of this thread's loops before which it comes, counted from now on.
    static ARMED: Cell<u32> = const { Cell::new(0) };
    static OTHER_THREAD: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// A step of a loop begins: an attempt, or what follows from one.
pub(super) fn between() {
    let left = ARMED.replace(ARMED.get().saturating_sub(1));
    if left == 1 {
        let other_thread = OTHER_THREAD.take().expect("armed");
        other_thread();
    }
}

fn arm(step: u32, other_thread: impl FnOnce() + 'static) {
    ARMED.set(step);
    OTHER_THREAD.set(Some(Box::new(other_thread)));
}

/// The number of steps that were left before the other thread's, which did not come.
fn disarm() -> u32 {
    OTHER_THREAD.take();
    ARMED.take()
}

fn leak<R>(raw: R) -> &'static R {
    Box::leak(Box::new(raw))
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_release_after_the_last_attempt_signals_the_next_waiter() {
    let mutex = leak(RawMutex::new());
    assert!(take(mutex, ()));
    let mut late = pin!(Acquisition::from_caller(Caller::here(), mutex, ()));
    assert!(matches!(late.as_mut().step(Waker::noop(), None), Step::Wait(None)));
    let mut next = pin!(Acquisition::from_caller(Caller::here(), mutex, ()));
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    assert!(matches!(next.as_mut().step(&waker, None), Step::Wait(None)));

    // The attempt, and what it leaves behind.
    arm(2, || mutex.release(HoldId::NONE));
    let too_late = late.as_mut().step(Waker::noop(), Some(Instant::now()));
    assert!(matches!(too_late, Step::Ended(Err(LockError::TimedOut))));
    assert!(woken.0.load(Ordering::SeqCst), "else the signal went to the waiter that left");
    assert!(matches!(next.as_mut().step(&waker, None), Step::Ended(Ok(_))));
}

/// The holder releases while the task enqueues, and so signals it. It barges, and its release signals the waiter behind it.
#[test]
fn a_task_that_barges_forwards_its_signal() {
    fn forwards<R>(raw: R, ask: Ask<R>)
    where
        R: Acquire<Ask: 'static> + 'static,
    {
        thread_local! {
            static BEHIND: Cell<Option<Pin<Box<dyn Any>>>> = const { Cell::new(None) };
        }
        let (raw, woken) = (leak(raw), Arc::<Woken>::default());
        let waker = Waker::from(Arc::clone(&woken));
        assert!(take(raw, ask));
        let mut barging = pin!(Acquisition::from_caller(Caller::here(), raw, ask));
        // The attempt that marks the word, and the one after the enqueue.
        arm(2, move || {
            let mut behind = Box::pin(Acquisition::from_caller(Caller::here(), raw, ask));
            assert!(matches!(behind.as_mut().step(&waker, None), Step::Wait(None)));
            BEHIND.set(Some(behind));
            raw.give_back(ask);
        });
        let before = Instant::now();
        assert!(matches!(barging.as_mut().step(Waker::noop(), None), Step::Ended(Ok(_))));
        let is_behind_woken = woken.0.load(Ordering::SeqCst);
        // On a slow machine the watchdog may have signalled it, too.
        assert!(!is_behind_woken || before.elapsed() >= STALL_TIMEOUT);
        raw.give_back(ask);
        assert!(woken.0.load(Ordering::SeqCst), "no release signals the waiter behind");
        BEHIND.set(None);
    }
    forwards(RawMutex::new(), ());
    forwards(RawSemaphore::new(1), 1);
    forwards(RawRwLock::new(), Mode::Write);
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Lets the tasks of this thread spin: each that enqueues earns a bit, and a spin that was answered more.
fn earn_spins() {
    let word = AtomicU32::new(0);
    let enqueues = || assert!(poll(pin!(wait_async(&word, 0))).is_pending());
    let is_answered = |_| {
        enqueues();
        spin_in_poll(|| Some(true))
    };
    assert!((0..10_000).any(is_answered));
}

/// The holder releases while the task spins.
#[test]
fn a_task_spins_before_it_enqueues() {
    earn_spins();
    let mutex = leak(RawMutex::new());
    assert!(take(mutex, ()));
    let acquiring = pin!(AcquireAsync::new(mutex, ()));
    // The first attempt, and the first of the spin.
    arm(2, || mutex.release(HoldId::NONE));
    assert!(poll(acquiring).is_ready());
}

/// An acquirer barges past the signalled task, and releases while that spins.
#[test]
fn a_signalled_task_spins() {
    earn_spins();
    let mutex = leak(RawMutex::new());
    assert!(take(mutex, ()));
    let mut acquiring = pin!(AcquireAsync::new(mutex, ()));
    assert!(poll(acquiring.as_mut()).is_pending());
    mutex.release(HoldId::NONE);
    assert!(take(mutex, ()));
    // The attempt before the spin, and the first of that.
    arm(2, || {
        mutex.release(HoldId::NONE);
        assert!(!take(mutex, ()), "it is reserved for the task that runs");
    });
    assert!(poll(acquiring).is_ready());
}

#[test]
fn a_signalled_task_does_not_spin_with_others_behind_it() {
    earn_spins();
    let mutex = RawMutex::new();
    assert!(take(&mutex, ()));
    let mut acquiring = pin!(AcquireAsync::new(&mutex, ()));
    assert!(poll(acquiring.as_mut()).is_pending());
    let mut behind = pin!(Acquisition::from_caller(Caller::here(), &mutex, ()));
    assert!(matches!(behind.as_mut().step(Waker::noop(), None), Step::Wait(None)));
    mutex.release(HoldId::NONE);
    assert!(take(&mutex, ()));
    // The attempt before the signal is acknowledged, and the one after it.
    arm(3, || unreachable!("too many attempts"));
    assert!(poll(acquiring).is_pending());
    assert_eq!(disarm(), 1);
}

#[test]
fn a_task_does_not_spin_behind_others() {
    fn is_none_behind<R: Acquire>(raw: R, ask: Ask<R>) {
        assert!(take(&raw, ask) && !has_waiters(&raw));
        let mut queued = pin!(Acquisition::from_caller(Caller::here(), &raw, ask));
        assert!(matches!(queued.as_mut().step(Waker::noop(), None), Step::Wait(None)));
        assert!(has_waiters(&raw));
        raw.give_back(ask);
        assert!(has_waiters(&raw), "the waiter is signalled");
        assert!(matches!(queued.step(Waker::noop(), None), Step::Ended(Ok(_))));
        assert!(!has_waiters(&raw), "nobody is queued any more");
    }
    is_none_behind(RawMutex::new(), ());
    is_none_behind(RawRwLock::new(), Mode::Write);
    is_none_behind(RawRwLock::new(), Mode::Upgradable);
    is_none_behind(RawSemaphore::new(1), 1);
}

/// The second waiter is signalled while the first, which has its permit, leaves the queue.
#[test]
fn a_waiter_that_leaves_the_queue_keeps_no_signal_of_another() {
    fn is_reserved_for_the_second() -> bool {
        let semaphore = leak(RawSemaphore::new(0));
        let mut first = pin!(Acquisition::from_caller(Caller::here(), semaphore, 1));
        assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Wait(None)));
        let mut second = pin!(Acquisition::from_caller(Caller::here(), semaphore, 1));
        assert!(matches!(second.as_mut().step(Waker::noop(), None), Step::Wait(None)));
        assert!(semaphore.add(1));
        // The attempt that takes it, and what follows from that.
        arm(2, || assert!(semaphore.add(1)));
        assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Ended(Ok(_))));

        // Barging acquirers succeed until the barging window closes.
        let start = Instant::now();
        while take(semaphore, 1) {
            assert!(semaphore.add(1));
            if start.elapsed() > Duration::from_secs(1) {
                return false;
            }
        }
        assert!(matches!(second.as_mut().step(Waker::noop(), None), Step::Ended(Ok(_))));
        true
    }
    // Once more if the watchdog has skipped the waiter, on a slow machine: then nothing is reserved for it.
    let mut times = 0..10;
    assert!(times.any(|_| is_reserved_for_the_second()), "nothing is reserved for the signalled waiter");
}

/// A waiter has its permits and has not left the queue yet. More are reserved for a second waiter, which gives up.
#[test]
fn nothing_is_reserved_for_a_waiter_that_has_its_permits() {
    let semaphore = leak(RawSemaphore::new(0));
    let mut first = pin!(Acquisition::from_caller(Caller::here(), semaphore, 1));
    assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Wait(None)));
    assert!(semaphore.add(1));
    arm(2, || {
        assert!(take_or_mark(semaphore, 3, Attempt::THREAD).is_err());
        assert!(semaphore.add(2));
        left(semaphore, 3, Left { holds: false, was_signalled: false, is_last: false });
    });
    assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Ended(Ok(_))));

    assert!(take(semaphore, 2), "nobody is queued any more");
}
