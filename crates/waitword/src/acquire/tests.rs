//! The acquisition loop, with another thread's step between two of its own.

use std::cell::Cell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use waitword_core::time::{Duration, Instant};

use waitword_core::observe::{Caller, WaitsFor};
use waitword_core::{spin_in_poll, wait_async};

use super::acquisition::Acquisition;
use super::future::AcquireAsync;
use super::{Acquire, Attempt, Left, TakenOrMarked};
use crate::STALL_TIMEOUT;
use crate::drive::{Step, Steps};
use crate::error::LockError;
use crate::handle::Waited;
use crate::holders::{Hold, HoldId};
use crate::raw_mutex::RawMutex;
use crate::raw_rwlock::{Mode, RawRwLock};
use crate::raw_semaphore::RawSemaphore;
use crate::spins::Pauses;

/// A lock that, armed with a number, runs a function right after the attempt of that number; right before it, if it is that of a task that
/// has enqueued.
struct AfterAttempt<R> {
    raw: R,
    other_thread: fn(&R),
    armed: AtomicU32,
    /// The same for the checks of a task that spins.
    armed_in_poll: AtomicU32,
}

impl<R> AfterAttempt<R> {
    const fn new(raw: R, other_thread: fn(&R)) -> Self {
        Self { raw, other_thread, armed: AtomicU32::new(0), armed_in_poll: AtomicU32::new(0) }
    }

    fn after<T>(&self, attempt: T) -> T {
        self.count(&self.armed);
        attempt
    }

    fn count(&self, armed: &AtomicU32) {
        let left = armed.load(Ordering::SeqCst);
        armed.store(left.saturating_sub(1), Ordering::SeqCst);
        if left == 1 {
            (self.other_thread)(&self.raw);
        }
    }
}

impl<R: Acquire> Waited for AfterAttempt<R> {
    type At = R::At;
    type Ask = R::Ask;

    fn at(&self, ask: R::Ask) -> &R::At {
        self.raw.at(ask)
    }
}

macro_rules! does_the_same {
    ($(fn $name:ident($($arg:ident: $Arg:ty),*) -> $Output:ty;)+) => {$(
        fn $name(&self $(, $arg: $Arg)*) -> $Output {
            self.raw.$name($($arg),*)
        }
    )+};
}

impl<R: Acquire> Acquire for AfterAttempt<R> {
    type Closed = R::Closed;

    fn waits_for(ask: R::Ask) -> WaitsFor {
        R::waits_for(ask)
    }

    fn hold(ask: R::Ask) -> Option<Hold> {
        R::hold(ask)
    }

    fn take_signalled(&self, ask: R::Ask) -> bool {
        self.after(self.raw.take_signalled(ask))
    }

    fn take_or_mark(&self, ask: R::Ask, attempt: Attempt) -> TakenOrMarked<Self> {
        self.after(self.raw.take_or_mark(ask, attempt))
    }

    fn take_after_all(&self, ask: R::Ask) -> bool {
        self.after(());
        self.raw.take_after_all(ask)
    }

    does_the_same! {
        fn held_at() -> usize;
        fn take_once(ask: R::Ask) -> bool;
        fn take_slow(ask: R::Ask) -> bool;
        fn taken_by(is_task: bool) -> ();
        fn spin(ask: R::Ask, attempt: Attempt, pauses: &mut Pauses) -> bool;
        fn is_reserved(ask: R::Ask) -> bool;
        fn left(ask: R::Ask, left: Left) -> ();
        fn give_back(ask: R::Ask) -> ();
        fn reserve_for_signalled(ask: R::Ask) -> ();
    }

    fn take_in_poll(&self, ask: R::Ask) -> Option<bool> {
        let taken = self.raw.take_in_poll(ask);
        self.count(&self.armed_in_poll);
        taken
    }
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
    let mutex = AfterAttempt::new(RawMutex::new(), |raw| raw.release(HoldId::NONE));
    assert!(mutex.take(()));
    let mut late = pin!(Acquisition::from_caller(Caller::here(), &mutex, ()));
    assert!(matches!(late.as_mut().step(Waker::noop(), None), Step::Wait(None)));
    let mut next = pin!(Acquisition::from_caller(Caller::here(), &mutex.raw, ()));
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    assert!(matches!(next.as_mut().step(&waker, None), Step::Wait(None)));

    mutex.armed.store(1, Ordering::SeqCst);
    let too_late = late.as_mut().step(Waker::noop(), Some(Instant::now()));
    assert!(matches!(too_late, Step::Ended(Err(LockError::TimedOut))));
    assert!(woken.0.load(Ordering::SeqCst), "else the signal went to the waiter that left");
    assert!(matches!(next.as_mut().step(&waker, None), Step::Ended(Ok(_))));
}

/// The holder releases while the task enqueues, and so signals it. It barges, and its release signals the waiter behind it.
#[test]
fn a_task_that_barges_forwards_its_signal() {
    static MUTEX: AfterAttempt<RawMutex> = AfterAttempt::new(RawMutex::new(), |_| {
        let mut behind = Box::pin(Acquisition::from_caller(Caller::here(), &MUTEX.raw, ()));
        assert!(matches!(behind.as_mut().step(&Waker::from(woken()), None), Step::Wait(None)));
        BEHIND.set(Some(behind));
        MUTEX.raw.release(HoldId::NONE);
    });
    thread_local! {
        static WOKEN: Arc<Woken> = Arc::default();
        static BEHIND: Cell<Option<Pin<Box<Acquisition<&'static RawMutex>>>>> = const { Cell::new(None) };
    }
    fn woken() -> Arc<Woken> {
        WOKEN.with(Arc::clone)
    }

    assert!(MUTEX.take(()));
    let mut barging = pin!(Acquisition::from_caller(Caller::here(), &MUTEX, ()));
    // The attempt that marks the word, and the one after the enqueue.
    MUTEX.armed.store(2, Ordering::SeqCst);
    let before = Instant::now();
    assert!(matches!(barging.as_mut().step(Waker::noop(), None), Step::Ended(Ok(_))));
    let is_behind_woken = woken().0.load(Ordering::SeqCst);
    // On a slow machine the watchdog may have signalled it, too.
    assert!(!is_behind_woken || before.elapsed() >= STALL_TIMEOUT);
    MUTEX.raw.release(HoldId::NONE);
    assert!(woken().0.load(Ordering::SeqCst), "no release signals the waiter behind");
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
    let mutex = AfterAttempt::new(RawMutex::new(), |raw| raw.release(HoldId::NONE));
    assert!(mutex.take(()));
    let acquiring = pin!(AcquireAsync::new(&mutex, ()));
    // The first check of the spin.
    mutex.armed_in_poll.store(1, Ordering::SeqCst);
    assert!(poll(acquiring).is_ready());
}

/// An acquirer barges past the signalled task, and releases while that spins.
#[test]
fn a_signalled_task_spins() {
    earn_spins();
    let mutex = AfterAttempt::new(RawMutex::new(), |raw| {
        raw.release(HoldId::NONE);
        assert!(!raw.take(()), "it is reserved for the task that runs");
    });
    assert!(mutex.take(()));
    let mut acquiring = pin!(AcquireAsync::new(&mutex, ()));
    assert!(poll(acquiring.as_mut()).is_pending());
    mutex.raw.release(HoldId::NONE);
    assert!(mutex.take(()));
    // The attempt before the spin, and the first check of that.
    mutex.armed.store(2, Ordering::SeqCst);
    assert!(poll(acquiring).is_ready());
}

#[test]
fn a_signalled_task_does_not_spin_with_others_behind_it() {
    earn_spins();
    let mutex = AfterAttempt::new(RawMutex::new(), |_| unreachable!("too many attempts"));
    assert!(mutex.take(()));
    let mut acquiring = pin!(AcquireAsync::new(&mutex, ()));
    assert!(poll(acquiring.as_mut()).is_pending());
    let mut behind = pin!(Acquisition::from_caller(Caller::here(), &mutex.raw, ()));
    assert!(matches!(behind.as_mut().step(Waker::noop(), None), Step::Wait(None)));
    mutex.raw.release(HoldId::NONE);
    assert!(mutex.take(()));
    // The attempt before the signal is acknowledged, and the one after it.
    mutex.armed.store(3, Ordering::SeqCst);
    assert!(poll(acquiring).is_pending());
    assert_eq!(mutex.armed.load(Ordering::SeqCst), 1);
}

#[test]
fn a_task_does_not_spin_behind_others() {
    fn is_none_behind<R: Acquire>(raw: R, ask: R::Ask) {
        assert!(raw.take(ask));
        assert_eq!(raw.take_in_poll(ask), Some(false));
        let mut queued = pin!(Acquisition::from_caller(Caller::here(), &raw, ask));
        assert!(matches!(queued.as_mut().step(Waker::noop(), None), Step::Wait(None)));
        assert_eq!(raw.take_in_poll(ask), None);
        raw.give_back(ask);
        assert_eq!(raw.take_in_poll(ask), None, "the waiter is signalled");
        assert!(matches!(queued.step(Waker::noop(), None), Step::Ended(Ok(_))));
    }
    is_none_behind(RawMutex::new(), ());
    is_none_behind(RawRwLock::new(), Mode::Write);
    is_none_behind(RawSemaphore::new(1), 1);
}

#[test]
fn a_task_spins_when_the_last_waiter_has_its_permit() {
    let semaphore = RawSemaphore::new(0);
    let mut queued = pin!(Acquisition::from_caller(Caller::here(), &semaphore, 1));
    assert!(matches!(queued.as_mut().step(Waker::noop(), None), Step::Wait(None)));
    semaphore.add(1);
    assert!(matches!(queued.step(Waker::noop(), None), Step::Ended(Ok(_))));
    assert_eq!(semaphore.take_in_poll(1), Some(false));
    semaphore.add(1);
    assert_eq!(semaphore.take_in_poll(1), Some(true));
}

/// The second waiter is signalled while the first, which has its permit, leaves the queue.
#[test]
fn a_waiter_that_leaves_the_queue_keeps_no_signal_of_another() {
    fn is_reserved_for_the_second() -> bool {
        let semaphore = AfterAttempt::new(RawSemaphore::new(0), |raw| assert!(raw.add(1)));
        let mut first = pin!(Acquisition::from_caller(Caller::here(), &semaphore, 1));
        assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Wait(None)));
        let mut second = pin!(Acquisition::from_caller(Caller::here(), &semaphore.raw, 1));
        assert!(matches!(second.as_mut().step(Waker::noop(), None), Step::Wait(None)));
        assert!(semaphore.raw.add(1));
        semaphore.armed.store(1, Ordering::SeqCst);
        assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Ended(Ok(_))));

        // Barging acquirers succeed until the barging window closes.
        let start = Instant::now();
        while semaphore.take(1) {
            assert!(semaphore.raw.add(1));
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
    let semaphore = AfterAttempt::new(RawSemaphore::new(0), |raw| {
        assert!(raw.take_or_mark(3, Attempt::Queued).is_err());
        assert!(raw.add(2));
        raw.left(3, Left { holds: false, was_signalled: false });
    });
    let mut first = pin!(Acquisition::from_caller(Caller::here(), &semaphore, 1));
    assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Wait(None)));
    semaphore.armed.store(1, Ordering::SeqCst);
    assert!(semaphore.raw.add(1));
    assert!(matches!(first.as_mut().step(Waker::noop(), None), Step::Ended(Ok(_))));

    assert!(semaphore.take(2), "nobody is queued any more");
}
