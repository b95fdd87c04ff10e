//! Waking a waiter: its outcome is stored under the shard's lock, its waker called after it.
//!
//! The shard's lock orders notifies: under it the outcome is stored, and an agent's wait put into its inbox, so that two notifiers cannot
//! complete one agent's waits in the wrong order. A waker or a doorbell is foreign code; it is called with no lock held, in batches.
//!
//! A panic of foreign code is caught where it was called, after the panic hook has reported it: the caller is releasing a lock, perhaps in
//! the drop of a guard, and must not stop halfway. The waiter whose waker panicked counts as woken; if it was not, it is an unresponsive
//! waiter like any other (`watchdog.rs`).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::without_provenance;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::inbox::Inbox;
use crate::park::is_of_thread;
use crate::sync::MODEL;

/// How many waiters are completed in one critical section. Small in a model, so that there are several batches.
pub(crate) const BATCH: usize = if MODEL { 2 } else { 32 };

/// How a waiter is woken.
#[derive(Debug)]
pub(crate) enum Wake {
    /// A task; or a blocked thread, whose waker unparks it.
    Task(Waker),
    /// An agent, through its inbox; or nobody.
    Agent(Option<Inbox>),
}

/// Every node carries one, so "nobody" must not make it larger than a waker is.
const _: () = assert!(size_of::<Wake>() == size_of::<Waker>());

impl Wake {
    pub(crate) const NOBODY: Self = Self::Agent(None);

    #[inline]
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::NOBODY)
    }

    /// Takes the wake of a task or thread, but not that of an agent. [`identity`](Self::identity) still tells whose it was, because
    /// snapshots show signalled waiters, too.
    #[inline(always)]
    pub(crate) fn take_task(&mut self) -> Option<Self> {
        match self {
            Self::Task(waker) => {
                Some(Self::Task(std::mem::replace(waker, taken(waker.data().addr(), &TAKEN))))
            }
            Self::Agent(_) => None,
        }
    }

    /// Takes the wake before an outcome is stored. The identity stays, for traces.
    #[inline]
    pub(crate) fn take_for_outcome(&mut self) -> Self {
        if cfg!(feature = "observe") && self.is_task() {
            std::mem::replace(self, Self::Task(taken(self.identity(), &TAKEN)))
        } else {
            self.take()
        }
    }

    #[inline]
    pub(crate) fn is_nobody(&self) -> bool {
        matches!(self, Self::Agent(None))
    }

    /// Whether it wakes, or woke until it was taken, a task or a thread.
    #[inline]
    pub(crate) fn is_task(&self) -> bool {
        matches!(self, Self::Task(_))
    }

    /// For a snapshot of a signalled waiter: marks the placeholder of its taken waker, and returns whether an earlier snapshot had done so.
    /// The mark is gone when the waiter replaces the placeholder, so a waiter that has run since has none.
    pub(crate) fn mark_taken(&mut self) -> bool {
        let Self::Task(waker) = self else { return false };
        let was_seen = std::ptr::eq(waker.vtable(), &TAKEN_AND_SEEN);
        if std::ptr::eq(waker.vtable(), &TAKEN) {
            *waker = taken(waker.data().addr(), &TAKEN_AND_SEEN);
        }
        was_seen
    }

    /// Whether it wakes a thread that blocks in this crate.
    #[inline(always)]
    pub(crate) fn is_of_thread(&self) -> bool {
        matches!(self, Self::Task(waker) if is_of_thread(waker))
    }

    /// Which thread, task or agent this wakes, or woke until it was taken. Runs no foreign code.
    #[inline(always)]
    pub(crate) fn identity(&self) -> usize {
        match self {
            Self::Task(waker) => waker.data().addr(),
            Self::Agent(inbox) => inbox.as_ref().map_or(0, Inbox::identity),
        }
    }

    /// Whether this wakes the same task. Runs no foreign code.
    pub(crate) fn will_wake(&self, waker: &Waker) -> bool {
        matches!(self, Self::Task(ours) if ours.will_wake(waker))
    }

    /// Runs foreign code: no lock may be held. Does not unwind.
    #[inline]
    pub(crate) fn wake(self) {
        match self {
            Self::Task(waker) if is_of_thread(&waker) => waker.wake(),
            foreign => discard_panic_of(|| foreign.call()),
        }
    }

    /// Runs foreign code, which may unwind.
    #[inline]
    fn call(self) {
        match self {
            Self::Task(waker) => waker.wake(),
            Self::Agent(inbox) => inbox.iter().for_each(Inbox::ring_if_due),
        }
    }
}

/// The placeholder of a waker that a signal has taken: it has the same identity, and wakes nobody.
#[inline]
fn taken(identity: usize, vtable: &'static RawWakerVTable) -> Waker {
    // SAFETY: the functions of both vtables access nothing, so any data will do. They keep the contract of a waker that wakes nobody.
    unsafe { Waker::new(without_provenance(identity), vtable) }
}

/// A static: its address tells taken wakers from others.
static TAKEN: RawWakerVTable =
    RawWakerVTable::new(|identity| RawWaker::new(identity, &TAKEN), |_| (), |_| (), |_| ());

/// The same, once a snapshot has seen that it is taken.
static TAKEN_AND_SEEN: RawWakerVTable =
    RawWakerVTable::new(|identity| RawWaker::new(identity, &TAKEN_AND_SEEN), |_| (), |_| (), |_| ());

/// Wakes collected under a lock, to be run after it.
#[derive(Debug)]
pub(crate) struct WakeBatch {
    wakes: [Wake; BATCH],
    len: usize,
}

impl WakeBatch {
    pub(crate) fn new() -> Self {
        Self { wakes: [const { Wake::NOBODY }; BATCH], len: 0 }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len == BATCH
    }

    #[cfg(not(waitword_loom))]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a wake. The batch must not be full.
    #[inline]
    pub(crate) fn push(&mut self, wake: Wake) {
        self.wakes[self.len] = wake;
        self.len += 1;
    }

    /// Which threads, tasks and agents they wake.
    pub(crate) fn identities(&self) -> impl Iterator<Item = usize> {
        self.wakes[..self.len].iter().map(Wake::identity)
    }

    /// Runs all of them. No lock may be held. Does not unwind.
    pub(crate) fn wake_all(&mut self) {
        let mut wakes = self.wakes[..self.len].iter_mut();
        // One `catch_unwind` for all, and one more for each waker that panics.
        while wakes.len() > 0 {
            discard_panic_of(|| wakes.by_ref().for_each(|wake| wake.take().call()));
        }
        self.len = 0;
    }

    /// Takes the wakes out, for another thread to run.
    #[cfg(not(waitword_loom))]
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Wake> {
        let len = std::mem::take(&mut self.len);
        self.wakes[..len].iter_mut().map(Wake::take)
    }
}

/// Runs foreign code, and catches its panic. In a model a panic is a failed check, and is not caught.
#[inline]
pub(crate) fn discard_panic_of(foreign: impl FnOnce()) {
    if MODEL {
        foreign();
    } else if let Err(payload) = catch_unwind(AssertUnwindSafe(foreign)) {
        discard(payload);
    }
}

/// Drops the payload of a panic. Its destructor is foreign code, too, and may panic itself, usually with a string. If dropping the payload
/// of that panic panics as well, the third payload is leaked.
#[cold]
fn discard(payload: Box<dyn Any + Send>) {
    let panic_of_drop =
        |payload| catch_unwind(AssertUnwindSafe(|| drop::<Box<dyn Any + Send>>(payload))).err();
    if let Some(again) = panic_of_drop(payload).and_then(panic_of_drop) {
        std::mem::forget(again);
    }
}
