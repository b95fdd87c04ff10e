//! A thread that may sleep, as its notifiers see it, and the waker that unparks it.
//!
//! Invariant P1: the data of a waker with our [`VTABLE`] is a share (one reference) of a sleeper, made by `Arc::into_raw`.

use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::spin::{self, SleepCost};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::mutant;
use crate::sync::thread::{self, Thread};

/// A thread, as its notifiers see it.
#[derive(Debug)]
pub(crate) struct Sleeper {
    pub(crate) thread: Thread,
    /// It sleeps, or is about to, or has just woken up.
    is_asleep: AtomicBool,
    /// Of its sleeps, measured by its notifiers.
    pub(crate) cost: SleepCost,
}

impl Sleeper {
    pub(crate) fn current() -> Self {
        Self { thread: thread::current(), is_asleep: AtomicBool::new(false), cost: SleepCost::unknown() }
    }

    /// Parks the calling thread, whose sleeper this is.
    pub(crate) fn while_asleep(&self, park: impl FnOnce()) {
        self.is_asleep.store(true, Ordering::Relaxed);
        park();
        self.is_asleep.store(false, Ordering::Relaxed);
    }

    /// Ends the next park of the calling thread, whose sleeper this is: it runs, so there is nobody to wake.
    pub(crate) fn leave_token(&self) {
        mutant!("leave-token" => return);
        self.thread.unpark();
    }

    /// Wakes it, from another thread. A system call if it sleeps.
    pub(crate) fn unpark(&self) {
        spin::wake(&self.cost, self.is_asleep.load(Ordering::Relaxed), || self.thread.unpark());
    }

    pub(crate) fn into_waker(self: Arc<Self>) -> Waker {
        // SAFETY: the functions of the vtable keep the contract of a waker: each handles one share (P1).
        unsafe { Waker::from_raw(raw(self)) }
    }
}

/// Whether `waker` wakes a thread, in its [`Parker`](crate::Parker).
#[inline]
pub(crate) fn is_of_thread(waker: &Waker) -> bool {
    ptr::eq(waker.vtable(), &raw const VTABLE)
}

/// A static: its address tells our wakers from others.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_share);

fn raw(sleeper: Arc<Sleeper>) -> RawWaker {
    RawWaker::new(Arc::into_raw(sleeper).cast(), &VTABLE)
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker's share stays, and another is made (P1).
    raw(unsafe { Arc::clone(&ManuallyDrop::new(Arc::from_raw(data.cast::<Sleeper>()))) })
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the share of a waker that is used up (P1).
    unsafe { Arc::from_raw(data.cast::<Sleeper>()) }.unpark();
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker's share outlives this call (P1).
    unsafe { &*data.cast::<Sleeper>() }.unpark();
}

unsafe fn drop_share(data: *const ()) {
    // SAFETY: the share of a waker that is dropped (P1).
    drop(unsafe { Arc::from_raw(data.cast::<Sleeper>()) });
}

#[cfg(all(test, not(waitword_loom)))]
mod tests {
    use super::*;
    use crate::spin::is_spin_due;

    /// Only a thread that was awake may answer at once.
    #[test]
    fn a_notifier_learns_whether_the_thread_that_it_wakes_was_asleep() {
        for is_asleep in [true, false] {
            let learns = move || {
                let sleeper = Sleeper::current();
                sleeper.is_asleep.store(is_asleep, Ordering::Relaxed);
                sleeper.unpark();
                assert_eq!(is_spin_due(), !is_asleep);
            };
            std::thread::spawn(learns).join().unwrap();
        }
    }
}
